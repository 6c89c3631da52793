/** Pages that show the same fact show the same number, also when a storm has more alerts than fit on a page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

type World = ReturnType<typeof makeWorld>

/** Sends `of` alerts of each name to one service. They start from `ago` until now. */
async function storm({ request, acme }: World, of: Readonly<Record<string, number>>, ago: number): Promise<void> {
  for (const [name, count] of Object.entries(of)) {
    const alerts = Array.from({ length: count }, (_, n) =>
      alert(name, { service: 'cart', route: `/r${n}` }, { startsAt: NOON - ago + n }),
    )
    for (let from = 0; from < count; from += 200) {
      const body = alertmanager(alerts.slice(from, from + 200))
      await request('POST', '/api/webhooks/metrics', { token: acme.token, body })
    }
  }
}

async function pagesOf(world: World) {
  const { token } = world.acme
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const [service] = (await world.request('GET', '/api/services', { token })).body
  const html = async (path: string) => (await browser.get(path)).html.replace(/<[^>]*>|\s+/g, ' ')
  return { incident: await html('/incidents/1'), service: await html(`/services/${service.id}`), html, id: service.id }
}

/** Returns the counts after a name, such as ×1,200. */
function countsOf(text: string, name: string): string[] {
  return [
    ...new Set([...text.matchAll(new RegExp(`${name} *(×\\d[\\d,]*\\d|×\\d)`, 'g'))].map(([, count = '']) => count)),
  ]
}

for (const [storms, ago] of [
  [{ Down: 3, Slow: 40 }, 5 * MINUTE],
  [{ Down: 700, Slow: 600, Full: 2 }, 20 * MINUTE],
  [{ Down: 501 }, 1800 * MINUTE],
] as const) {
  test(`the service, its incident and the alerts count the same for ${JSON.stringify(storms)}`, async (t) => {
    const world = makeWorld(t)
    await storm(world, storms, ago)
    const { incident, service, html, id } = await pagesOf(world)
    const alerts = await html(`/alerts?service=${id}`)
    for (const [name, count] of Object.entries(storms)) {
      for (const page of [incident, service, alerts]) {
        assert.deepEqual(countsOf(page, name), [`×${count.toLocaleString('en-US')}`], name)
      }
    }
    const total = Object.values(storms).reduce((sum, count) => sum + count, 0)
    assert.match(alerts, new RegExp(`${total.toLocaleString('en-US')} alerts are still firing`))
  })
}

test('the incident and the service agree how long a group has been firing', async (t) => {
  const world = makeWorld(t)
  await storm(world, { Down: 700 }, 20 * MINUTE)
  const { incident, service } = await pagesOf(world)
  for (const page of [incident, service]) {
    assert.ok(page.includes('×700'))
    assert.match(page, /firing for 20 min/)
  }
})

test('the screen and the service count the same alerts after a deploy, until somebody rejects it as their cause', async (t) => {
  const world = makeWorld(t)
  const { request, acme, clock } = world
  const jobs = [build('deploy', 'success', { environment: { name: 'production' } })]
  clock.now = NOON - 20 * MINUTE
  await request('POST', '/api/webhooks/ci', {
    token: acme.token,
    body: pipeline('success', 'shop/cart', { at: clock.now, jobs }),
  })
  clock.now = NOON
  await storm(world, { Down: 250, Slow: 3 }, 10 * MINUTE)
  const { service, html } = await pagesOf(world)
  assert.match(service, /cause of 253 alerts/)
  assert.match(await html('/?view=wall&tv=1'), /linked to 253 alerts/)
  const { body } = await request('GET', '/api/correlations?limit=1', { token: acme.token })
  await request('PATCH', `/api/correlations/${body.data[0].id}`, { token: acme.token, body: { verdict: 'rejected' } })
  assert.match(await html('/?view=wall&tv=1'), /linked to no alert/)
})

