/** Which labels stay the same when an exporter restarts. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { attribute } from '../../src/domain/service/service.ts'
import { alertDraft, labelsOf, logicalLabels } from './service-cases.ts'

describe('logical labels', () => {
  const table: [string, string, string][] = [
    ['of a target scraped itself keep its pod and address', 'pod=db-0 instance=a:1 uid=1 severity=x', 'instance pod'],
    ['of kube-state-metrics lose what is its own', 'job=kube-state-metrics instance=a:1 pod=db-0 service=y', 'pod'],
    [
      'lose the pod of kube-state-metrics',
      'job=kube-state-metrics pod=kube-state-metrics-0 deployment=web',
      'deployment',
    ],
    ['of cAdvisor lose its address', 'job=kubelet pod=db-0 instance=a:10250 node=n1 namespace=s', 'namespace node pod'],
    [
      'of a claim lose the node that mounts it',
      'job=kubelet persistentvolumeclaim=data-db-0 instance=a:10250 node=n1 namespace=s',
      'namespace persistentvolumeclaim',
    ],
    [
      'of the volume of a claim lose the node that manages it',
      'job=longhorn-backend pvc=data-db-0 pvc_namespace=s node=n1',
      'pvc pvc_namespace',
    ],
    [
      'of a database lose the pod of the exporter that asked it',
      'job=pg server=orders-db:5432 instance=10.1.2.3:9187 pod=pg-exporter-7d9f5b6c8-xk2lp datname=shop',
      'datname job server',
    ],
    [
      'of a database keep the address that chose it',
      'job=redis instance=orders-redis.shop.svc:6379 pod=redis-exporter-7d9f5b6c8-xk2lp',
      'instance job',
    ],
    ['of a pod that has an address keep both', 'pod=db-0 instance=10.1.2.3:5432', 'instance pod'],
    ['of a node keep the address that chose it', 'job=node-exporter pod=node-exporter-x7k2p instance=a:1', 'instance'],
    ['of an exporter in trouble keep its names', 'job=kube-state-metrics namespace=m endpoint=x', 'job namespace'],
    [
      'lose the namespace that was renamed',
      'job=x namespace=m exported_namespace=s deployment=w',
      'deployment exported_namespace',
    ],
    ['lose replicas', 'service=web prometheus=a prometheus_replica=b replica=c container_id=d', 'service'],
    ['lose replicas of Thanos', 'service=web thanos_ruler_replica=a receive_replica=b rule_replica=c', 'service'],
    ['lose replicas of other rulers', 'service=web __replica__=a ruler_replica=b monitor=c', 'monitor service'],
  ]
  for (const [title, labels, kept] of table)
    it(title, () => {
      const draft = alertDraft(labelsOf(labels))
      assert.equal(Object.keys(logicalLabels(draft, attribute(draft, []))).join(' '), kept)
    })

  it('keep a label with which a person assigned the service', () => {
    const draft = alertDraft({ replica: 'eu', job: 'x', severity: 'critical' })
    const rule = { by: 'alias', alias: 'label', label: 'replica', value: 'eu' } as const
    const attribution = { namespace: '', name: 'x', rule, creates: 'alert' } as const
    assert.deepEqual(Object.keys(logicalLabels(draft, attribution)), ['job', 'replica'])
  })

  it('never change when kube-state-metrics restarts with another address', () => {
    const generated = fc.tuple(
      fc.stringMatching(/^[a-z]{1,20}$/),
      fc.stringMatching(/^[4-9bcdf]{6,10}-[bcdfg]{5}$/),
      fc.ipV4(),
    )
    fc.assert(
      fc.property(generated, ([deployment, suffix, host]) => {
        const scrape = { job: 'kube-state-metrics', pod: `kube-state-metrics-${suffix}`, instance: `${host}:8080` }
        const draft = alertDraft({ namespace: 'shop', deployment, ...scrape })
        assert.deepEqual({ ...logicalLabels(draft, attribute(draft, [])) }, { deployment, namespace: 'shop' })
      }),
      { numRuns: 1000 },
    )
  })
})
