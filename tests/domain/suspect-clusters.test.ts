/** Suspects: nodes of several clusters have the same names, and none fails for the pods of another cluster. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rankSuspects } from '../../src/domain/suspect/suspect.ts'
import { alert, event, facts } from './suspect-facts.ts'

/** Returns the suspected nodes of a service in cluster `own`, while worker-1 of cluster `other` is down. */
function suspectedNodes(own: string, other: string) {
  const services = [
    { id: 'web', cluster: own, namespace: 'shop', name: 'web' },
    { id: 'pay', cluster: other, namespace: 'shop', name: 'pay' },
    { id: 'n1', cluster: other, namespace: '', name: 'node/worker-1' },
  ]
  const alerts = [
    alert('web', 'TargetDown', 1, { severity: 'critical', node: 'worker-1', inIncident: true }),
    alert('pay', 'NodeNotReady (pod)', 1, { source: 'cluster', node: 'worker-1', severity: 'critical' }),
    alert('n1', 'KubeNodeNotReady', 0, { severity: 'critical' }),
  ]
  const events = [event('n1', 'NodeNotReady', 0, { object: 'Node/worker-1' })]
  return rankSuspects(facts({ services, alerts, events })).filter(({ kind }) => kind === 'node')
}

for (const [own, other] of [
  ['us', 'us'],
  ['', 'us'],
  ['us', ''],
] as const)
  test(`the node of a pod in cluster "${own}" is suspected if it failed in cluster "${other}"`, () => {
    assert.deepEqual(
      suspectedNodes(own, other).map(({ ref }) => ref),
      ['node/worker-1'],
    )
  })

test('a node of the same name in another cluster is not suspected', () => {
  assert.deepEqual(suspectedNodes('us', 'eu'), [])
})

test('a problem of a node is not blamed on the node of the same name in another cluster', () => {
  const services = ['eu', 'us'].map((cluster) => ({ id: cluster, cluster, namespace: '', name: 'node/worker-1' }))
  const alerts = services.map(({ id }) => alert(id, 'KubeNodeNotReady', 0, { severity: 'critical' }))
  const [suspect, ...others] = rankSuspects(facts({ services, alerts, of: 'us' }))
  assert.deepEqual([suspect?.serviceId, suspect?.evidence, others], ['us', [{ alertId: alerts[1]?.id }], []])
})

test('two workloads of the same name are told apart by their clusters, and one is not', () => {
  const refsIn = (clusters: readonly string[]) => {
    const services = clusters.map((cluster) => ({ id: cluster, cluster, namespace: 'shop', name: 'web' }))
    const alerts = clusters.map((cluster, index) =>
      alert(cluster, 'Down', index, { severity: 'critical', inIncident: index === 0 }),
    )
    return rankSuspects(facts({ services, alerts, of: clusters[0] ?? '' }))
      .map(({ ref }) => ref)
      .sort()
  }
  assert.deepEqual(refsIn(['eu', 'us']), ['shop/web in cluster eu', 'shop/web in cluster us'])
  assert.deepEqual(refsIn(['eu']), ['shop/web'])
})
