/** Whether a message is still true at the moment of sending. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NO_PROBLEM, type Problem } from '../../src/domain/incident/problem.ts'
import type { MessageKind } from '../../src/domain/notification/kind.ts'
import { type Queued, verdictOf } from '../../src/domain/notification/truth.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'

const ON: Problem = { ...NO_PROBLEM, since: NOON - MINUTE, firing: ['Down'], had: ['Down'] }
const OFF: Problem = { ...NO_PROBLEM, endedAt: NOON - 2 * MINUTE, knownAt: NOON - 2 * MINUTE, isOver: true }
const SETTLING: Problem = { ...OFF, endedAt: NOON, knownAt: NOON, isOver: false }
const MUTED: Problem = { ...OFF, isOver: false, isMuted: true }
const STABLE: Problem = { ...OFF, knownAt: NOON - 30 * MINUTE }
const LEFT: Problem = { ...OFF, firing: ['Down'], isSuppressed: true }

type State = { readonly status?: 'open' | 'investigating' | 'monitoring' | 'resolved'; readonly problem?: Problem }

function verdict(kind: MessageKind, { status = 'open', problem = ON }: State, more: Partial<Queued> = {}): string {
  const rated = { origin: 'automatic', severity: 'critical' } as const
  const incident = { ...rated, status, acknowledgedAt: status === 'investigating' ? NOON : null, problem }
  const found = verdictOf(
    {
      kind,
      names: [],
      isDigest: false,
      createdAt: NOON - 16 * MINUTE,
      isTold: true,
      isKnown: false,
      postmortemDueAt: null,
      severityBefore: null,
      incident,
      ...more,
    },
    NOON,
  )
  return found.do === 'drop' ? found.reason : found.do
}

for (const [what, postmortemDueAt, expected] of [
  ['that is being written', NOON - 1_000, 'wait'],
  ['that has been written or is not wanted', null, 'send'],
  ['that cannot be written', NOON - 15_000, 'send'],
] as const) {
  test(`a message about a resolution and a postmortem ${what}: ${expected}`, () => {
    assert.equal(verdict('resolved', { status: 'resolved', problem: OFF }, { postmortemDueAt }), expected)
    assert.equal(verdict('resolved', { problem: ON }, { postmortemDueAt }), 'changed')
  })
}

const CASES: readonly (readonly [MessageKind, State, string])[] = [
  ['opened', {}, 'send'],
  ['opened', { problem: OFF }, 'over'],
  ['opened', { problem: SETTLING }, 'wait'],
  ['opened', { problem: MUTED }, 'wait'],
  ['opened', { status: 'resolved', problem: LEFT }, 'resolved'],
  ['again', { problem: OFF }, 'over'],
  ['worse', {}, 'send'],
  ['reminder', {}, 'send'],
  ['reminder', { status: 'investigating' }, 'acknowledged'],
  ['reminder', { problem: SETTLING }, 'over'],
  ['escalation', { problem: MUTED }, 'silence'],
  ['escalation', { status: 'resolved', problem: OFF }, 'resolved'],
  ['recovered', { problem: OFF }, 'send'],
  ['recovered', {}, 'changed'],
  ['recovered', { status: 'resolved', problem: OFF }, 'send'],
  ['recovered', { status: 'resolved', problem: LEFT }, 'changed'],
  ['resolved', { status: 'resolved', problem: OFF }, 'send'],
  ['resolved', {}, 'changed'],
  ['still-firing', { status: 'resolved', problem: LEFT }, 'send'],
  ['still-firing', { status: 'resolved', problem: OFF }, 'over'],
  ['still-firing', {}, 'changed'],
  ['acknowledged', { status: 'investigating' }, 'send'],
  ['acknowledged', {}, 'changed'],
  ['acknowledged', { status: 'resolved', problem: OFF }, 'resolved'],
  ['reopened', {}, 'send'],
  ['reopened', { status: 'resolved', problem: OFF }, 'resolved'],
  ['severity', {}, 'send'],
  ['severity', { problem: OFF }, 'over'],
  ['severity', { problem: SETTLING }, 'wait'],
  ['severity', { problem: MUTED }, 'wait'],
  ['severity', { status: 'resolved', problem: OFF }, 'resolved'],
  ['flapping', {}, 'send'],
  ['flapping', { problem: OFF }, 'send'],
  ['flapping', { problem: STABLE }, 'over'],
  ['flapping', { status: 'resolved', problem: OFF }, 'resolved'],
  ['sender-silent', { status: 'resolved', problem: OFF }, 'resolved'],
]

for (const [kind, state, expected] of CASES) {
  const phase = Object.entries({ ON, OFF, SETTLING, MUTED, STABLE, LEFT }).find(([, one]) => one === state.problem)
  test(`${kind} about a problem that is ${phase?.[0] ?? 'ON'} (${state.status ?? 'open'}): ${expected}`, () => {
    assert.equal(verdict(kind, state), expected)
  })
}

test('a new condition that has ended waits until it fires again or the problem is over, one of two is reported', () => {
  assert.equal(verdict('worse', {}, { names: ['Slow'] }), 'wait')
  assert.equal(verdict('worse', { problem: OFF }, { names: ['Slow'] }), 'over')
  assert.equal(verdict('worse', {}, { names: ['Slow', 'Down'] }), 'send')
})

test('who got the all-clear hears neither it again nor of the resolution, unless a postmortem is being written', () => {
  const resolved = { status: 'resolved', problem: OFF } as const
  assert.equal(verdict('resolved', resolved, { isKnown: true }), 'known')
  assert.equal(verdict('resolved', resolved, { isKnown: true, postmortemDueAt: NOON }), 'wait')
  assert.equal(verdict('recovered', { problem: OFF }, { isKnown: true }), 'known')
})

test('nobody hears of a recovery if nobody heard of the problem', () => {
  assert.equal(verdict('recovered', { problem: OFF }, { isTold: false }), 'unknown')
})

test('the digest of a flapping incident is not sent after its resolution, nor once it flaps no more', () => {
  assert.equal(
    verdict('recovered', { problem: { ...OFF, flapsSince: NOON - 20 * MINUTE } }, { isDigest: true }),
    'send',
  )
  assert.equal(verdict('recovered', { problem: OFF }, { isDigest: true }), 'changed')
  assert.equal(verdict('again', { status: 'resolved', problem: OFF }, { isDigest: true }), 'resolved')
})
