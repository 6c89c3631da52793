/** Complete user journeys in a real browser: with only the keyboard, without JavaScript, and with two users at once. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { startBrowser } from '../helpers/browser.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'

const DESK = { width: 1280, height: 800, scheme: 'light' } as const
/** No page has more focusable elements. */
const MAX_TABS = 120

describe('A user with a browser', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  let browser: Awaited<ReturnType<typeof startBrowser>>
  before(async () => {
    const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
    server = await startServer(cleaner)
    browser = await startBrowser(cleaner)
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })

  /** Opens an incident for a new service, and the sign-in page. */
  const begin = async (service: string, javaScript = true) => {
    const body = JSON.stringify(alertmanager([alert('Down', { service })]))
    await server.request('POST', '/api/webhooks/metrics', body)
    const { page } = await browser.visit(`${server.url}/sign-in`, { ...DESK, javaScript })
    return page
  }
  const incidentOf = async (service: string) => {
    const { data } = await server.get('/api/incidents')
    const { id } = data.find(({ title }: { title: string }) => title.startsWith(`${service}:`))
    return server.get(`/api/incidents/${id}`)
  }
  const signIn = async (page: Page, name: string) => {
    await page.fill('#token', server.token)
    await page.fill('#person', name)
    await page.click('button[type=submit].primary')
    await page.waitForSelector('header.bar')
  }

  test("sets up a channel with quiet hours and a silence, both in the browser's time zone", async () => {
    const page = await begin('quiet')
    await signIn(page, 'Ada')
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Berlin' })
    await page.goto(`${server.url}/settings/notifications/new?kind=slack`)
    await page.click('text=Create channel')
    assert.equal(await page.locator('#name:invalid').count(), 1, 'the browser asks for a name')
    await page.fill('#name', 'on-call')
    await page.fill('#address', 'https://hooks.slack.invalid/services/T/B/x')
    await page.check('text=Quiet hours')
    await page.click('text=Create channel')
    await page.waitForSelector('text=Send a test')
    const { data } = await server.get('/api/channels')
    const quietHours = { from: '22:00', to: '07:00', timeZone: 'Europe/Berlin' }
    assert.deepEqual([data[0].timeZone, data[0].rules], ['Europe/Berlin', [{ quietHours }]])
    await page.goto(`${server.url}/settings/silences/new`)
    assert.equal(await page.inputValue('#zone'), 'Europe/Berlin')
    await page.fill('#name-0', 'service')
    await page.fill('#value-0', 'quiet')
    await page.click('text=Preview')
    await page.waitForSelector('text=Matches 1 alert that is firing now')
    await page.fill('#comment', 'Upgrade')
    await page.click('text=Create silence')
    await page.waitForSelector('text=The silence was created')
    assert.equal((await server.get('/api/alerts?silenced=1')).data.length, 1)
  })

  test('signs in, acknowledges, adds a note, resolves and edits the postmortem with only the keyboard', async () => {
    const page = await begin('keyboard')
    await tabTo(page, 'token')
    await page.keyboard.type(server.token)
    await tabTo(page, 'person')
    await page.keyboard.type('Ada')
    await enter(page)
    await tabTo(page, /^keyboard: Down/)
    await enter(page)
    await tabTo(page, 'acknowledge')
    await enter(page)
    await tabTo(page, 'note')
    await page.keyboard.type('Restarting it.')
    await tabTo(page, 'Add note')
    await enter(page)
    await tabTo(page, 'Resolve…')
    await page.keyboard.press('Enter')
    await tabTo(page, /^Resolve incident/)
    await enter(page)
    await tabTo(page, 'Postmortem')
    await enter(page)
    await tabTo(page, 'Write')
    await enter(page)
    await tabTo(page, 'TEXTAREA')
    await page.keyboard.type('It ran out of memory.')
    await tabTo(page, /^Save/)
    await enter(page)
    const { status, timeline } = await incidentOf('keyboard')
    assert.equal(status, 'resolved')
    assert.ok(timeline.some(({ text }: { text: string }) => text === 'Restarting it.'))
    assert.match(await page.innerText('main'), /It ran out of memory\./)
  })

  test('does the same without JavaScript', async () => {
    const page = await begin('plain', false)
    await signIn(page, 'Grace')
    await page.goto(`${server.url}/incidents`)
    await page.getByRole('link', { name: /^plain: Down/ }).click()
    await page.getByRole('button', { name: 'Acknowledge' }).click()
    await page.fill('#note', 'Looking at it.')
    await page.getByRole('button', { name: 'Add note' }).click()
    await page.getByText('Resolve…').click()
    await page.getByRole('button', { name: /^Resolve incident/ }).click()
    await page.getByRole('link', { name: 'Postmortem' }).first().click()
    await page.getByRole('link', { name: 'Write', exact: true }).first().click()
    await page.locator('textarea').first().fill('A full disk.')
    await page.getByRole('button', { name: /^Save/ }).click()
    assert.equal((await incidentOf('plain')).status, 'resolved')
    assert.match(await page.innerText('main'), /A full disk\./)
  })

  test("sees another user's acknowledgement within a second, without a reload", async () => {
    const [ada, grace] = [await begin('shared'), await begin('shared')]
    for (const [page, name] of [
      [ada, 'Ada'],
      [grace, 'Grace'],
    ] as const) {
      await signIn(page, name)
      await page.goto(`${server.url}/incidents`)
      await page.getByRole('link', { name: /^shared: Down/ }).click()
      await page.waitForSelector('#live[data-state=live]')
    }
    await ada.getByRole('button', { name: 'Acknowledge' }).click()
    await grace.waitForSelector('main >> text=/Investigating/')
    await grace.waitForSelector('main >> text=/Ada/')
    assert.equal(await grace.getByRole('button', { name: 'Acknowledge' }).count(), 0)
  })

  test('is asked to sign in again if the cookies are gone, and returns to the page', async () => {
    const page = await begin('returning')
    await signIn(page, 'Ada')
    await page.context().clearCookies()
    await page.goto(`${server.url}/alerts`)
    assert.match(page.url(), /\/sign-in/)
    await signIn(page, 'Ada')
    assert.equal(new URL(page.url()).pathname, '/alerts')
  })

  test('is told that cookies are required if the browser rejects them', async () => {
    const page = await begin('no-cookies', false)
    await page.context().route('**/*', async (route) => {
      const { cookie: _, ...headers } = await route.request().allHeaders()
      await route.continue({ headers })
    })
    await page.fill('#token', server.token)
    await page.click('button[type=submit].primary')
    assert.match(await page.innerText('body'), /cookie/i)
  })
})

/** Presses Tab until an element with this id, name, text or tag has the focus. Fails if there is none. */
async function tabTo(page: Page, wanted: string | RegExp): Promise<void> {
  const seen: string[] = []
  for (let tabs = 0; tabs < MAX_TABS; tabs += 1) {
    const names = (await page.evaluate(`(() => {
      const { id, name, innerText, ariaLabel, tagName } = document.activeElement
      return [id, name, innerText, ariaLabel, tagName].map((text) => (text ?? '').trim())
    })()`)) as string[]
    if (names.some((name) => (typeof wanted === 'string' ? name === wanted : wanted.test(name)))) return
    seen.push(names.find((name) => name !== '')?.slice(0, 30) ?? '')
    await page.keyboard.press('Tab')
  }
  assert.fail(`Tab never reached ${wanted} on ${page.url()}: ${seen.join(' | ')}`)
}

/** Presses Enter and waits for the next page. */
async function enter(page: Page): Promise<void> {
  await Promise.all([page.waitForEvent('load'), page.keyboard.press('Enter')])
}
