/** Lists on pages have a limit: the most important rows are shown, the others are counted and linked. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, type Body } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

async function worldWith(t: TestContext, alerts: readonly Body[]) {
  const world = makeWorld(t)
  const { token } = world.acme
  for (let from = 0; from < alerts.length; from += 200) {
    const body = alertmanager(alerts.slice(from, from + 200))
    assert.equal((await world.request('POST', '/api/webhooks/metrics', { token, body })).status, 200)
  }
  const [browser, outsider] = [makeBrowser(world.app), makeBrowser(world.app)]
  await browser.signIn(token)
  await outsider.signIn(world.charlie.token)
  const html = async (path: string) => (await browser.get(path)).html
  const text = async (path: string) => (await html(path)).replace(/<[^>]*>|\s+/g, ' ').replace(/ +/g, ' ')
  const listed = async () => (await world.request('GET', '/api/services', { token })).body
  const statuses = async () => (await listed()).map(({ status }: { status: string }) => status) as string[]
  return { html, text, statuses, outsider, id: String((await listed())[0]?.id) }
}

/** Returns alerts with distinct names of one service. Every hundredth is critical. */
function conditions(count: number): Body[] {
  return Array.from({ length: count }, (_, n) => {
    const labels = { service: 'cart', severity: n % 100 === 7 ? 'critical' : 'warning' }
    return alert(`Alert${n}x`, labels, { startsAt: NOON - 5 * MINUTE + n })
  })
}

function services(count: number, severityOf: (n: number) => string, namespaces = 5): Body[] {
  return Array.from({ length: count }, (_, n) => {
    const labels = { service: `s${n}`, namespace: `n${n % namespaces}`, severity: severityOf(n) }
    return alert('Down', labels, { startsAt: NOON - MINUTE })
  })
}

function countIn(html: string, pattern: RegExp): number {
  return [...html.matchAll(pattern)].length
}

test('a service with 1,000 conditions shows 100 and says 900 more', async (t) => {
  const { html, text, id } = await worldWith(t, conditions(1000))
  const [page, words] = [await html(`/services/${id}`), await text(`/services/${id}`)]
  assert.match(words, /1,000 alerts: 100 groups and 900 more/)
  assert.match(words, /Other alerts ×900/)
  assert.match(words, / 900 more alerts 0 the minimum: the penalties add up to at least 1480/)
  assert.match(page, new RegExp(`href="/alerts\\?service=${id}&amp;severity=warning"`))
  assert.equal(countIn(page, /bill-points/g), 100)
  assert.ok(page.length < 250_000, `${page.length}`)
})

test('a critical condition is shown before 1,000 warnings', async (t) => {
  const { html, id } = await worldWith(t, conditions(1000))
  const rows = (await html(`/services/${id}`)).match(/<li class="item group">.*?<\/li>/gs) ?? []
  const first = rows.slice(0, 10).join('')
  for (let n = 7; n < 1000; n += 100) assert.match(first, new RegExp(`Alert${n}x`))
})

test('a service with 100 conditions shows all of them and says nothing of more', async (t) => {
  const { html, text, id } = await worldWith(t, conditions(100))
  const words = await text(`/services/${id}`)
  assert.match(words, /100 alerts in 100 groups/)
  assert.doesNotMatch(words, /Other alerts ×|more alerts|at least/)
  assert.equal(countIn(await html(`/services/${id}`), /bill-points/g), 100)
})

test('the service and its incident list the same groups, and the alerts count all of them', async (t) => {
  const { text, id } = await worldWith(t, conditions(1000))
  const groups = /1,000 alerts: 100 groups and 900 more/
  assert.match(await text(`/services/${id}`), groups)
  assert.match(await text('/alerts'), /1,000 groups from 1,000 alerts\. 1,000 alerts are still firing/)
  assert.match(await text(`/alerts?service=${id}&page=25`), /Alert0x/)
})

test('services that have an alert alike share a row, which leads to a row for each of them', async (t) => {
  const alike = services(60, () => 'warning')
  const { html, text } = await worldWith(t, alike)
  const page = await html('/alerts')
  assert.equal(countIn(page, /<td class="alert-name"/g), 1)
  assert.match(await text('/alerts'), /1 group from 60 alerts/)
  const href = /<a href="([^"]*)">60 services<\/a>/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? ''
  assert.match(href, /name=Down/)
  const [first, second] = [await html(href), await html(`${href}&page=2`)]
  assert.deepEqual(
    [first, second].map((one) => countIn(one, /<td class="alert-name"/g)),
    [40, 20],
  )
  assert.match(first, /alert Down/)
})

