/** Ends that become known after the resolution: the postmortem is written again, and keeps what people wrote. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { editPostmortem } from '../../src/actions/postmortems.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { findIncident } from '../../src/store/incident/incidents.ts'
import { toProblem } from '../../src/store/incident/live-incidents.ts'
import { findPostmortem } from '../../src/store/incident/postmortems.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { criticalMsOf } from '../helpers/lengths.ts'
import { alert, alertmanager, kubernetesEvent } from '../helpers/senders.ts'

const after = (minutes: number) => NOON + minutes * MINUTE

/** Errors fires from noon to 12:30. Ann resolves the incident at 12:31, while `second` fires, which began at 12:20. */
async function resolvedEarly(t: TestContext, severity: string, second: readonly string[] = ['QueueFull']) {
  const flow = makeFlow(t)
  const items = (names: readonly string[], startsAt: number, rated: string, more: object = {}) =>
    alertmanager(names.map((name) => alert(name, { service: 'cart', severity: rated }, { startsAt, ...more })))
  await flow.send('metrics', items(['Errors'], NOON, 'critical'), { at: NOON })
  await flow.sweepUntil(after(20))
  await flow.send('metrics', items(second, after(20), severity), { at: after(20) })
  await flow.sweepUntil(after(30))
  await flow.send('metrics', items(['Errors'], NOON, 'critical', { endsAt: after(30) }), { at: after(30) })
  await flow.sweepUntil(after(31))
  const id = flow.incidents()[0]?.id ?? ''
  await changeIncident(flow.deps, flow.acme.key, id, { status: 'resolved' }, 'Ann')
  const written = () => {
    const found = findPostmortem(flow.deps.db, flow.acme.key, id)
    assert.ok(found)
    return { ...found, text: markdown(found.document) }
  }
  const end = async (minutes: number, names = second) => {
    await flow.sweepUntil(after(minutes))
    await flow.send('metrics', items(names, after(20), severity, { endsAt: after(minutes) }), { at: after(minutes) })
    await flow.sweepUntil(after(minutes + 2))
  }
  return { ...flow, id, written, end }
}

test('a problem that goes on after the resolution counts until its end', async (t) => {
  const { deps, acme, id, written, end } = await resolvedEarly(t, 'critical')
  const early = written()
  assert.match(early.text, /\*\*Critical for:\*\* 31 min until it was resolved; it was still critical then/)
  assert.match(early.text, /QueueFull was last reported at \S+ 12:20:00 UTC; no end had been reported by \S+ 12:31:00/)
  assert.match(early.text, /\| resolved, while QueueFull was still firing \| Ann \|/)
  editPostmortem(deps, acme.key, id, { summary: 'The cache was broken.' })
  await end(50)
  const { text, revision, edits } = written()
  assert.equal(revision, 2)
  assert.deepEqual(edits, { summary: 'The cache was broken.' })
  assert.match(text, /\*\*Critical for:\*\* 50 min \(19 min of them after the incident was resolved\)/)
  assert.match(text, /was critical from \S+ 12:00:00 to 12:50:00 UTC \(50 min\), 19 min of them after the incident was/)
  assert.match(text, /12:50:00 UTC, as reported by Alertmanager, 19 min after the incident was resolved/)
  assert.match(text, /Ann resolved the incident at \S+ 12:31:00 UTC, while QueueFull was still firing/)
  assert.match(text, /12:50:00 \| QueueFull ended \|/)
  assert.doesNotMatch(text, /no end|still critical/)
})

