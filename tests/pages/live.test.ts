/** Pages in a real browser: they update quickly, keep typed text, and pass the axe checks. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { askAxe } from '../helpers/axe.ts'
import { type Screen, startBrowser } from '../helpers/browser.ts'
import { MINUTE } from '../helpers/factory.ts'
import { alert, alertmanager, build, crashLoop, pipeline } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'

const DESK: Screen = { width: 1280, height: 800, scheme: 'light' }
/** Each width and each theme once: the theme changes only colors. */
const SCREENS: readonly Screen[] = [DESK, { width: 360, height: 740, scheme: 'dark' }]
/** Pages whose paths contain no ID. */
const PATHS = [
  ...['/', '/?view=wall', '/incidents', '/alerts', '/sources', '/reports', '/welcome', '/search?q=a', '/keyboard'],
  ...['/settings', '/settings/tokens', '/settings/sessions', '/settings/retention', '/settings/notifications'],
  ...['/settings/notifications/new', '/settings/silences', '/settings/silences/new', '/nothing'],
]

describe('The pages', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  let visit: Awaited<ReturnType<typeof startBrowser>>['visit']
  before(async () => {
    const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
    server = await startServer(cleaner)
    visit = (await startBrowser(cleaner)).visit
    // A storm from the start: its card does not appear, and move the rows, in the middle of a test.
    for (let n = 0; n < 10; n += 1) await send(`storm-${n}`)
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

  let filled: Promise<unknown> | null = null
  /** Sends a failed pipeline, a crash loop and a storm, and resolves one of the incidents. */
  const fillOnce = () => {
    filled ??= (async () => {
      const at = Date.now() - 5 * MINUTE
      const jobs = [build('deploy', 'failed', { environment: { name: 'production' } })]
      await server.request('POST', '/api/webhooks/ci', JSON.stringify(pipeline('failed', 'shop/cart', { at, jobs })), {
        'X-Ci-Token': server.token,
      })
      await server.request(
        'POST',
        '/api/webhooks/cluster',
        JSON.stringify(crashLoop('cart-6f8d7b9c5-x2kqp', { count: 9 })),
      )
      const storm = Array.from({ length: 40 }, (_, n) => alert('HighErrorRate', { service: 'cart', route: `/${n}` }))
      await server.request('POST', '/api/webhooks/metrics', JSON.stringify(alertmanager(storm)))
      await send('search')
      const { data } = await server.get('/api/incidents')
      const status = JSON.stringify({ status: 'resolved' })
      const json = { 'Content-Type': 'application/json' }
      await server.request('PATCH', `/api/incidents/${data[0].id}`, status, json)
      const silence = {
        matchers: [{ name: 'route', op: '=', value: '/1' }],
        endsAt: '2099-01-01T00:00:00Z',
        comment: 'x',
      }
      await server.request('POST', '/api/silences', JSON.stringify(silence), json)
      const channel = { name: 'phone', kind: 'ntfy', url: 'https://ntfy.sh/a-topic' }
      await server.request('POST', '/api/channels', JSON.stringify(channel), json)
    })()
    return filled
  }

  for (const screen of SCREENS) {
    test(`have no axe violations and no horizontal scroll bar at ${screen.width} pixels, ${screen.scheme}`, async () => {
      await fillOnce()
      const wrong: Record<string, unknown> = {}
      const { page, complaints } = await enter(screen)
      for (const path of [...PATHS, ...(await pathsWithIds(server.get))]) {
        await page.goto(server.url + path)
        const { found } = await askAxe(page)
        const width = await page.evaluate('document.documentElement.scrollWidth')
        if (found.length > 0 || width !== screen.width) wrong[path] = [width, ...found]
      }
      assert.deepEqual(wrong, {})
      assert.deepEqual(
        complaints.filter((line) => !/^\[DOM\]|\/api\/stream$|status of 404/.test(line)),
        [],
      )
    })
  }

  test('show changes without a reload, and keep what is being typed', async () => {
    const { page } = await enter(DESK)
    await page.waitForSelector('#live[data-state=live]')
    await page.fill('#search', 'half a wo')
    await send('appears-by-itself')
    await page.waitForSelector('tr[data-name=appears-by-itself]')
    assert.equal(await page.inputValue('#search'), 'half a wo')
    assert.equal(await page.evaluate('document.activeElement.id'), 'search')
  })

  for (const [how, rest] of [
    ['pointer rests in a row', (page: Page) => page.hover('tr[data-name=first-row] a.ink')],
    ['focus is in a row', (page: Page) => page.focus('tr[data-name=first-row] a.ink')],
  ] as const) {
    test(`show a new critical service in the heading while the ${how}, and hold only the rows`, async () => {
      const name = `held-${how.split(' ')[0]}`
      await send('first-row')
      const { page } = await enter(DESK)
      await page.waitForSelector('#live[data-state=live]')
      await rest(page)
      const before = await page.textContent('h1')
      await send(name)
      await page.waitForSelector(`#newer:text("${name} became critical, show")`)
      assert.notEqual(await page.textContent('h1'), before)
      assert.equal(await page.textContent('#live-word'), 'Rows held')
      assert.equal(await page.locator(`tr[data-name=${name}]`).count(), 0)
      const [button, row] = await Promise.all(
        ['#newer', 'tr[data-name=first-row]'].map((one) => page.locator(one).boundingBox()),
      )
      assert.ok(button && row && row.y + row.height <= button.y, 'the button covers the row')
      // The end of the page is not below the button.
      const footer = await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight)
        document.querySelector('footer').getBoundingClientRect().bottom`)
      assert.ok(Number(footer) <= button.y, `${footer}`)
    })
  }

  test('show the new rows as soon as the pointer leaves the list', async () => {
    await send('first-row')
    const { page } = await enter(DESK)
    await page.waitForSelector('#live[data-state=live]')
    await page.hover('tr[data-name=first-row] a.ink')
    await send('shown-on-leave')
    await page.waitForSelector('#newer')
    await page.mouse.move(5, 5)
    await page.waitForSelector('tr[data-name=shown-on-leave]')
    assert.equal(await page.locator('#newer').count(), 0)
    assert.equal(await page.textContent('#live-word'), 'Live')
  })

  test('remove the confirmation of an action after a while', async () => {
    const { page } = await enter(DESK)
    await page.clock.install()
    await page.goto(`${server.url}/?done=example-removed`)
    await page.waitForSelector('#live[data-state=live]')
    assert.equal(await page.locator('#banner .banner').count(), 1)
    await page.clock.fastForward(MINUTE)
    await page.waitForSelector('#banner .banner', { state: 'detached' })
  })

  test('close their stream while the tab is hidden, and catch up when it is visible again', async () => {
    const { page, requests } = await enter(DESK)
    await page.waitForSelector('#live[data-state=live]')
    const show = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'))`)
    await show(true)
    await send('appears-later')
    const streams = () => requests.filter((url) => url.endsWith('/api/stream')).length
    const before = streams()
    await show(false)
    await page.waitForSelector('tr[data-name=appears-later]')
    assert.equal(streams(), before + 1)
  })

  test('request at most four files on the first visit, and none from other sites', async () => {
    const { requests } = await visit(`${server.url}/sign-in`, DESK)
    assert.ok(requests.length <= 4, requests.join(' '))
    assert.deepEqual(
      requests.filter((url) => !url.startsWith(server.url)),
      [],
    )
  })

  test('can be used with the keyboard, whose shortcuts are off in fields', async () => {
    const { page } = await enter(DESK)
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('/')
    assert.equal(await page.evaluate('document.activeElement.id'), 'search')
    await page.keyboard.type('g/s')
    assert.equal(await page.inputValue('#search'), 'g/s')
  })

  test('copy a picture as an image, or download it if the clipboard is closed', async () => {
    await fillOnce()
    const { page, complaints } = await enter(DESK)
    await page.goto(`${server.url}/incidents/1`)
    await page.evaluate(
      'navigator.clipboard.write = async ([item]) => { window.copied = await item.getType("image/png") }',
    )
    await page.click('[data-image]')
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    assert.ok(Number(await page.evaluate('window.copied.size')) > 5_000)
    await page.evaluate('navigator.clipboard.write = () => Promise.reject(new Error("closed"))')
    const [file] = await Promise.all([page.waitForEvent('download'), page.click('[data-image]')])
    const image = readFileSync(await file.path())
    assert.equal(image.subarray(1, 4).toString(), 'PNG')
    assert.deepEqual([image.readUInt32BE(16) > 2_000, image.readUInt32BE(20) > 400], [true, true])
    assert.deepEqual(
      complaints.filter((line) => /security policy/i.test(line)),
      [],
    )
  })

  test('are complete without JavaScript', async () => {
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

/** Returns the paths of both incidents, a postmortem, a service, an alert, a silence and a channel. */
async function pathsWithIds(
  get: (path: string) => Promise<{ data: { id: string; number: number; serviceId: string }[] }>,
) {
  const first = async (path: string) => (await get(path)).data[0]
  const [alertShown, silence, channel] = await Promise.all(['/api/alerts', '/api/silences', '/api/channels'].map(first))
  const incidents = (await get('/api/incidents')).data.map(({ number }) => `/incidents/${number}`)
  return [
    ...[...incidents, `${incidents[0]}/postmortem`, `${incidents[0]}/postmortem?edit=summary`],
    ...[`/services/${alertShown?.serviceId}`, `/alerts/${alertShown?.id}`],
    ...[`/settings/silences/${silence?.id}`, `/settings/notifications/${channel?.id}`],
  ]
}