test('the worst group is on the first page of the alerts, however long ago it began', async (t) => {
  const old = Array.from({ length: 300 }, (_, n) =>
    alert('Errors', { service: 'cart', severity: 'critical', route: `/${n}` }, { startsAt: NOON - 50 * MINUTE }),
  )
  const { html } = await worldWith(t, [...old, ...conditions(120)])
  const names = [...(await html('/alerts')).matchAll(/<td class="alert-name">.*?<b[^>]*>(\w+)/gs)].map(
    ([, name]) => name,
  )
  assert.equal(names[0], 'Errors')
  assert.equal(names.length, 40)
})

test('a large group counts all of its alerts, and compares the labels of all of them or of none', async (t) => {
  for (const [count, summary] of [
    [300, 'Errors fires: 300 routes'],
    [600, 'Errors fires'],
  ] as const) {
    const alike = Array.from({ length: count }, (_, n) => {
      const times = { startsAt: NOON - 50 * MINUTE + n, ...(n < 60 ? { endsAt: NOON - MINUTE - n } : {}) }
      return alert('Errors', { service: 'cart', route: `/${n}` }, times)
    })
    const { text } = await worldWith(t, alike)
    const page = await text('/alerts')
    assert.match(page, new RegExp(`1 group from ${count} alerts\\. ${count - 60} alerts are still firing`))
    assert.match(page, new RegExp(`Errors ×${count} ${summary} shop/ cart .* 11:10 firing 50 min`))
  }
})

test('an ended alert comes after every firing one, even if it was worse', async (t) => {
  const times = { startsAt: NOON - 5 * MINUTE, endsAt: NOON - MINUTE }
  const ended = alert('Down', { service: 'cart', severity: 'critical' }, times)
  const fires = alert('Slow', { service: 'cart', severity: 'warning' }, { startsAt: NOON - 50 * MINUTE })
  const { text } = await worldWith(t, [ended, fires])
  assert.match(await text('/alerts'), /Slow fires.*Down fires/)
})

test('the alerts with a name do not include those with a longer name', async (t) => {
  const times = { startsAt: NOON - MINUTE }
  const named = ['Slow', 'SlowDisk'].map((name) => alert(name, { service: 'cart' }, times))
  const { text } = await worldWith(t, named)
  for (const path of ['/alerts?name=Slow', '/alerts?name=Slow&group=0', '/alerts?name=Slow&group=0&status=firing']) {
    assert.match(await text(path), /1 alert is still firing/)
    assert.doesNotMatch(await text(path), /SlowDisk/)
  }
  assert.match(await text('/alerts?name=Slo'), /No alerts match/)
})

test('the wall shows every one of 500 services', async (t) => {
  const { html } = await worldWith(
    t,
    services(500, () => 'warning'),
  )
  const page = await html('/')
  assert.equal(countIn(page, /class="cell-degraded"/g) + countIn(page, /class="cell-healthy"/g), 500)
  assert.doesNotMatch(page, /cell-more/)
})

test('the wall shows every service with a problem of 1,200, and counts the others', async (t) => {
  const severityOf = (n: number) => (n < 300 ? 'warning' : 'critical')
  const { html, text, statuses } = await worldWith(t, services(1200, severityOf))
  const page = await html('/?view=wall')
  for (const status of ['critical', 'degraded']) {
    const count = (await statuses()).filter((one) => one === status).length
    assert.equal(countIn(page, new RegExp(`class="cell-${status}"`, 'g')), count)
  }
  const more = [...page.matchAll(/cell-more second" href="[^"]*view=list[^"]*">\s*(\d+) more/g)]
  const cells = countIn(page, /class="cell-(?!more)/g)
  assert.equal(cells + more.reduce((sum, [, count]) => sum + Number(count), 0), 1200)
  assert.ok(cells <= 1000, `${cells}`)
  assert.match(await text('/'), /1,200 all/)
})

test('1,200 namespaces with one service each are at most 1,000 sections', async (t) => {
  const { html, text } = await worldWith(
    t,
    services(1200, () => 'critical', 1200),
  )
  assert.equal(countIn(await html('/'), /<section class="wall-group"/g), 1000)
  assert.match(await text('/'), /200 more services in 200 more namespaces/)
})

test('a rejected item is shown with its first 4,000 characters', async (t) => {
  const world = makeWorld(t)
  const { token } = world.acme
  const bad = { labels: 'y'.repeat(50_000), startsAt: 'never' }
  await world.request('POST', '/api/webhooks/metrics', { token, body: alertmanager([bad, bad]) })
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const { html } = await browser.get('/sources')
  assert.match(html, /\d+,\d+ more characters in GET \/api\/rejections/)
  assert.ok(html.length < 60_000, `${html.length}`)
})

test('an outsider sees none of the rows', async (t) => {
  const { outsider, id } = await worldWith(t, conditions(150))
  assert.equal((await outsider.get(`/services/${id}`)).status, 404)
  assert.doesNotMatch((await outsider.get('/alerts')).html, /Alert\d+x/)
  assert.doesNotMatch((await outsider.get('/')).html, /cart/)
})
