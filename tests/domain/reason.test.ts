/** Reasons: the meaning and severity of Kubernetes events. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { meansUnavailable, quietPeriodOf } from '../../src/domain/event/lasting.ts'
import {
  ends,
  endsAll,
  failureOfAlert,
  hasCounterpart,
  isRepeated,
  judgeReason,
} from '../../src/domain/event/reason.ts'
import { plainMessage, withoutPodUid } from '../../src/domain/event/reason-message.ts'
import { rolloutOf } from '../../src/domain/event/rollout.ts'
import { rank } from '../../src/domain/severity.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { assertQuick } from '../helpers/processor.ts'
import { MESSAGE_CASES, NODE_REASONS, REASONLESS_CASES, REASONS_BY_SEVERITY, UNKNOWN_CASES } from './reason-cases.ts'

type Event = Parameters<typeof judgeReason>[0]

const COMBINED = '(combined from similar events): '
const judge = (reason: string, rest: Partial<Event> = {}) =>
  judgeReason({ reason, message: '', type: null, kind: 'Pod', ...rest })
const brief = (finding: ReturnType<typeof judgeReason>) => `${finding.group} ${finding.severity}`
const listed = Object.entries(REASONS_BY_SEVERITY).flatMap(([severity, reasons]) =>
  reasons.split(/\s+/).map((reason) => ({ reason, severity })),
)

describe('what is expected is info, even with the type Warning:', () => {
  const cases = [
    ['ImageGCFailed', 'failed to get imageFs info: unable to find data in memory cache', 'info'],
    ['ImageGCFailed', 'unable to find data for container /', 'info'],
    ['ImageGCFailed', 'wanted to free 473842483 bytes, but freed 0 bytes', 'warning'],
    ['ContainerdStart', 'Starting containerd container runtime...', 'info'],
    ['KubeletStart', 'Started Kubelet.', 'info'],
    ['DockerStart', 'Failed to start Docker', 'warning'],
    ['FailedCreate', 'unable to create new content in namespace a because it is being terminated', 'info'],
    ['FailedToUpdateEndpoint', 'create: namespace a because it is being terminated', 'info'],
    ['FailedCreate', 'Error creating: pods "x" is forbidden: exceeded quota', 'error'],
    ['CgroupV1', 'cgroup v1 support is in maintenance mode, please migrate to cgroup v2', 'info'],
    ['NodeSysctlChange', '{"unmanaged": {"net.netfilter.nf_conntrack_buckets": "32768"}}', 'info'],
    ['TopologyAwareHintsDisabled', 'Insufficient Node information, addressType: IPv4', 'info'],
    ['UnexpectedJob', 'Saw a job that the controller did not create or forgot: report-1', 'info'],
    ['FailedToRetrieveImagePullSecret', 'Unable to retrieve some image pull secrets (regcred)', 'info'],
    ['Pending', "couldn't assign flavors to pod set main: insufficient unused quota for cpu", 'info'],
    ['Pending', 'Workload no longer fits after processing another workload', 'info'],
    ['Pending', "couldn't assign flavors to pod set main: resource cpu unavailable in ClusterQueue", 'warning'],
    ['SecretSyncFailed', 'the secret regcred cannot be read', 'warning'],
    ['Unmanaged', 'the node has no owner', 'warning'],
  ] as const
  for (const [reason, message, severity] of cases)
    test(`${reason}: ${message}`, () =>
      assert.equal(judge(reason, { message, type: 'Warning', kind: 'Node' }).severity, severity))
})

test('what a plugin of node-problem-detector reports is named after the condition of the node', () => {
  const named = (reason: string, message: string, kind = 'Node') =>
    brief(judge(reason, { message, type: 'Warning', kind }))
  assert.equal(named('GpuLost', 'Node condition GpuProblem is now: True, reason: GpuLost'), 'GpuProblem warning')
  assert.equal(named('XidError', 'Node condition GpuProblem is now: True, reason: XidError'), 'GpuProblem warning')
  assert.equal(named('Slow', 'Node condition DiskHung is now: True, reason: Slow'), 'DiskHung warning')
  assert.equal(named('NTPIsDown', 'Node condition NTPProblem is now: True, reason: NTPIsDown'), 'NTPIsDown warning')
  assert.equal(named('GpuLost', 'Node condition GpuProblem is now: Unknown, reason: GpuLost'), 'GpuLost warning')
  assert.equal(named('GpuLost', 'Node condition GpuProblem is now: True, reason: GpuLost', 'Pod'), 'GpuLost warning')
})

describe('a reason without a message', () => {
  for (const { reason, severity } of listed) {
    test(`${reason} is ${severity}`, () => assert.equal(judge(reason).severity, severity))
  }

  for (const reason of NODE_REASONS) {
    test(`${reason} is critical on a Node and a warning elsewhere`, () => {
      assert.equal(judge(reason, { kind: 'Node' }).severity, 'critical')
      assert.equal(judge(reason, { kind: 'Pod' }).severity, 'warning')
    })
  }

  test('a container that reaches its memory limit is not the fault of its node', () => {
    const killed = 'Killed process 4000 (java) total-vm:2097152kB, anon-rss:524288kB, file-rss:0kB'
    for (const [reason, message, kind, severity] of [
      ['OOMKilling', `Memory cgroup out of memory: ${killed}`, 'Node', 'info'],
      ['OOMKilling', 'Memory cgroup out of memory: Kill process 1012 (heapster) score 1035', 'Node', 'info'],
      ['OOMKilling', `Out of memory: ${killed}`, 'Node', 'critical'],
      ['OOMKilling', killed, 'Node', 'critical'],
      ['SystemOOM', 'System OOM encountered, victim process: java, pid: 4000', 'Node', 'critical'],
      ['OOMKilling', `Memory cgroup out of memory: ${killed}`, 'Pod', 'critical'],
      ['OOMKilled', 'Container app was OOMKilled', 'Pod', 'critical'],
    ] as const)
      assert.equal(
        judge(reason, { message, type: 'Warning', kind }).severity,
        severity,
        `${reason} ${kind}: ${message}`,
      )
  })

  test('only errors escalate, and only info does not mean a failure', () => {
    for (const { reason } of listed) {
      const finding = judge(reason)
      assert.equal(finding.escalates, finding.severity === 'error', reason)
      assert.equal(finding.failure === null, finding.severity === 'info', reason)
      if (finding.severity === 'info') assert.equal(finding.hint, null, reason)
    }
  })

  test('every critical condition has a one-sentence hint', () => {
    for (const { reason, severity } of listed) {
      if (severity !== 'critical') continue
      assert.match(judge(reason).hint ?? '', /^[A-Z].+\.$/, reason)
    }
  })

  test('scaling a ReplicaSet is a change, scaling by the autoscaler is not', () => {
    assert.equal(judge('ScalingReplicaSet').change, true)
    assert.equal(judge('SuccessfulRescale').change, false)
  })

  test('names of the same condition share a group', () => {
    assert.equal(judge('ErrImagePull').group, judge('ImagePullBackOff').group)
    assert.equal(judge('StartError').group, judge('RunContainerError').group)
    assert.equal(
      judge('CrashLoopBackOff').group,
      judge('BackOff', { message: 'Back-off restarting failed container' }).group,
    )
  })

  for (const [reason, severity] of UNKNOWN_CASES) {
    test(`the unknown reason ${reason} is ${severity}`, () => assert.equal(judge(reason).severity, severity))
  }

  test('whitespace around a reason is ignored, but its case matters', () => {
    assert.equal(judge(' OOMKilled\n').severity, 'critical')
    assert.equal(judge('oomkilled').severity, 'info')
  })

  test('a reason of 300 kB gives a group name of at most 100 characters', () => {
    assert.equal(judge('😀'.repeat(150_000)).group.length, 100)
  })
})

describe('a message', () => {
  for (const [reason, message, expected] of MESSAGE_CASES) {
    test(`${reason}: ${message || '(none)'}`, () => assert.equal(brief(judge(reason, { message })), expected))
  }

  for (const [message, expected] of REASONLESS_CASES) {
    test(`no reason: ${message || '(none)'}`, () => assert.equal(brief(judge('', { message })), expected))
  }

  test('the prefix of combined events is removed, even if it is repeated', () => {
    assert.equal(plainMessage(` ${COMBINED}${COMBINED}Back-off`), 'Back-off')
    assert.equal(brief(judge('Failed', { message: `${COMBINED}Error: ErrImagePull` })), 'ImagePullBackOff error')
  })

  test('the UID of a pod is removed, and other text in parentheses stays', () => {
    const uid = '(6d0f2b7e-5f1c-4a55-9d35-0c6a1b2f3e4d)'
    assert.equal(withoutPodUid(`Back-off in pod web-x2kqp_shop${uid}: again`), 'Back-off in pod web-x2kqp_shop: again')
    for (const text of [`request ${uid} failed`, 'web-x2kqp_shop(3 times)', `web_${uid}`])
      assert.equal(withoutPodUid(text), text)
  })

  test('an image that is denied, missing or rate limited has its own hint', () => {
    const hint = (message: string) =>
      judge('Failed', { message: `Failed to pull image "r/x:1": ${message}` }).hint ?? ''
    assert.match(hint('unexpected status code 401 Unauthorized'), /credentials/)
    assert.match(hint('r/x:1: not found'), /tag/)
    assert.match(hint('429 toomanyrequests'), /rate/)
    assert.match(hint('something else'), /cannot be pulled/)
  })

  test('only the kubelet means a probe with Unhealthy', () => {
    const well = (kind: string, group: string) => endsAll({ reason: 'Healthy', message: '', kind }, group)
    for (const kind of ['Elasticsearch', 'Redis', 'NetworkEndpointGroup']) {
      const { group, severity } = judge('Unhealthy', { message: 'cluster health degraded', kind, type: 'Warning' })
      assert.deepEqual([group, severity, meansUnavailable(group)], [`Unhealthy (${kind})`, 'warning', false])
      assert.deepEqual([quietPeriodOf(group, 30, true), well(kind, group)], [15 * MINUTE, true])
    }
    const probe = judge('Unhealthy', { message: 'Liveness probe failed: x' }).group
    assert.deepEqual([probe, meansUnavailable(probe), well('Pod', probe)], ['Unhealthy (liveness)', true, true])
    assert.ok(meansUnavailable(judge('Unhealthy').group))
  })

  test('a pod on a node that is not ready has a separate condition', () => {
    const pod = judge('NodeNotReady', { message: 'Node is not ready' }).group
    const node = judge('NodeNotReady', { message: 'Node w-1 status is now: NodeNotReady', kind: 'Node' }).group
    assert.deepEqual([hasCounterpart(pod), hasCounterpart(node)], [false, true])
  })
})

describe("the sender's type", () => {
  test('Warning raises a known or unknown info to warning', () => {
    assert.deepEqual(
      ['Killing', 'SandboxChanged']
        .map((reason) => judge(reason, { type: 'Warning' }))
        .map((f) => `${f.severity} ${f.rule}`),
      ['warning type Warning', 'warning type Warning'],
    )
  })

  test('Warning does not lower a warning', () => {
    assert.equal(judge('FailedSync', { type: 'Warning' }).severity, 'warning')
  })

  test('Normal keeps an unknown reason that looks like a failure at info', () => {
    assert.equal(judge('UpgradeFailed', { type: 'Normal' }).severity, 'info')
  })

  test('Normal does not override the table, because Kubernetes sends NodeNotReady as Normal', () => {
    assert.equal(judge('NodeNotReady', { type: 'Normal', kind: 'Node' }).severity, 'critical')
  })
})

describe('repetition', () => {
  const cases = [
    [1, 1, 1, false],
    [4, 1, 2, false],
    [5, 1, 1, true],
    [1, 2, 1, true],
    [1, 1, 3, true],
    [0, 0, 0, false],
  ] as const
  for (const [count, pods, inTenMinutes, expected] of cases) {
    test(`count ${count}, ${pods} pods, ${inTenMinutes} in ten minutes: ${expected}`, () =>
      assert.equal(isRepeated({ count, pods, inTenMinutes }), expected))
  }
})

describe('any input', () => {
  const reasons = listed.map(({ reason }) => reason)
  const messages = [...MESSAGE_CASES.map(([, message]) => message), ...REASONLESS_CASES.map(([message]) => message)]
  const text = fc.string({ unit: 'binary', maxLength: 60 })
  const event = fc.record({
    reason: fc.oneof(fc.constantFrom(...reasons, ...NODE_REASONS, ''), text),
    message: fc.oneof(fc.constantFrom(...messages), text),
    type: fc.constantFrom('Normal' as const, 'Warning' as const, null),
    kind: fc.oneof(fc.constantFrom('Pod', 'Node', 'Job', 'Deployment'), text),
  })
  const runs = { numRuns: 2000 }

  test('nothing throws, and every result has a name', () => {
    fc.assert(
      fc.property(event, text, (sent, name) => {
        ends(sent)
        rolloutOf(sent.message)
        failureOfAlert(name)
        assert.notEqual(judgeReason(sent).group, '')
      }),
      runs,
    )
  })

  test('Warning is never less severe than no type, and no type never less severe than Normal', () => {
    const severity = (sent: Event, type: Event['type']) => rank(judgeReason({ ...sent, type }).severity)
    fc.assert(
      fc.property(event, (sent) => {
        // What is taken away on purpose is no problem, whatever its type.
        fc.pre(judgeReason({ ...sent, type: null }).rule !== 'message subtype: expected')
        assert.ok(severity(sent, 'Warning') >= severity(sent, null))
        assert.ok(severity(sent, null) >= severity(sent, 'Normal'))
        assert.ok(severity(sent, 'Warning') >= rank('warning'))
      }),
      runs,
    )
  })

  test('the prefix of combined events does not change the result', () => {
    fc.assert(
      fc.property(event, (sent) => {
        const combined = { ...sent, message: COMBINED + sent.message }
        assert.deepEqual(judgeReason(combined), judgeReason(sent))
        assert.deepEqual(ends(combined), ends(sent))
      }),
      runs,
    )
  })

  test('an event never ends the condition that it starts', () => {
    fc.assert(
      fc.property(event, (sent) => {
        assert.ok(!ends(sent).includes(judgeReason(sent).group))
      }),
      runs,
    )
  })

  test('a hostile message of 1 MB is processed without backtracking', () => {
    const hostile = ['-', 'A', 'Scaled up replica set ', COMBINED, 'Error: secret "', ' '].map((part) =>
      part.repeat(2 ** 20 / part.length),
    )
    // This takes milliseconds in linear time, and minutes otherwise.
    assertQuick(5_000, () => {
      for (const message of hostile) {
        judge('', { message })
        rolloutOf(message)
        failureOfAlert(message)
      }
    })
  })
})

test('The type comes from the sender, or from the Kubernetes default', () => {
  const typeOf = (reason: string, kind: string, message = '', type: 'Normal' | 'Warning' | null = null) =>
    judgeReason({ reason, message, type, kind }).type
  assert.deepEqual([typeOf('Scheduled', 'Pod'), typeOf('FailedMount', 'Pod')], ['Normal', 'Warning'])
  assert.deepEqual([typeOf('NodeNotReady', 'Node'), typeOf('NodeNotReady', 'Pod')], ['Normal', 'Warning'])
  assert.equal(typeOf('Killing', 'Pod', 'Container app failed liveness probe, will be restarted'), 'Normal')
  assert.equal(typeOf('BackOff', 'Pod', 'Back-off pulling image "shop/cart:2"'), 'Normal')
  assert.equal(typeOf('BackOff', 'Pod', 'Back-off restarting failed container app in pod cart-1'), 'Warning')
  assert.equal(typeOf('FailedMount', 'Pod', '', 'Normal'), 'Normal')
})
