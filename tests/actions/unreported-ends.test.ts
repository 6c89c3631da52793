/** Ends that nobody reported: the postmortem says when an alert was last reported, however its sender went silent. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { readPrometheus } from '../../src/intake/prometheus.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, iso, times, watchdog } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const DOWN = { service: 'cart', severity: 'critical' }

type Send = (flow: Flow, at: number, isDown: boolean, hasBeat?: boolean) => Promise<unknown>

const byAlertmanager: Send = async ({ send }, at, isDown, hasBeat = true) => {
  if (hasBeat) await send('metrics', watchdog(), { at })
  if (isDown) await send('metrics', alertmanager([alert('Down', DOWN, { startsAt: NOON })]), { at })
}

/** Prometheus itself says with each alert when it ends unless it is repeated. */
const byPrometheus: Send = async ({ delivery, submit }, at, isDown, hasBeat = true) => {
  const times = { startsAt: iso(NOON), endsAt: iso(at + 4 * MINUTE) }
  const beat = { labels: { alertname: 'Watchdog', severity: 'none' }, ...times }
  const down = { labels: { alertname: 'Down', ...DOWN }, ...times }
  const intake = readPrometheus([...(hasBeat ? [beat] : []), ...(isDown ? [down] : [])], at)
  return await submit({ ...delivery('metrics', alertmanager([]), { at }), intake })
}

/** Reports the alert every two minutes until 12:08. The sender is silent until 12:30 and does not report it any more. */
async function goSilent(flow: Flow, send: Send, { until, beats = true }: { until: number; beats?: boolean }) {
  for (const at of [...times(NOON, after(9), 2 * MINUTE), ...times(after(30), after(until), 2 * MINUTE)]) {
    await flow.sweepUntil(at)
    await send(flow, at, at < after(9), beats)
  }
  await flow.sweepUntil(after(until))
}

async function resolve(flow: Flow): Promise<string> {
  const incident = flow.incidents().find(({ cause }) => cause === 'service')
  await changeIncident(flow.deps, flow.acme.key, incident?.id ?? '', { status: 'resolved' }, 'Ann')
  const written = findPostmortem(flow.deps.db, flow.acme.key, incident?.id ?? '')
  assert.ok(written)
  return markdown(written.document)
}

for (const [how, send, sender] of [
  ['Alertmanager', byAlertmanager, 'Alertmanager \\(incmon\\)'],
  ['Prometheus', byPrometheus, 'Prometheus'],
] as const) {
  for (const [when, until] of [
    ['before its end is inferred', 34],
    ['after its end is inferred', 60],
  ] as const) {
    test(`an alert of a silent ${how} that is resolved ${when} was last reported before the silence`, async (t) => {
      const flow = makeFlow(t)
      await goSilent(flow, send, { until })
      const text = await resolve(flow)
      assert.match(text, /\*\*Critical for:\*\* at least 8 min, last reported at 20\d\d-\d\d-\d\d 12:08:00 UTC/)
      assert.match(text, new RegExp(`The sender ${sender} sent no heartbeat from \\S+ 12:08:00 to 12:30:00 UTC`))
      assert.match(text, new RegExp(`First signal: Down from ${how} at`))
      assert.doesNotMatch(text, /ended at|still critical|still firing/)
    })
  }
}

test('without a silence, what fires is still firing, and a reported end is an end', async (t) => {
  const [firing, ended] = [makeFlow(t), makeFlow(t)]
  for (const flow of [firing, ended])
    for (const at of times(NOON, after(9), 2 * MINUTE)) {
      await flow.sweepUntil(at)
      await byAlertmanager(flow, at, true)
    }
  await ended.send('metrics', alertmanager([alert('Down', DOWN, { startsAt: NOON, endsAt: after(9) })]), {
    at: after(9),
  })
  await ended.sweepUntil(after(11))
  const [text, over] = [await resolve(firing), await resolve(ended)]
  assert.match(text, /\*\*Critical for:\*\* 8 min until it was resolved; it was still critical then/)
  assert.match(over, /Down ended at \S+ 12:09:00 UTC, as reported by Alertmanager/)
  for (const one of [text, over]) assert.doesNotMatch(one, /at least|no heartbeat/)
})

test('a sender without a heartbeat is not said to be silent', async (t) => {
  const flow = makeFlow(t)
  await goSilent(flow, byPrometheus, { until: 34, beats: false })
  const text = await resolve(flow)
  assert.match(text, /at least 8 min, last reported at/)
  assert.doesNotMatch(text, /no heartbeat/)
})

for (const [when, endsAt, ends] of [
  ['at another time', 20, ['inferred 8', 'reported 20']],
  ['at the same time', 8, ['inferred 8']],
] as const) {
  test(`an end that is reported late, ${when}, follows the assumed one in the timeline`, async (t) => {
    const flow = makeFlow(t)
    await goSilent(flow, byAlertmanager, { until: 60 })
    const over = alert('Down', DOWN, { startsAt: NOON, endsAt: after(endsAt) })
    await flow.send('metrics', alertmanager([over]), { at: after(61) })
    const key = flow.incidents().find(({ cause }) => cause === 'service')?.key ?? 0
    const told = flow.timeline({ key }).filter(({ kind }) => kind === 'ended')
    assert.deepEqual(
      told.map(({ code, at }) => `${code} ${(at - NOON) / MINUTE}`),
      ends,
    )
  })
}
