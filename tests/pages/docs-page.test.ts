/** /docs in a real browser: readable for everyone on any screen, and nothing is loaded from elsewhere. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { askAxe } from '../helpers/axe.ts'
import { type Screen, startBrowser, type Visit } from '../helpers/browser.ts'
import { startServer } from '../helpers/server.ts'

const DESK: Screen = { width: 1280, height: 800, scheme: 'light' }
const PHONE: Screen = { width: 360, height: 740, scheme: 'light' }

describe('The API reference page', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
  let open: (screen: Screen) => Promise<Visit>
  let origin = ''

  before(async () => {
    const { url } = await startServer(cleaner)
    const { visit } = await startBrowser(cleaner)
    origin = url
    open = (screen) => visit(`${url}/docs`, screen)
  })

  after(async () => {
    for (const clean of cleanings) await clean()
  })

  // Each width and each theme once: the theme changes only colors.
  for (const screen of [DESK, { ...PHONE, scheme: 'dark' }] as const) {
    test(`has no axe violations at ${screen.width} pixels, ${screen.scheme}`, async () => {
      const { found, passed } = await askAxe((await open(screen)).page)
      assert.deepEqual(found, [])
      assert.ok(passed > 20)
    })
  }

  test("uses the browser's color scheme", async () => {
    const shades = await Promise.all(
      (['light', 'dark'] as const).map(async (scheme) => {
        const { page } = await open({ ...DESK, scheme })
        return page.evaluate('getComputedStyle(document.body).backgroundColor')
      }),
    )
    assert.deepEqual(shades, ['rgb(255, 255, 255)', 'rgb(20, 23, 27)'])
  })

  for (const screen of [PHONE, DESK]) {
    test(`does not scroll horizontally at ${screen.width} pixels`, async () => {
      const { page } = await open(screen)
      const widths = await page.evaluate('[document.documentElement.scrollWidth, innerWidth]')
      assert.deepEqual(widths, [screen.width, screen.width])
    })
  }

  test('loads no other file, and the console stays empty', async () => {
    const { complaints, requests } = await open(DESK)
    assert.deepEqual([complaints, requests], [[], [`${origin}/docs`]])
  })

  test('has a policy that blocks an injected script, image and style', async () => {
    const { page } = await open(DESK)
    const refused = await page.evaluate(`new Promise((resolve) => {
      const seen = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
        if (seen.push(effectiveDirective) === 3) resolve(seen.sort())
      })
      document.body.insertAdjacentHTML('beforeend', '<img src=/x.png><p style="color:red">')
      document.body.append(Object.assign(document.createElement('script'), { text: 'document.title = "run"' }))
    })`)
    assert.deepEqual(refused, ['img-src', 'script-src-elem', 'style-src-attr'])
    assert.equal(await page.title(), 'incmon API')
  })

  test('can be used with the keyboard: first the link that skips the table of contents, then the contents', async () => {
    const { page } = await open(DESK)
    const focused = async () => {
      await page.keyboard.press('Tab')
      return page.evaluate('document.activeElement.textContent.trim()')
    }
    assert.deepEqual(
      [await focused(), await focused(), await focused()],
      ['Skip to the content', 'incmon', 'Authentication'],
    )
  })

  test('has a unique element for every link within the page', async () => {
    const { page } = await open(DESK)
    const { hrefs, ids } = (await page.evaluate(`({
      hrefs: [...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute('href').slice(1)),
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id) })`)) as { hrefs: string[]; ids: string[] }
    assert.ok(hrefs.length > 60)
    assert.deepEqual(
      hrefs.filter((href) => !ids.includes(href)),
      [],
    )
    assert.equal(new Set(ids).size, ids.length)
  })

  test('prints completely, with whole examples and without the table of contents', async () => {
    const { page } = await open(DESK)
    await page.emulateMedia({ media: 'print' })
    const cut = await page.evaluate(
      `[...document.querySelectorAll('pre')].filter((pre) => pre.scrollHeight > pre.clientHeight + 1).length`,
    )
    assert.deepEqual([cut, await page.locator('nav').isVisible()], [0, false])
  })
})
