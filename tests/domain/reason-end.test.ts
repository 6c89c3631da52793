/** Reasons: what ends a condition, which alerts agree with it, and what a rollout reports. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  ends,
  endsAll,
  failureOfAlert,
  hasCounterpart,
  isSameFailure,
  isTerminal,
  judgeReason,
  succeeds,
} from '../../src/domain/event/reason.ts'
import { ENDS, REPORTED, TERMINAL } from '../../src/domain/event/reason-table.ts'
import { rolloutOf } from '../../src/domain/event/rollout.ts'
import { AGREEMENT_CASES, ALERT_CASES, END_CASES, NO_END_CASES, WELL_CASES } from './reason-cases.ts'

const COMBINED = '(combined from similar events): '

describe('the end of a condition', () => {
  for (const [reason, message, kind, group] of END_CASES) {
    test(`${reason || message} of a ${kind} ends ${group}`, () =>
      assert.ok(ends({ reason, message, kind }).includes(group)))
  }

  for (const [reason, message, kind] of NO_END_CASES) {
    test(`${reason || 'no reason'} of a ${kind} ends nothing: ${message}`, () =>
      assert.deepEqual(ends({ reason, message, kind }), []))
  }

  test('a container that starts ends no problem of a container or an image', () => {
    const ended = ends({ reason: 'Started', message: 'Started container x', kind: 'Pod' })
    for (const group of ['CrashLoopBackOff', 'CreateContainerConfigError', 'ImagePullBackOff', 'Unhealthy (liveness)'])
      assert.ok(!ended.includes(group), group)
  })

  for (const [reason, message, group] of [
    ['Synced', 'Advance podinfo.test canary weight 20', 'RolloutAborted'],
    ['OperatorStatusChanged', 'changed: Degraded message changed from "a" to "b"', 'OperatorDegraded'],
    ['ResourceUpdated', 'Updated health status: Progressing -> Degraded', 'HealthDegraded'],
  ] as const)
    test(`${message} does not end ${group}`, () => assert.ok(!ends({ reason, message, kind: 'x' }).includes(group)))

  test('a reason that is also sent as a warning ends with the type Normal, if its message reports a success', () => {
    const says = (reason: string, message: string) => succeeds({ reason, message, kind: 'Application' })
    assert.ok(says('OperationCompleted', 'Sync operation to 3f2a1b9 succeeded'))
    assert.ok(says('CreatedExternalResource', 'Successfully requested creation of external resource'))
    assert.ok(says('SyncedToCloud', 'Load balancer is up to date'))
    const others = [
      ['Sync', 'Scheduled for sync'],
      ['OperationCompleted', 'Sync operation failed'],
      ['Provisioning', 'Waiting for a volume'],
      ['ScaleDownFailed', 'done'],
      ['NodeNotReady', 'Node is not ready'],
      ['Pulled', 'Container image already present'],
      ['', 'all is well'],
    ] as const
    for (const [reason, message] of others) assert.ok(!says(reason, message), reason)
  })

  test("Flux's new artifact ends every problem of its source", () => {
    for (const reason of ['NewArtifact', 'Succeeded']) {
      const event = { reason, message: '', kind: 'HelmRepository' }
      assert.ok(endsAll(event, 'Failed (HelmRepository)') && !endsAll(event, 'CrashLoopBackOff'))
    }
  })

  test('a controller that calls its object ready or healthy ends every problem of the object', () => {
    for (const [reason, kind, group] of WELL_CASES)
      assert.ok(endsAll({ reason, kind, message: 'Condition changed: Unknown -> True' }, group), reason)
  })

  test('a condition that is lost, another kind of object, and what only sounds ready end nothing', () => {
    const others = [
      ['Ready', 'Status condition transitioned, Type: Ready, Status: True -> False', 'NodePool', 'InternalError'],
      ['Ready', 'Status condition transitioned, Type: Ready, Status: True -> Unknown', 'NodePool', 'InternalError'],
      ['Succeeded', 'All Steps have completed executing', 'TaskRun', 'Failed (PipelineRun)'],
      ['NotReady', '', 'Revision', 'InternalError'],
      ['NodeReady', '', 'Node', 'InternalError'],
    ] as const
    for (const [reason, message, kind, group] of others) assert.ok(!endsAll({ reason, message, kind }, group), message)
  })

  test('a condition is persistent only if an event can end it, and never if it is terminal', () => {
    const ended = new Set([...ENDS.values()].flatMap((groups) => [...groups]))
    for (const group of REPORTED) assert.ok(ended.has(group) && !TERMINAL.has(group), group)
  })

  test('every group that an event ends can be started by an event', () => {
    for (const group of [...ENDS.values()].flatMap((groups) => [...groups])) {
      // `Failed (Certificate)`: the reason of a kind of object.
      const [, ofKind = group, kind = 'Pod'] = /^(\w+) \(([A-Z]\w+)\)$/.exec(group) ?? []
      const made = [
        judgeReason({ reason: group, message: '', type: null, kind: 'Node' }).group,
        judgeReason({ reason: ofKind, message: '', type: null, kind }).group,
      ]
      assert.ok(made.includes(group), `${group}: ${made}`)
    }
  })

  test('crash loops, probes and memory conditions expire', () => {
    for (const group of ['CrashLoopBackOff', 'Unhealthy (liveness)', 'OOMKilled', 'Rebooted', '', '__proto__']) {
      assert.equal(hasCounterpart(group), false, group)
    }
  })

  test('a failed job is terminal, a crash loop is not', () => {
    assert.deepEqual(
      ['BackoffLimitExceeded', 'DeadlineExceeded', 'ProgressDeadlineExceeded', 'CrashLoopBackOff', ''].map(isTerminal),
      [true, true, true, false, false],
    )
  })
})

describe('agreement', () => {
  for (const [name, failure] of ALERT_CASES) {
    test(`the alert ${name || '(no name)'} reports ${failure}`, () => assert.equal(failureOfAlert(name), failure))
  }

  for (const [condition, name, severity, expected] of AGREEMENT_CASES) {
    test(`${condition} and ${name} (${severity}) ${expected ? 'agree' : 'do not agree'}`, () =>
      assert.equal(isSameFailure(condition, { name, severity }), expected))
  }
})

describe('a rollout', () => {
  const cart = { replicaSet: 'cart-7d9f5b6c8', hash: '7d9f5b6c8' }
  const cases = [
    ['Scaled up replica set cart-7d9f5b6c8 to 3', { ...cart, direction: 'up', to: 3, from: null }],
    ['Scaled up replica set cart-7d9f5b6c8 to 3 from 0', { ...cart, direction: 'up', to: 3, from: 0 }],
    ['Scaled up replica set cart-7d9f5b6c8 from 0 to 3', { ...cart, direction: 'up', to: 3, from: 0 }],
    ['Scaled down replica set cart-7d9f5b6c8 to 0 from 1', { ...cart, direction: 'down', to: 0, from: 1 }],
    [
      'Scaled up ReplicaSet cart-7d9f5b6c8 (revision 2) from 0 to 3',
      { ...cart, direction: 'up', to: 3, from: 0, revision: 2 },
    ],
    [`${COMBINED}Scaled up replica set cart-7d9f5b6c8 to 3`, { ...cart, direction: 'up', to: 3, from: null }],
    ['Scaled up replica set cart to 3', null],
    ['Scaled up replica set cart- to 3', null],
    ['Scaled up replica set -7d9f5b6c8 to 3', null],
    ['Scaled up replica set cart-7d9f5b6c8 to many', null],
    ['Scaled up replica set cart-7d9f5b6c8 to 3 of 4', null],
    ['Scaled up replica set cart-7d9f5b6c8', null],
    ['Created pod: cart-7d9f5b6c8-xk2lp', null],
    ['', null],
  ] as const
  for (const [message, expected] of cases) {
    test(message || '(no message)', () => assert.deepEqual(rolloutOf(message), expected))
  }
})
