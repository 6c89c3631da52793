/** What timelines and postmortems say follows from the record: what made a service critical, and whether it was well. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
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

test('an incident whose end was reported was resolved because the service had been well', async (t) => {
  const flow = makeFlow(t)
  await fire(flow, 0, 8)
  await flow.sweepUntil(after(60))
  assert.match(documentOf(flow, 0), /incmon resolved the incident at .*: the service had been well for 30 min/)
})

test('an incident whose end nobody reported was not resolved because the service had been well', async (t) => {
  const flow = makeFlow(t)
  await fire(flow, 0, 8, false)
  await flow.sweepUntil(after(300))
  const text = documentOf(flow, 0)
  assert.match(text, /incmon resolved the incident at .*: the problem had not been reported for \d+/)
  assert.doesNotMatch(text, /been well/)
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
