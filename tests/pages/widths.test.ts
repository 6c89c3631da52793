/**
 * All pages of a storm and of a calm day in a real browser, at each width and in both themes. In CI, their screenshots
 * are written to `dist/screenshots`. Elsewhere, set INCMON_SCREENSHOTS to a directory.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Page } from 'playwright-core'
import { createChannel } from '../../src/actions/channels.ts'
import { createOrganization } from '../../src/actions/organizations.ts'
import { createToken } from '../../src/actions/tokens.ts'
import { askAxe } from '../helpers/axe.ts'
import { startBrowser } from '../helpers/browser.ts'
import { NOON } from '../helpers/factory.ts'
import { inCi } from '../helpers/in-ci.ts'
import { layoutFaults } from '../helpers/layout.ts'
import { startServer } from '../helpers/server.ts'
import { sendCalm, sendStorm } from '../helpers/weather.ts'

const WIDTHS = [360, 414, 768, 820, 1024, 1280, 1920, 3840]
/** A phone, a laptop and a TV. */
const PICTURED = [360, 1280, 3840]
const FOLDED = [360, 1024]
const HEIGHT = 900
const DARK_WIDTH = 414
const COMMON = ['/', '/incidents', '/incidents/1', '/alerts', '/sources', '/reports', '/settings/notifications']
const SCREENSHOTS = process.env.INCMON_SCREENSHOTS ?? inCi('dist/screenshots', '')
const RESOLVED = JSON.stringify({ status: 'resolved' })
const JSON_TYPE = { 'content-type': 'application/json' }
const SCOPES = ['ingest', 'read', 'write', 'admin'] as const