test('so does the end of a warning, and only the last end', async (t) => {
  const { written, end } = await resolvedEarly(t, 'warning', ['Slow', 'Lag'])
  assert.match(written().text, /no end had been reported/)
  await end(40, ['Slow'])
  assert.equal(written().revision, 1)
  await end(50, ['Lag'])
  assert.equal(written().revision, 2)
  assert.match(written().text, /\*\*Critical for:\*\* 30 min \(/)
  assert.doesNotMatch(written().text, /no end had been reported/)
})

test('without an alert that fires, the postmortem is written once', async (t) => {
  const { written, sweepUntil } = await resolvedEarly(t, 'critical', [])
  await sweepUntil(after(120))
  assert.equal(written().revision, 1)
})

test('an incident that lost an alert to a later one keeps its postmortem', async (t) => {
  const { written, send, sweepUntil, end, incidents } = await resolvedEarly(t, 'warning')
  await sweepUntil(after(90))
  const again = alert('Errors', { service: 'cart', severity: 'critical' }, { startsAt: after(90) })
  await send('metrics', alertmanager([again]), { at: after(90) })
  assert.equal(incidents().length, 2)
  await end(95)
  assert.equal(written().revision, 1)
})

/** Errors fires at noon, is not repeated, and its end is assumed. incmon resolves the incident half an hour later. */
async function resolvedUnreported(t: TestContext) {
  const flow = makeFlow(t)
  const send = (name: string, more: object) =>
    flow.send('metrics', alertmanager([alert(name, { service: 'cart' }, more)], { groupKey: name }))
  await send('Errors', { startsAt: NOON - MINUTE })
  await flow.sweepUntil(after(360), 5 * MINUTE)
  const id = flow.incidents()[0]?.id ?? ''
  const written = () => {
    const found = findPostmortem(flow.deps.db, flow.acme.key, id)
    assert.ok(found)
    return { ...found, text: markdown(found.document) }
  }
  return { ...flow, send, written }
}

test('an end that is reported after incmon assumed one and resolved the incident replaces it', async (t) => {
  const { deps, send, sweepUntil, incidents, written } = await resolvedUnreported(t)
  assert.match(written().text, /\*\*Critical for:\*\* at least 1 min, last reported at \S+ 12:00:00 UTC/)
  assert.match(written().text, /No end of Errors was reported|no end was reported/)
  await sweepUntil(after(420), 5 * MINUTE)
  await send('Errors', { startsAt: NOON - MINUTE, endsAt: after(419) })
  await deps.engine.settled()
  const [incident] = incidents()
  const problem = toProblem(incident?.problem ?? '{}')
  const { isGuess } = problem
  const criticalMs = criticalMsOf(problem, 0)
  assert.deepEqual([criticalMs, isGuess, incident?.resolved_at], [420 * MINUTE, false, after(419)])
  const { text, revision } = written()
  assert.equal(revision, 2)
  assert.match(text, /\*\*Critical for:\*\* 7 h \(\d h [^)]*after the incident was resolved\)/)
  assert.match(text, /until its end, before which incmon resolved the incident/)
  assert.doesNotMatch(text, /no end|No end|at least/)
})

test('the end of another alert, an earlier end and a second end change nothing', async (t) => {
  const { send, written, incidents } = await resolvedUnreported(t)
  await send('Others', { startsAt: NOON, endsAt: after(350) })
  await send('Errors', { startsAt: NOON - 9 * MINUTE, endsAt: NOON - 2 * MINUTE })
  assert.equal(written().revision, 1)
  await send('Errors', { startsAt: NOON - MINUTE, endsAt: after(300) })
  await send('Errors', { startsAt: NOON - MINUTE, endsAt: after(310) })
  assert.deepEqual([written().revision, incidents()[0]?.resolved_at], [2, after(300)])
})

test('the end of a critical alert counts although what fired when a user resolved the incident has no end', async (t) => {
  const flow = makeFlow(t)
  const { deps, acme } = flow
  await flow.send('cluster', kubernetesEvent('BackoffLimitExceeded', 'cart', { kind: 'Job', at: NOON }))
  await flow.sweepUntil(after(2))
  const failed = (more: object) => alertmanager([alert('Failed', { service: 'cart' }, { startsAt: after(1), ...more })])
  await flow.send('metrics', failed({}))
  await flow.sweepUntil(after(15))
  await flow.send('metrics', failed({ endsAt: after(14) }))
  await flow.sweepUntil(after(20))
  const id = flow.incidents()[0]?.id ?? ''
  assert.equal(flow.incidents().length, 1)
  await changeIncident(deps, acme.key, id, { status: 'resolved' }, 'Ann')
  const text = markdown(findPostmortem(deps.db, acme.key, id)?.document as never)
  assert.match(text, /\*\*Critical for:\*\* at least 14 min, last reported at \S+ 12:14:00 UTC/)
  assert.match(text, /no end of BackoffLimitExceeded had been reported/)
  const { reportedAt } = findIncident(deps.db, acme.key, id) ?? {}
  assert.equal(reportedAt, after(14))
})

test('a problem that was reported once has no time to resolve', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([alert('Errors', { service: 'cart' }, { startsAt: NOON })]))
  await flow.sweepUntil(after(360), 5 * MINUTE)
  const found = findPostmortem(flow.deps.db, flow.acme.key, flow.incidents()[0]?.id ?? '')
  assert.match(markdown(found?.document as never), /TTR \| Undefined: no end of the problem was reported/)
})
