/** An incident whose severity a user changes: nothing says that it had the new severity before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  begunAt,
  type Rated,
  regraded,
  severeOf,
  severityNow,
  worstSeverity,
} from '../../src/domain/incident/lasted.ts'
import type { LiveIncident } from '../../src/domain/incident/live-incident.ts'
import { mergedProblem } from '../../src/domain/incident/merge.ts'
import { tracked } from '../../src/domain/incident/periods.ts'
import { begun, closed, NO_PROBLEM, observe, type Problem } from '../../src/domain/incident/problem.ts'
import { messageTextOf } from '../../src/domain/notification/words.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeService, NOON } from '../helpers/factory.ts'
import { burning, CONTEXT, messageItem, NOW } from '../helpers/messages.ts'

const ON: Problem = begun(NO_PROBLEM, NOON)
const DECLARED = { origin: 'manual', severity: 'warning', problem: ON } as const
const after = (minutes: number) => NOON + minutes * MINUTE
const rate = (before: Rated, minutes: number, severity: Severity): Rated => ({
  ...before,
  severity,
  problem: regraded(before, { ...before, severity }, after(minutes)),
})
const fire = (before: Rated, minutes: number, firing: readonly string[]): Rated => {
  const now = after(minutes)
  const burning = firing.map((name) => ({ name, since: now, onset: now }))
  return {
    ...before,
    problem: { ...before.problem, ...tracked(before.problem, { now, burning, muted: [], ended: [] }), firing },
  }
}
const end = (before: Rated, minutes: number): Rated => ({ ...before, problem: closed(before.problem, after(minutes)) })
const minutesOf = (incident: Rated, minutes: number) => {
  const { severity, ms } = severeOf({ ...incident, startedAt: NOON }, after(minutes))
  return [severity, ms / MINUTE]
}

test('the time before a change of the severity does not count for the new severity', () => {
  const raised = rate(DECLARED, 2, 'critical')
  assert.deepEqual(minutesOf(raised, 5), ['critical', 3])
  assert.deepEqual(minutesOf(end(raised, 4), 9), ['critical', 2])
  const incident = { ...raised, startedAt: NOON } as LiveIncident
  const earlier = { ...raised, problem: begunAt(incident, NOON - 10 * MINUTE) }
  assert.deepEqual(minutesOf(earlier, 5), ['critical', 3])
})

test('all periods with the severity count', () => {
  const lowered = rate({ ...DECLARED, severity: 'critical' }, 2, 'warning')
  assert.deepEqual(minutesOf(lowered, 5), ['warning', 3])
  const raised = rate(lowered, 6, 'critical')
  assert.deepEqual(minutesOf(raised, 8), ['critical', 4])
  assert.deepEqual(minutesOf(end(raised, 9), 20), ['critical', 5])
  assert.deepEqual(minutesOf(rate(raised, 9, 'warning'), 10), ['warning', 5])
})

test('a critical alert counts, whatever severity a user chose', () => {
  const fired = fire(DECLARED, 2, ['Down'])
  assert.deepEqual(minutesOf(fired, 5), ['critical', 3])
  assert.deepEqual(minutesOf(rate(fired, 4, 'error'), 5), ['critical', 3])
  const ended = fire(fired, 6, [])
  assert.deepEqual(minutesOf(ended, 9), ['warning', 5])
  // Once it is over, the worst is told.
  assert.deepEqual(minutesOf(end(ended, 9), 20), ['critical', 4])
  assert.equal(worstSeverity(ended), 'critical')
  const typo = { declared: [{ name: 'Typo', since: NOON, onset: NOON }], hadDeclared: ['Typo'] }
  const declared = { ...DECLARED, problem: { ...ON, ...typo } }
  assert.equal(severityNow(fire(declared, 2, ['Typo'])), 'warning')
})

test('a change of the severity after an end that was reported late counts for nothing', () => {
  const lateEnd = (before: Rated) => ({
    ...before,
    problem: {
      ...{ ...before.problem, since: null, endedAt: after(10) },
      periods: [{ name: 'Down', from: NOON, to: after(10) }],
    },
  })
  const lowered = rate({ ...DECLARED, origin: 'automatic', severity: 'critical' }, 6, 'warning')
  assert.deepEqual(minutesOf(lateEnd(rate(lowered, 12, 'critical')), 20), ['critical', 6])
  assert.deepEqual(minutesOf(lateEnd(rate(lowered, 9, 'critical')), 20), ['critical', 7])
  const kept = rate({ ...DECLARED, origin: 'automatic', severity: 'critical' }, 12, 'warning')
  assert.deepEqual(minutesOf(lateEnd(kept), 20), ['critical', 10])
})

test('an incident that opened by itself has the severity that a user chose, from then on', () => {
  const lowered = rate({ ...DECLARED, origin: 'automatic', severity: 'critical' }, 2, 'warning')
  assert.deepEqual(minutesOf(lowered, 5), ['warning', 3])
  assert.deepEqual(minutesOf(end(lowered, 6), 9), ['critical', 2])
})

test('all of the time counts if the severity is the same, or was corrected after the end', () => {
  assert.deepEqual(minutesOf(rate(DECLARED, 2, 'warning'), 5), ['warning', 5])
  assert.deepEqual(minutesOf(rate(end(DECLARED, 4), 9, 'critical'), 9), ['critical', 4])
  assert.deepEqual(minutesOf(rate(DECLARED, 0.01, 'critical'), 5), ['critical', 5])
})

test('an incident that takes over a more severe one was as severe only since then', () => {
  const one = (more: Partial<LiveIncident>) =>
    ({ ...DECLARED, title: 'X', serviceId: 1, startedAt: NOON, ...more }) as LiveIncident
  const merged = (from: LiveIncident, into: LiveIncident) =>
    minutesOf({ ...into, ...mergedProblem(from, into, (name) => `${name} of web`, NOON + 10 * MINUTE) }, 10)
  const worse = one({ severity: 'critical', startedAt: after(6), problem: begun(NO_PROBLEM, after(6)) })
  assert.deepEqual(merged(worse, one({})), ['critical', 4])
  assert.deepEqual(merged(one({}), worse), ['critical', 4])
  assert.deepEqual(merged(worse, one({ severity: 'critical' })), ['critical', 10])
})

for (const [kind, text] of [
  ['reminder', /“Cart” \(checkout\) has been critical since 14:04 UTC \(2 min\)\./],
  ['severity', /has been critical since 14:04 UTC \(2 min\)\./],
  ['resolved', /It was critical for 2 min\./],
] as const) {
  test(`a message of the kind ${kind} says since when the incident has had its severity`, () => {
    const whole = burning(4)
    const periods = whole.periods.map((one) => ({ ...one, name: '' }))
    const raised = { ...whole, periods, ratings: [{ until: NOW - 2 * MINUTE, severity: 'warning' as const }] }
    const of = (problem: Problem) => {
      const over = kind === 'resolved' ? closed(problem, NOW) : problem
      return messageTextOf(messageItem({ kind }, { origin: 'manual', title: 'Cart', problem: over }), CONTEXT).title
    }
    assert.match(of(raised), text)
    assert.doesNotMatch(of(whole), text)
  })
}

test('the postmortem of a declared incident counts its severity from the change on', async (t) => {
  const { acme, clock, request, db } = makeWorld(t)
  const { token } = acme
  const service = makeService(db, acme, 'web')
  const body = { serviceId: service.id, title: 'Typo', severity: 'warning' }
  const { id } = (await request('POST', '/api/incidents', { token, body })).body
  for (const [minutes, change] of [
    [2, { severity: 'critical' }],
    [5, { status: 'resolved' }],
  ] as const) {
    clock.now = NOON + minutes * MINUTE
    await request('PATCH', `/api/incidents/${id}`, { token, body: change })
  }
  const { summary } = (await request('GET', `/api/incidents/${id}/postmortem`, { token })).body
  assert.match(summary.facts[0].text, /^3 min, as declared by Acme's token/)
  assert.match(summary.sentences[1].text, /The incident lasted from .* \(5 min\)\./)
})

for (const [what, before] of [
  ['was declared milder', DECLARED],
  ['opened by itself and was lowered', rate({ ...DECLARED, origin: 'automatic', severity: 'critical' }, 2, 'error')],
  ['was raised and lowered before', rate(rate(DECLARED, 1, 'critical'), 3, 'warning')],
] as const)
  test(`an incident that ${what} has had its new severity since the very second in which a user raised it`, () => {
    const raised = { ...rate(before, 5, 'critical'), startedAt: NOON }
    for (const seconds of [0, 1]) assert.equal(severeOf(raised, after(5 + seconds / 60)).since, after(5))
  })

test('what burned before a silence keeps its severity if a user changes it under the silence', () => {
  const now = after(4)
  const muted = [{ name: 'A', since: NOON, onset: NOON }]
  const fired = fire({ ...DECLARED, origin: 'automatic', severity: 'critical', problem: NO_PROBLEM }, 0, ['A'])
  const problem = observe(
    { ...fired.problem, since: NOON, had: ['A'] },
    { now: after(2), burning: [], muted, ended: [] },
  )
  const silenced = rate({ ...fired, problem }, 3, 'warning')
  const back = observe(silenced.problem, { now, burning: muted, muted: [], ended: [] })
  const raised = rate({ ...silenced, problem: back }, 6, 'critical')
  assert.deepEqual(minutesOf(raised, 9), ['critical', 5])
})