test("a stranger's service has no groups", async (t) => {
  const world = makeWorld(t)
  await storm(world, { Down: 3 }, MINUTE)
  const { id } = await pagesOf(world)
  const browser = makeBrowser(world.app)
  await browser.signIn(world.charlie.token)
  assert.equal((await browser.get(`/services/${id}`)).status, 404)
  assert.doesNotMatch((await browser.get(`/alerts?service=${id}`)).html, /Down/)
})

/** Returns numbers that look random, the same for the same seed. */
function numbersOf(seed: number) {
  let state = seed
  return (limit: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * limit)
  }
}

/** Sends alerts of random names and severities for random services; some have ended. */
async function generated(world: World, seed: number): Promise<void> {
  const next = numbersOf(seed)
  const alerts = Array.from({ length: 30 + next(60) }, (_, n) => {
    const startsAt = NOON - next(50) * MINUTE - n
    const ended = next(4) === 0 ? { endsAt: startsAt + MINUTE } : {}
    const severity = ['critical', 'critical', 'error', 'warning', 'info'][next(5)] ?? 'info'
    const labels = { service: `s${next(4 + seed * 3)}`, route: `/${n}`, severity }
    return alert(['Down', 'Slow', 'Full'][next(3)] ?? 'Down', labels, { startsAt, ...ended })
  })
  await world.request('POST', '/api/webhooks/metrics', { token: world.acme.token, body: alertmanager(alerts) })
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
  test(`pages count the same services, incidents and alerts in the generated database ${seed}`, async (t) => {
    const world = makeWorld(t)
    await generated(world, seed)
    const { html } = await pagesOf(world)
    const [list, wall, incidents, alerts] = [
      await html('/?view=list'),
      await html('/?view=wall'),
      await html('/incidents'),
      await html('/alerts'),
    ]
    const ask = async (path: string) => (await world.request('GET', path, { token: world.acme.token })).body
    const services: { status: string }[] = await ask('/api/services')
    const critical = services.filter(({ status }) => status === 'critical').length
    const unresolved = (await ask('/api/incidents?limit=200')).data.length
    const firing = (await ask('/api/alerts?status=firing&limit=200')).data.length
    for (const page of [list, wall]) {
      assert.deepEqual(numberIn(page, /(\d+) all/), services.length)
      assert.deepEqual(numberIn(page, /(\d+) critical/), critical)
      assert.deepEqual(numberIn(page, /Incidents (\d+)/) ?? 0, unresolved)
    }
    assert.deepEqual(numberIn(incidents, /(\d+) unresolved incident/) ?? 0, unresolved)
    assert.deepEqual(numberIn(incidents, /All (\d+)/), unresolved)
    assert.deepEqual(numberIn(alerts, /(\d+) alerts? (?:is|are) still firing/) ?? 0, firing)
  })
}

for (const seed of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) {
  test(`every incident and every service has the same numbers on all pages of the generated database ${seed}`, async (t) => {
    const world = makeWorld(t)
    await generated(world, seed)
    const { html } = await pagesOf(world)
    const ask = async (path: string) => (await world.request('GET', path, { token: world.acme.token })).body
    for (const { number, alertCount, serviceId } of (await ask('/api/incidents?limit=200')).data) {
      const [page, alerts, service] = [
        await html(`/incidents/${number}`),
        await html(`/alerts?incident=${number}`),
        await html(`/services/${serviceId}`),
      ]
      assert.equal(numberIn(page, /Alerts (\d+) alerts?/), alertCount)
      assert.equal(numberIn(alerts, /(\d+) alerts?/), alertCount)
      const { score } = await ask(`/api/services/${serviceId}`)
      assert.equal(numberIn(service, /Why the score is (\d+)/), score)
      const firing = (await ask(`/api/alerts?status=firing&serviceId=${serviceId}&limit=200`)).data
      assert.equal(numberIn(service, /Firing now (\d+) alerts?/), firing.length)
    }
  })
}

function numberIn(text: string, pattern: RegExp): number | undefined {
  const found = pattern.exec(text.replace(/ +/g, ' '))?.[1]
  return found === undefined ? undefined : Number(found)
}
