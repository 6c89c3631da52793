/** Signals: how a draft is stored, and which condition it reports or ends. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isUnattributed, judge, makesAlert } from '../../src/domain/alert/signal.ts'
import type { AlertDraft, ClusterDraft, Draft, KubernetesObject, PipelineDraft } from '../../src/domain/event/event.ts'
import { NOON } from '../helpers/signals.ts'
import { alertDraft, clusterDraft, job, pipelineDraft } from './service-cases.ts'

const CART = { cluster: 'eu', namespace: 'shop', name: 'cart' }
const attribution = {
  namespace: 'shop',
  name: 'cart',
  rule: { by: 'label', label: 'deployment' },
  creates: 'alert',
} as const
const read = (draft: Draft, target = CART) => judge(draft, target, attribution as Parameters<typeof judge>[2])

const event = (
  reason: string,
  message = '',
  object: Partial<KubernetesObject> = {},
  more: Partial<ClusterDraft> = {},
) => clusterDraft({ name: 'cart-7d9f5b6c8-aaaaa', ...object }, { reason, message, at: NOON, startsAt: NOON, ...more })
const alert = (labels: Record<string, string> = {}, more: Partial<AlertDraft> = {}) =>
  alertDraft({ alertname: 'HighLatency', ...labels }, { name: 'HighLatency', fingerprint: 'f1', ...more })
const pipeline = (more: Partial<PipelineDraft> = {}) => pipelineDraft({ status: 'failed', at: NOON, ...more })
const deploy = (status: string, more = {}) => job({ name: 'deploy', status, ...more })
const idOf = (draft: Draft, target = CART) => read(draft, target).signal?.fingerprint
const keyOf = (draft: Draft, target = CART) => read(draft, target).signal?.logicalKey

describe('a Kubernetes event', () => {
  const cases: readonly (readonly [string, Draft, string, boolean, boolean])[] = [
    ['from warning on shows a condition', event('FailedScheduling'), 'firing', true, false],
    ['of info is history', event('Pulling'), 'info', false, false],
    ['of info may tell of a deletion', event('Killing', 'Stopping container cart'), 'info', false, true],
    ['of a started pod may tell of a replaced one', event('Started'), 'info', false, true],
    ['of info may tell of an end', event('Scheduled'), 'info', false, true],
    ['may tell that help is on its way', event('TriggeredScaleUp'), 'info', false, true],
    [
      'may tell of a change',
      event('ScalingReplicaSet', 'Scaled up replica set cart-x to 1', { kind: 'Deployment' }),
      'change',
      false,
      true,
    ],
    [
      'without a reason is read by its message',
      event('', 'Back-off restarting failed container'),
      'firing',
      true,
      false,
    ],
    ['that says nothing is history', event('', ''), 'info', false, false],
  ]
  for (const [title, draft, kind, signals, tells] of cases) {
    test(title, () => {
      const { event, signal, tellsOfEnds } = read(draft)
      assert.deepEqual([event.kind, signal !== null, tellsOfEnds], [kind, signals, tells])
    })
  }

  test('names its object, its count and whether it escalates', () => {
    const { event: kept, signal } = read(event('FailedScheduling', '', {}, { count: 7 }))
    assert.equal(kept.object, 'Pod/cart-7d9f5b6c8-aaaaa')
    assert.deepEqual(signal?.sighting, { object: 'cart-7d9f5b6c8-aaaaa', count: 7, escalates: true })
  })

  test('with labels named like JavaScript’s own properties keeps plain labels', () =>
    assert.equal(Object.getPrototypeOf(read(event('FailedMount')).signal?.labels), null))

  test('has a one-line text of at most 300 characters', () => {
    const { text } = read(event('FailedMount', `a\n\tb ${'😀'.repeat(300)}`)).event
    assert.ok(text.startsWith('a b 😀') && text.length <= 300 && text.isWellFormed())
  })
})

describe('the identity of a Kubernetes condition', () => {
  const here = event('ErrImagePull')
  const cases: readonly (readonly [string, Draft, boolean])[] = [
    ['outlives a restarted pod', event('ErrImagePull', '', { name: 'cart-7d9f5b6c8-bbbbb' }), true],
    ['is one for ErrImagePull and ImagePullBackOff', event('ImagePullBackOff'), true],
    ['is another for another reason', event('FailedMount'), false],
    ['is another for another container', event('ErrImagePull', '', { container: 'sidecar' }), false],
    ['is another for another kind of object', event('ErrImagePull', '', { kind: 'Job' }), false],
  ]
  for (const [title, draft, same] of cases) test(title, () => assert.equal(idOf(draft) === idOf(here), same))

  for (const other of [
    { ...CART, cluster: 'us' },
    { ...CART, namespace: 'dev' },
    { ...CART, name: 'web' },
  ]) {
    test(`is another in ${Object.values(other).join('/')}`, () => assert.notEqual(idOf(here, other), idOf(here)))
  }
})

describe('an item of Alertmanager or Grafana', () => {
  const cases: readonly (readonly [string, Draft, string, string | null])[] = [
    ['without a severity is a warning', alert(), 'firing', 'warning'],
    ['of info makes an alert all the same', alert({ severity: 'info' }), 'firing', 'info'],
    ['of severity none makes none', alert({ severity: 'none' }), 'firing', null],
    ['that is a heartbeat makes none', alert({ severity: 'critical' }, { nature: 'heartbeat' }), 'heartbeat', null],
    ['of the Test button makes none', alert({}, { nature: 'test' }), 'test', null],
    [
      'without data is a warning whatever its label',
      alert({ severity: 'critical' }, { nature: 'no-data' }),
      'firing',
      'warning',
    ],
    [
      'that is resolved ends',
      alert({ severity: 'page' }, { status: 'resolved', endsAt: NOON }),
      'resolved',
      'critical',
    ],
  ]
  for (const [title, draft, kind, severity] of cases) {
    test(title, () => {
      const { event, signal } = read(draft)
      assert.deepEqual([event.kind, signal?.severity ?? null], [kind, severity])
    })
  }

  test("keeps the sender's severity", () => assert.equal(read(alert({ severity: 'Page ' })).signal?.said, 'Page '))
  test('keeps the sender’s fingerprint', () => assert.equal(idOf(alert({}, { fingerprint: 'abc' })), 'abc'))
  test('has a name that says that something fails', () =>
    assert.equal(read(alert({}, { name: 'KubePodCrashLooping' })).signal?.failure, 'crash'))
  test('without data is a failure of the monitoring, whatever its rule is called', () =>
    assert.equal(read(alert({}, { name: 'KubePodCrashLooping', nature: 'no-data' })).signal?.failure, 'monitoring'))

  for (const [annotations, text] of [
    [{ summary: 's', message: 'm' }, 's'],
    [{ summary: '', description: 'd' }, 'd'],
    [{}, 'HighLatency'],
  ] as const) {
    test(`is summarized as ${text}`, () => assert.equal(read(alert({}, { annotations })).event.text, text))
  }
})

describe('the logical key', () => {
  const here = keyOf(alert({ deployment: 'cart', prometheus_replica: 'a', severity: 'warning' }))
  const cases: readonly (readonly [string, Record<string, string>, boolean])[] = [
    [
      'outlives another replica and severity',
      { deployment: 'cart', prometheus_replica: 'b', severity: 'critical' },
      true,
    ],
    ['is another for another label', { deployment: 'cart', route: '/pay' }, false],
    ['is another for another deployment', { deployment: 'web' }, false],
  ]
  for (const [title, labels, same] of cases) test(title, () => assert.equal(keyOf(alert(labels)) === here, same))

  test('differs for another alert with the same labels', () =>
    assert.notEqual(keyOf(alert({ deployment: 'cart' }, { name: 'HighErrors' })), here))
  test('stays the same while its service gets a cluster or another name', () =>
    assert.equal(keyOf(alert({ deployment: 'cart' }), { ...CART, cluster: 'us', name: 'basket' }), here))
  test('of a dashboard alert is its fingerprint', () => {
    const [a, b] = ['f1', 'f2'].map((fingerprint) => keyOf(alert({}, { source: 'dashboard', fingerprint })))
    assert.notEqual(a, b)
  })
})

describe('a pipeline', () => {
  const branch = { ref: 'dev' }
  const cases: readonly (readonly [string, Draft, string | null, string | null])[] = [
    ['that failed on the default branch is an info', pipeline(), 'firing', 'info'],
    ['whose deploy failed is a warning', pipeline({ jobs: [deploy('failed')] }), 'firing', 'warning'],
    [
      'whose deploy failed on a branch is one, too',
      pipeline({ ...branch, jobs: [deploy('failed')] }),
      'firing',
      'warning',
    ],
    [
      'whose deploy may fail is an info',
      pipeline({ jobs: [deploy('failed', { allowFailure: true })] }),
      'firing',
      'info',
    ],
    ['of a tag counts', pipeline({ ref: 'v1', tag: true }), 'firing', 'info'],
    ['of a branch does not', pipeline(branch), null, null],
    ['of a branch whose deploy was skipped does not', pipeline({ ...branch, jobs: [deploy('skipped')] }), null, null],
    ['of a merge request does not', pipeline({ mergeRequest: true, jobs: [deploy('failed')] }), null, null],
    ['that succeeds ends', pipeline({ status: 'success' }), 'resolved', 'info'],
    [
      'that succeeds on a branch ends what a deploy there began',
      pipeline({ ...branch, status: 'success' }),
      'resolved',
      'info',
    ],
    ['that succeeds for a merge request ends nothing', pipeline({ status: 'success', mergeRequest: true }), null, null],
    ['that is cancelled says nothing', pipeline({ status: 'canceled' }), null, null],
    ['that runs says nothing', pipeline({ status: 'running' }), null, null],
  ]
  for (const [title, draft, status, severity] of cases) {
    test(title, () => {
      const { signal } = read(draft)
      assert.deepEqual([signal?.status ?? null, signal?.severity ?? null], [status, severity])
    })
  }

  test('is the same condition as the next pipeline of its ref', () =>
    assert.equal(idOf(pipeline()), idOf(pipeline({ pipelineId: '2' }))))
  test('is another condition on another ref', () =>
    assert.notEqual(idOf(pipeline()), idOf(pipeline({ ref: 'v1', tag: true }))))
  test('creates an alert only if it fails', () =>
    assert.deepEqual(
      ['failed', 'success'].map((status) => makesAlert(read(pipeline({ status })).signal!)),
      [true, false],
    ))
})

describe('items that are only stored', () => {
  const ci = { source: 'ci', at: NOON, payload: '{}', links: {}, project: pipeline().project } as const
  const of = (one: ReturnType<typeof job>) =>
    read({ ...ci, kind: 'job', pipelineId: '1', ref: 'main', tag: false, sha: null, commit: null, job: one })

  test('a failed deploy job is the condition of its pipeline, and another failed job is its evidence', () => {
    const { signal, evidenceOf } = of(deploy('failed'))
    const known = idOf(pipeline({ jobs: [deploy('failed')] }))
    assert.deepEqual([signal?.fingerprint, signal?.severity, evidenceOf], [known, 'warning', known])
    const unit = of(job({ name: 'unit', stage: 'test', status: 'failed' }))
    assert.deepEqual([unit.signal, unit.evidenceOf], [null, idOf(pipeline({}))])
  })

  for (const one of [deploy('success'), deploy('failed', { allowFailure: true })]) {
    test(`a job that is ${one.status} (${one.allowFailure ? 'may' : 'must not'} fail) is no evidence`, () =>
      assert.deepEqual([of(one).evidenceOf, of(one).event.severity], [null, 'info']))
  }

  test('any other hook is stored with its kind', () => {
    const { event, signal } = read({ ...ci, kind: 'other', objectKind: 'push', project: null })
    assert.deepEqual([event.kind, event.text, signal], ['other', 'push', null])
  })
})

test('only the service without namespace is unattributed', () => {
  const names = [
    { namespace: '', name: 'unattributed' },
    { namespace: 'shop', name: 'unattributed' },
    { namespace: '', name: 'x' },
  ]
  assert.deepEqual(names.map(isUnattributed), [true, false, false])
})
