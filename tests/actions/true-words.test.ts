/** What timelines and postmortems say follows from the record: what made a service critical, and whether it was well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { findTimeline } from '../../src/store/incident/timeline-facts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const DOWN = { service: 'cart', severity: 'critical' }

/** Sends an alert that fires from one minute to another. It is repeated until then, and its end is reported if it `ends`. */
async function fire(flow: Flow, from: number, to: number, ends = true) {
  for (let minute = from; minute < to; minute += 2) {
    await flow.sweepUntil(after(minute))
    await flow.send('metrics', alertmanager([alert('Down', DOWN, { startsAt: after(from) })]), { at: after(minute) })
  }
  const end = { startsAt: after(from), endsAt: after(to) }
  if (ends) await flow.send('metrics', alertmanager([alert('Down', DOWN, end)]), { at: after(to) })
}

const documentOf = (flow: Flow, index: number) => {
  const found = findPostmortem(flow.deps.db, flow.acme.key, flow.incidents()[index]?.id ?? '')
  assert.ok(found)
  return markdown(found.document)
}

test('an incident whose end was reported was resolved because the problem had not come back', async (t) => {
  const flow = makeFlow(t)
  await fire(flow, 0, 8)
  await flow.sweepUntil(after(60))
  assert.match(documentOf(flow, 0), /incmon resolved the incident at .*: the problem had not come back \(E/)
})

test('an incident whose end nobody reported was resolved because the problem was no longer reported', async (t) => {
  const flow = makeFlow(t)
  await fire(flow, 0, 8, false)
  await flow.sweepUntil(after(300))
  const text = documentOf(flow, 0)
  assert.match(text, /incmon resolved the incident at .*: the problem had not been reported for \d+/)
  assert.doesNotMatch(text, /not come back/)
})

test('another incident is named with its title and its number, and an incident in its own document by its title alone', async (t) => {
  const flow = makeFlow(t)
  await fire(flow, 0, 8)
  await flow.sweepUntil(after(55))
  await fire(flow, 56, 64)
  await flow.sweepUntil(after(120))
  const text = documentOf(flow, 1)
  assert.match(text, /\n- Incident: 2\n/)
  assert.match(text, /Down.* – part of “cart: Down” \(incident 1\)/)
  assert.doesNotMatch(documentOf(flow, 0), /\(incident 2\)/)
})

const QUEUE = (severity: string, from: number, to?: number) =>
  alert(
    'Queue',
    { service: 'cart', severity },
    {
      ...{ startsAt: after(from), fingerprint: 'queue' },
      ...(to === undefined ? {} : { endsAt: after(to) }),
    },
  )

test('what an alert did as a warning, before it opened the incident, is told', async (t) => {
  const flow = makeFlow(t)
  const send = (minute: number, item: ReturnType<typeof QUEUE>) =>
    flow.send('metrics', alertmanager([item]), { at: after(minute) })
  await send(0, QUEUE('warning', 0))
  await send(2, QUEUE('warning', 0, 2))
  await send(4, QUEUE('warning', 4))
  await send(6, QUEUE('warning', 4, 6))
  await send(8, QUEUE('critical', 8))
  await flow.sweepUntil(after(10))
  await send(12, QUEUE('critical', 8, 12))
  await flow.sweepUntil(after(60))
  const text = documentOf(flow, 0)
  const [incident] = flow.incidents()
  const shown = findTimeline(flow.deps.db, flow.acme.key, incident?.id ?? '', after(60)) ?? []
  const moves = shown.filter(({ kind }) => kind === 'alert' || kind === 'ended')
  assert.deepEqual(
    moves.map(({ at, text }) => [(at - NOON) / MINUTE, text]),
    [
      [0, 'Queue: Queue fires'],
      [2, 'Queue ended'],
      [4, 'Queue is firing again'],
      [6, 'Queue ended'],
      [8, 'Queue is firing again'],
      [8, 'severity of Queue changed from warning to critical'],
      [12, 'Queue ended'],
    ],
  )
  assert.match(text, /Queue ended twice between 2026-03-14 12:02:00 and 12:06:00 UTC, but fired again each time/)
  assert.doesNotMatch(text, /severity=warning/)
})

test('an alert that fired all the time before the incident has no ends', async (t) => {
  const flow = makeFlow(t)
  for (const minute of [0, 4, 8]) {
    const item = QUEUE(minute < 8 ? 'warning' : 'critical', minute < 8 ? 0 : 8)
    await flow.send('metrics', alertmanager([item]), { at: after(minute) })
  }
  await flow.sweepUntil(after(10))
  const shown = findTimeline(flow.deps.db, flow.acme.key, flow.incidents()[0]?.id ?? '', after(10)) ?? []
  assert.deepEqual(
    shown.map(({ text }) => text).filter((text) => /ended|again/.test(text)),
    [],
  )
})
