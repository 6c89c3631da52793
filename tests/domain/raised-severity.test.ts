/** An incident whose severity a user changes: nothing says that it had the new severity before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { editedProblem, severeMsOf } from '../../src/domain/incident/lasted.ts'
import type { LiveIncident } from '../../src/domain/incident/live-incident.ts'
import { mergedProblem } from '../../src/domain/incident/merge.ts'
import { closed, NO_PROBLEM, type Problem } from '../../src/domain/incident/problem.ts'
import { messageTextOf } from '../../src/domain/notification/words.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { makeWorld } from '../helpers/app.ts'
import { makeService, NOON } from '../helpers/factory.ts'
import { burning, CONTEXT, messageItem, NOW } from '../helpers/messages.ts'

const DECLARED = { origin: 'manual', severity: 'warning', startedAt: NOON } as const
const ON: Problem = { ...NO_PROBLEM, since: NOON }
const raise = (problem: Problem, at: number, severity: Severity = 'critical', startedAt = NOON) =>
  editedProblem({ ...DECLARED, problem }, { severity, startedAt }, at)

test('the time before a change of the severity does not count for the new severity', () => {
  const raised = raise(ON, NOON + 2 * MINUTE)
  assert.equal(severeMsOf(raised, NOON + 5 * MINUTE), 3 * MINUTE)
  assert.equal(severeMsOf(closed(raised, NOON + 4 * MINUTE), NOON + 9 * MINUTE), 2 * MINUTE)
  const earlier = editedProblem(
    { ...DECLARED, severity: 'critical', problem: raised },
    { severity: 'critical', startedAt: NOON - 10 * MINUTE },
    NOON + 5 * MINUTE,
  )
  assert.equal(severeMsOf(earlier, NOON + 5 * MINUTE), 3 * MINUTE)
})

test('all of the time counts if the severity is the same, or was corrected after the end', () => {
  assert.equal(severeMsOf(raise(ON, NOON + 2 * MINUTE, 'warning'), NOON + 5 * MINUTE), 5 * MINUTE)
  assert.equal(severeMsOf(raise(closed(ON, NOON + 4 * MINUTE), NOON + 9 * MINUTE), NOON + 9 * MINUTE), 4 * MINUTE)
  assert.equal(severeMsOf(raise(ON, NOON + 900), NOON + 5 * MINUTE), 5 * MINUTE)
})

test('an incident that takes over a more severe one was as severe only since then', () => {
  const one = (more: Partial<LiveIncident>) =>
    ({ ...DECLARED, title: 'X', serviceId: 1, problem: ON, ...more }) as LiveIncident
  const late = NOON + 6 * MINUTE
  const worse = one({ severity: 'critical', startedAt: late, problem: { ...ON, since: late } })
  assert.equal(severeMsOf(mergedProblem(worse, one({}), 'web'), NOON + 10 * MINUTE), 4 * MINUTE)
  assert.equal(severeMsOf(mergedProblem(one({}), worse, 'web'), NOON + 10 * MINUTE), 4 * MINUTE)
  const equal = one({ severity: 'critical' })
  assert.equal(severeMsOf(mergedProblem(worse, equal, 'web'), NOON + 10 * MINUTE), 10 * MINUTE)
})

for (const [kind, text] of [
  ['reminder', /“Cart” \(checkout\) has been critical since 14:04 UTC \(2 min\)\./],
  ['severity', /has been critical since 14:04 UTC \(2 min\)\./],
  ['resolved', /It was critical for 2 min\./],
] as const) {
  test(`a message of the kind ${kind} says since when the incident has had its severity`, () => {
    const begun = burning(4)
    const raised = { ...begun, raised: { at: NOW - 2 * MINUTE, ms: 2 * MINUTE } }
    const of = (problem: Problem) => {
      const over = kind === 'resolved' ? closed(problem, NOW) : problem
      return messageTextOf(messageItem({ kind }, { origin: 'manual', title: 'Cart', problem: over }), CONTEXT).title
    }
    assert.match(of(raised), text)
    assert.doesNotMatch(of(begun), text)
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
  assert.match(summary.facts[0].text, /^3 min, as Acme's token declared/)
  assert.match(summary.sentences[1].text, /The incident lasted from .* \(5 min\)\./)
})