describe('At every width and in both themes', () => {
  const cleanings: (() => void | Promise<void>)[] = []
  let server: Awaited<ReturnType<typeof startServer>>
  let visit: Awaited<ReturnType<typeof startBrowser>>['visit']
  let calm = ''
  before(async () => {
    const cleaner = { after: (work: () => void | Promise<void>) => void cleanings.unshift(work) }
    server = await startServer(cleaner)
    visit = (await startBrowser(cleaner)).visit
    const { rowId: organizationId } = createOrganization(server.deps, { name: 'Calm', plan: 'Team' })
    calm = createToken(server.deps, { organizationId, name: 'calm', scopes: SCOPES }).token
    await sendStorm(server.url, server.token)
    await sendCalm(server.url, calm)
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })

  const enter = async (token: string): Promise<Page> => {
    const { page } = await visit(`${server.url}/sign-in`, { width: 1280, height: HEIGHT, scheme: 'light' })
    await page.fill('#token', token)
    await page.click('button[type=submit].primary')
    await page.waitForSelector('header.bar')
    return page
  }
  const firstId = async (token: string, path: string) => {
    const answer = await fetch(server.url + path, { headers: { authorization: `Bearer ${token}` } })
    const body = (await answer.json()) as { id: string }[] | { data: { id: string }[] }
    return (Array.isArray(body) ? body : body.data)[0]?.id
  }
  const paths = async (token: string) => {
    const [service, alert] = [await firstId(token, '/api/services'), await firstId(token, '/api/alerts')]
    return [...COMMON, `/services/${service}`, `/services/${service}?range=7d`, `/alerts/${alert}`]
  }

  for (const [weather, token, more] of [
    ['a storm', () => server.token, ['/?view=list', '/?view=wall&tv=1', '/incidents/2', '/incidents/5']],
    ['a calm day', () => calm, ['/incidents/1/postmortem', '/settings', '/settings/silences', '/search?q=cart']],
  ] as const) {
    test(`the pages of ${weather} fit, and no text covers another`, async () => {
      const page = await enter(token())
      const wrong: Record<string, string[]> = {}
      for (const path of [...(await paths(token())), ...more]) {
        await page.goto(server.url + path)
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT })
          const faults = await layoutFaults(page)
          if (faults.length > 0) wrong[`${path} at ${width}`] = faults
          if (PICTURED.includes(width)) await shoot(page, weather, `${path}-${width}`)
        }
        // What is folded must fit too.
        await page.evaluate("for (const one of document.querySelectorAll('main details')) one.open = true")
        for (const width of FOLDED) {
          await page.setViewportSize({ width, height: HEIGHT })
          const faults = await layoutFaults(page)
          if (faults.length > 0) wrong[`${path} at ${width}, unfolded`] = faults
        }
        await page.goto(server.url + path)
        // The themes differ only in colors; see style.test.ts. One width in the dark is enough to notice a mistake.
        await page.emulateMedia({ colorScheme: 'dark' })
        await page.setViewportSize({ width: DARK_WIDTH, height: HEIGHT })
        const faults = await layoutFaults(page)
        if (faults.length > 0) wrong[`${path} at ${DARK_WIDTH}, dark`] = faults
        await shoot(page, weather, `${path}-${DARK_WIDTH}-dark`)
        await page.emulateMedia({ colorScheme: 'light' })
      }
      assert.deepEqual(wrong, {})
    })
  }

  // Messages of channels, and what users do, add up to 5 kB to the list and to an incident, which may have 60 kB.
  for (const [path, kB, compressedKB] of [
    ['/?view=wall', 110, 12],
    ['/?view=list', 55, 12],
    ['/?view=wall&tv=1', 110, 12],
    ['/incidents', 55, 12],
    ['/incidents/1', 55, 12],
    ['/alerts', 60, 12],
  ] as const) {
    test(`in a storm, ${path} has at most ${kB} kB, and ${compressedKB} kB compressed`, async () => {
      const page = await enter(server.token)
      const answer = await page.request.get(server.url + path)
      const body = await answer.body()
      assert.ok(body.length <= kB * 1000, `${body.length}`)
      assert.equal(answer.headers()['content-encoding'], 'gzip')
      const compressed = gzipSync(body, { level: 4 }).length
      assert.ok(compressed <= compressedKB * 1000, `${compressed}`)
    })
  }

  test('in a storm, the wall for a screen is no higher than the screen, and its last line is one line', async () => {
    const page = await enter(server.token)
    await page.setViewportSize({ width: 1920, height: 1080 })
    await page.goto(`${server.url}/?view=wall&tv=1`)
    assert.equal(await page.evaluate('document.documentElement.scrollHeight'), 1080)
    const line = await page.locator('.tv-change').boundingBox()
    assert.ok(line && line.height < 64, `${line?.height}`)
    const [tile] = await page.locator('.tv-tile').allTextContents()
    assert.match(tile ?? '', /^invoicebilling, score \d+, reported \d/)
    assert.match((await page.textContent('.tv')) ?? '', /… and 38\d more healthy/)
  })

  test('beside a channel that fails and an incident that was resolved too early, the wall is no higher than the screen', async () => {
    const { deps, db, organization } = server
    const { data } = await server.get('/api/incidents?limit=100')
    const { id } = data.find(({ title }: { title: string }) => title.startsWith('invoice:'))
    const resolved = await server.request('PATCH', `/api/incidents/${id}`, RESOLVED, JSON_TYPE)
    assert.equal(resolved.status, 200)
    const target = { kind: 'webhook', target: 'https://hooks.example/x', name: 'pager' } as const
    createChannel(deps, organization.rowId, { ...target, rules: [], remindAfter: 0 })
    db.run(db.sql.updateTable('channels').set({ failing: 'the receiver responded with 503', failing_since: NOON }))
    const page = await enter(server.token)
    await page.setViewportSize({ width: 1920, height: 1080 })
    await page.goto(`${server.url}/?view=wall&tv=1`)
    assert.match((await page.textContent('.tv')) ?? '', /pager.*was resolved by/s)
    const titles = await page.evaluate(
      "[...document.querySelectorAll('.tv-incident .line-text')].map((one) => one.offsetLeft)",
    )
    assert.deepEqual([new Set(titles as number[]).size, (titles as number[]).length], [1, 3])
    assert.equal(await page.evaluate('document.documentElement.scrollHeight'), 1080)
    db.run(db.sql.deleteFrom('channels'))
  })

  test('on a phone, the first screen of a storm says who is on it and who was told, and has the button', async () => {
    const page = await enter(server.token)
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto(`${server.url}/`)
    const menu = await page.locator('#menu').boundingBox()
    for (const part of ['.first-actions > .quiet', '.first-actions button']) {
      const box = await page.locator(part).first().boundingBox()
      assert.ok(box && menu && box.y + box.height <= menu.y, `${part} ${box?.y} ${box?.height} ${menu?.y}`)
    }
  })

  test('in the list of incidents, the status stands on one line with the number of alerts', async () => {
    const page = await enter(server.token)
    await page.goto(`${server.url}/incidents`)
    const apart = await page.evaluate(`{
      const top = (node) => {
        const range = document.createRange()
        range.selectNodeContents(node)
        return Math.round(range.getBoundingClientRect().top)
      }
      [...document.querySelectorAll('td > span > .status-open')]
        .map((one) => [top(one.lastChild), top(one.closest('tr').cells[5])])
        .filter(([status, count]) => Math.abs(status - count) > 1)
    }`)
    assert.deepEqual(apart, [])
  })

  test('the titles of rows begin below each other, whatever the length of their durations', async () => {
    const page = await enter(server.token)
    await page.goto(`${server.url}/`)
    const starts = async () =>
      (await page.evaluate(
        "[...new Set([...document.querySelectorAll('.line-text')].map((one) => one.getBoundingClientRect().left))]",
      )) as number[]
    await page.evaluate(
      "document.querySelectorAll('.line > .badge').forEach((one, n) => one.lastChild.replaceWith(n ? '1 min' : '23 h 59 min'))",
    )
    assert.equal((await starts()).length, 1)
  })

  test('a cell of the wall leads to its service', async () => {
    const page = await enter(server.token)
    const names = async (path: string) => (await page.goto(server.url + path))?.status()
    await page.goto(`${server.url}/?view=wall`)
    await page.click('.wall-cells a[title^="billing/invoice:"]')
    assert.match(page.url(), /\/services\/[0-9a-f-]{36}$/)
    assert.match(await page.locator('h1').innerText(), /invoice/)
    assert.equal(await names('/services?name=web/no-such-service'), 404)
    assert.equal(await names(`/services?name=platform/${encodeURIComponent('zahlungsübersicht-größe')}`), 200)
  })

  for (const [weather, token, path, width, colorScheme] of [
    ['a storm', () => server.token, '/?view=list', 360, 'dark'],
    ['a storm', () => server.token, '/incidents/1', 820, 'light'],
    ['a calm day', () => calm, '/', 414, 'light'],
    ['a calm day', () => calm, '/incidents/1', 1280, 'dark'],
  ] as const) {
    test(`axe finds nothing on ${path} in ${weather}, and every target is large enough`, async () => {
      const page = await enter(token())
      await page.setViewportSize({ width, height: HEIGHT })
      await page.emulateMedia({ colorScheme })
      await page.goto(server.url + path)
      assert.deepEqual((await askAxe(page, { rules: { 'target-size': { enabled: true } } })).found, [])
    })
  }

  test('with forced colors, only the current page, filter and view have an outline', async () => {
    const page = await enter(calm)
    await page.emulateMedia({ forcedColors: 'active' })
    await page.goto(`${server.url}/`)
    const outlined = await page.evaluate(
      "[...document.querySelectorAll('header a, main a')].filter((one) => getComputedStyle(one).outlineStyle === 'solid').map((one) => one.textContent)",
    )
    assert.deepEqual(outlined, ['Services', '4 all', 'List'])
  })

  test('a broken page is found', async () => {
    const page = await enter(calm)
    await page.goto(`${server.url}/incidents/1`)
    assert.deepEqual(await layoutFaults(page), [])
    for (const [fault, breakPage] of Object.entries(BROKEN)) {
      await page.evaluate(breakPage)
      assert.match((await layoutFaults(page)).join('\n'), new RegExp(fault))
    }
  })
})

async function shoot(page: Page, weather: string, name: string): Promise<void> {
  if (SCREENSHOTS === '') return
  const file = `${weather} ${name}`.replace(/[0-9a-f-]{36}/, 'one').replace(/[^\w=]+/g, '-')
  await page.screenshot({ path: join(SCREENSHOTS, `${file}.png`), fullPage: true })
}

/** Scripts that break a page, by the fault that must be found. */
const BROKEN = {
  'narrow column': `const p = document.createElement('p')
    p.textContent = 'one letter a line'
    p.style.cssText = 'width: 12px; overflow-wrap: anywhere'
    document.querySelector('main').prepend(p)`,
  'broken word: Replicas': `const p = document.createElement('p')
    p.textContent = 'Kube-ReplicasMismatch'
    p.style.cssText = 'width: 80px; overflow-wrap: anywhere'
    document.querySelector('main').prepend(p)`,
  'covered text': `for (const text of document.querySelectorAll('.lanes-tick')) text.setAttribute('x', '50%')`,
  'small target': `document.querySelector('main .button').style.cssText =
    'height: 9px; min-height: 0; padding: 0; display: block; overflow: hidden'`,
  'scrolls sideways': `document.querySelector('main').style.width = '5000px'`,
}
