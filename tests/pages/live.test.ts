/** Pages in a real browser: current within a moment, nothing typed is lost, and nothing that axe objects to. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import type { AxeResults } from 'axe-core'
import type { Page } from 'playwright-core'
import { type Screen, startBrowser } from '../helpers/browser.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SCREENS: readonly Screen[] = [
  { width: 1280, height: 800, scheme: 'light' },
  { width: 360, height: 740, scheme: 'dark' },
]
const [DESK = { width: 1280, height: 800, scheme: 'light' }] = SCREENS
/** Pages of this server that anybody who may administer it can open. */
const PATHS = [
  ...['/', '/sources', '/welcome', '/search?q=a', '/keyboard', '/nothing'],
  ...['/settings', '/settings/tokens', '/settings/sessions', '/settings/retention'],
]

describe('The pages', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  let visit: Awaited<ReturnType<typeof startBrowser>>['visit']
  before(async () => {
    const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
    server = await startServer(cleaner)
    visit = (await startBrowser(cleaner)).visit
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })
  const send = (service: string) =>
    server.request('POST', '/api/webhooks/metrics', JSON.stringify(alertmanager([alert('Down', { service })])))
  const enter = async (screen: Screen) => {
    const seen = await visit(`${server.url}/sign-in`, screen)
    await seen.page.fill('#token', server.token)
    await seen.page.fill('#person', 'Ada')
    await seen.page.click('button[type=submit].primary')
    await seen.page.waitForSelector('header.bar')
    return seen
  }

  for (const screen of SCREENS) {
    test(`have nothing that axe objects to at ${screen.width} pixels, ${screen.scheme}, and do not scroll sideways`, async () => {
      const { page, complaints } = await enter(screen)
      for (const path of PATHS) {
        await page.goto(server.url + path)
        assert.deepEqual([path, await objections(page)], [path, []])
        const width = await page.evaluate('document.documentElement.scrollWidth')
        assert.deepEqual([path, width], [path, screen.width])
      }
      assert.deepEqual(
        complaints.filter((line) => !/^\[DOM\]|\/api\/stream$|status of 404/.test(line)),
        [],
      )
    })
  }

  test('show what has changed without a reload, and keep what is being typed', async () => {
    const { page } = await enter(DESK)
    await page.waitForSelector('#live[data-state=live]')
    await page.fill('#search', 'half a wo')
    await send('appears-by-itself')
    await page.waitForSelector('text=appears-by-itself')
    assert.equal(await page.inputValue('#search'), 'half a wo')
    assert.equal(await page.evaluate('document.activeElement.id'), 'search')
  })

  test('ask for at most four files on the first visit, and nothing of anybody else', async () => {
    const { requests } = await visit(`${server.url}/sign-in`, DESK)
    assert.ok(requests.length <= 4, requests.join(' '))
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(server.url)),
      [],
    )
  })

  test('can be reached with keys, which are off in fields', async () => {
    const { page } = await enter(DESK)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('/')
    assert.equal(await page.evaluate('document.activeElement.id'), 'search')
    await page.keyboard.type('g/s')
    assert.equal(await page.inputValue('#search'), 'g/s')
  })

  test('are complete without a script', async () => {
    const { page } = await visit(`${server.url}/sign-in`, DESK)
    const context = await page.context().browser()?.newContext({ javaScriptEnabled: false })
    const plain = await context?.newPage()
    await plain?.goto(`${server.url}/sign-in`)
    await plain?.fill('#token', server.token)
    await plain?.click('button[type=submit].primary')
    assert.match((await plain?.textContent('#message')) ?? '', /You are signed in/)
    assert.equal(await plain?.locator('main h1').count(), 1)
    await context?.close()
  })
})

/** What axe found wrong. */
async function objections(page: Page): Promise<string[]> {
  const { violations } = (await page.evaluate(`${AXE}; axe.run({ resultTypes: ['violations'] })`)) as AxeResults
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(' ')}`)
}
