/** An incident that a user resolves while its alert fires: every place has one duration, and it never falls. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { alert, alertmanager, crashLoop } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

test('a problem that outlasts its resolution stays on, and a reopening keeps its duration', async (t) => {
  const { acme, clock, deps, request } = makeWorld(t)
  const { token } = acme
  const labels = { alertname: 'Down', service: 'cart', severity: 'critical' }
  const alert = { labels, status: 'firing', startsAt: '2026-03-14T12:00:00Z' }
  await request('POST', '/api/webhooks/metrics', { token, body: { alerts: [alert] } })
  const path = `/api/incidents/${(await request('GET', '/api/incidents', { token })).body.data[0].id}`
  const at = async (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    while (await deps.engine.sweep());
    const { problem, criticalSeconds } = (await request('GET', path, { token })).body
    return [problem, criticalSeconds / 60]
  }
  await at(5)
  await request('PATCH', path, { token, body: { status: 'resolved' } })
  const { text } = await request('GET', `${path}/postmortem`, { token, headers: { Accept: 'text/markdown' } })
  assert.match(text, /\*\*Critical for:\*\* 5 min until it was resolved; it was still critical then/)
  assert.deepEqual(await at(9), ['on', 9])
  await request('PATCH', path, { token, body: { status: 'open' } })
  assert.deepEqual(await at(10), ['on', 10])
  await request('PATCH', path, { token, body: { status: 'resolved' } })
  const end = { ...alert, status: 'resolved', endsAt: '2026-03-14T12:12:00Z' }
  await at(12)
  await request('POST', '/api/webhooks/metrics', { token, body: { alerts: [end] } })
  assert.deepEqual(await at(15), ['off', 12])
})

/** Lets a crash loop begin at noon and end its reports after 4 minutes. Returns what the API and the pages say later. */
async function silentLoop(
  t: TestContext,
  more: (send: (source: string, body: unknown) => Promise<unknown>) => unknown,
) {
  const { acme, app, clock, deps, request } = makeWorld(t)
  const { token } = acme
  const send = (source: string, body: unknown) => request('POST', `/api/webhooks/${source}`, { token, body })
  const at = async (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    while (await deps.engine.sweep());
  }
  for (const minutes of [0, 2, 4]) {
    await at(minutes)
    await send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { at: clock.now, count: minutes + 1 }))
  }
  await more(send)
  await at(10)
  const path = `/api/incidents/${(await request('GET', '/api/incidents', { token })).body.data[0].id}`
  await request('PATCH', path, { token, body: { status: 'resolved' } })
  await at(12)
  const { problem, criticalSeconds, isEndInferred } = (await request('GET', path, { token })).body
  const { text } = await request('GET', `${path}/postmortem`, { token, headers: { Accept: 'text/markdown' } })
  const browser = makeBrowser(app)
  await browser.signIn(token)
  const pages = await Promise.all(['/incidents/1', '/incidents'].map(async (page) => (await browser.get(page)).html))
  const [page, list] = pages.map((html) => html.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '))
  return { problem, criticalSeconds, isEndInferred, text, page, list }
}

test('what Kubernetes no longer reported at the resolution has one length everywhere, until its last report', async (t) => {
  const { text, page, list, ...figures } = await silentLoop(t, () => {})
  assert.deepEqual(figures, { problem: 'on', criticalSeconds: 240, isEndInferred: true })
  assert.match(text, /\*\*Critical for:\*\* at least 4 min, last reported at 2026-03-14 12:04:00 UTC/)
  assert.match(page ?? '', /Critical for at least 4 min since 12:00 ?, last reported 12:04/)
  assert.match(list ?? '', /at least 4 min/)
})

test('what Alertmanager has not ended is counted on after the resolution', async (t) => {
  const { text, page, list, ...figures } = await silentLoop(t, (send) =>
    send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON })])),
  )
  assert.deepEqual(figures, { problem: 'on', criticalSeconds: 720, isEndInferred: false })
  assert.match(text, /\*\*Critical for:\*\* 10 min until it was resolved/)
  assert.match(page ?? '', /Critical for 12 min since 12:00/)
  assert.match(list ?? '', /12 min so far/)
})

for (const [ends, said] of [
  [[6, 7], 'resolved'],
  [[6, 11], 'resolved, while Slow was still firing'],
  [[12, 11], 'resolved, while Down and Slow were still firing'],
] as const) {
  test(`the timeline says “${said}” if the alerts ended at minutes ${ends.join(' and ')}, whenever this is delivered`, async (t) => {
    const { acme, clock, request } = makeWorld(t)
    const { token } = acme
    const send = (times: readonly object[]) => {
      const alerts = ['Down', 'Slow'].map((name, at) =>
        alert(name, { service: 'cart' }, { startsAt: NOON, ...times[at] }),
      )
      return request('POST', '/api/webhooks/metrics', { token, body: alertmanager(alerts) })
    }
    await send([])
    const path = `/api/incidents/${(await request('GET', '/api/incidents', { token })).body.data[0].id}`
    clock.now = NOON + 10 * MINUTE
    await request('PATCH', path, { token, body: { status: 'resolved' } })
    clock.now = NOON + 14 * MINUTE
    await send(ends.map((minute) => ({ endsAt: NOON + minute * MINUTE })))
    const { timeline } = (await request('GET', path, { token })).body
    assert.equal(timeline.find(({ code }: { code: string }) => code === 'resolved').text, said)
  })
}
