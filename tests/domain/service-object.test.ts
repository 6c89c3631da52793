/** How owner references and labels determine an object's service. service-objects.tsv covers names. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { attribute, namesToFind } from '../../src/domain/service/service.ts'
import { clusterDraft } from './service-cases.ts'

describe('owners and labels of an object', () => {
  const pod = 'orders-db-postgresql-0'
  const table: [string, Parameters<typeof clusterDraft>[0], string, string, string][] = [
    ['a ReplicaSet', { name: 'x', owners: [{ kind: 'ReplicaSet', name: 'web-7d9f5b6c8' }] }, 'web', 'owner', 'event'],
    ['a StatefulSet', { name: 'db-1-0', owners: [{ kind: 'StatefulSet', name: 'db-1' }] }, 'db-1', 'owner', 'event'],
    ['a DaemonSet', { name: 'a-bcdfg', owners: [{ kind: 'DaemonSet', name: 'a' }] }, 'a', 'owner', 'event'],
    ['a CronJob', { kind: 'Job', name: 'b', owners: [{ kind: 'CronJob', name: 'c' }] }, 'c', 'owner', 'event'],
    ['a Job of a CronJob', { name: 'b', owners: [{ kind: 'Job', name: 'c-28912345' }] }, 'c', 'owner', 'event'],
    ['a one-off Job', { name: 'b', owners: [{ kind: 'Job', name: 'c' }] }, 'c', 'owner', 'alert'],
    ['an unknown kind', { name: 'b', owners: [{ kind: 'StrimziPodSet', name: 'c' }] }, 'c', 'owner', 'alert'],
    ['a nameless one', { name: 'db-0', owners: [{ kind: 'Job', name: ' ' }] }, 'db', 'statefulset pod', 'event'],
    ['a Node', { name: 'etcd-n1', owners: [{ kind: 'Node', name: 'n1' }] }, 'etcd', 'owner', 'alert'],
    [
      'a ReplicaSet before a label',
      { name: 'x', labels: { app: 'y' }, owners: [{ kind: 'ReplicaSet', name: 'web-7d9f5b6c8' }] },
      'web',
      'owner',
      'event',
    ],
    ['a label before the name', { name: 'web-7d9f5b6c8-xk2lp', labels: { app: 'y' } }, 'y', 'label app', 'event'],
    [
      'app.kubernetes.io/name before app',
      { name: 'x-0', labels: { app: 'y', 'app.kubernetes.io/name': 'z' } },
      'z',
      'label app.kubernetes.io/name',
      'event',
    ],
    [
      'a chart installed twice',
      { name: pod, labels: { 'app.kubernetes.io/name': 'postgresql', 'app.kubernetes.io/instance': 'orders-db' } },
      'orders-db-postgresql',
      'statefulset pod',
      'event',
    ],
    [
      'the template hash',
      { name: 'web-5-7d9f5-xk2lp', labels: { app: 'y', 'pod-template-hash': '7d9f5' } },
      'web-5',
      'label pod-template-hash',
      'event',
    ],
    [
      'a job label',
      { name: 'x', labels: { app: 'y', 'batch.kubernetes.io/job-name': 'c-28912345' } },
      'c',
      'label batch.kubernetes.io/job-name',
      'event',
    ],
    ['the older job label', { name: 'x', labels: { 'job-name': 'c' } }, 'c', 'label job-name', 'alert'],
    [
      'a workload with an owner',
      { kind: 'Deployment', name: 'a', owners: [{ kind: 'Kafka', name: 'b' }] },
      'a',
      'workload',
      'event',
    ],
    ['a workload with a label', { kind: 'StatefulSet', name: 'a', labels: { app: 'b' } }, 'a', 'workload', 'event'],
    ['a Service with a label', { kind: 'Service', name: 'a', labels: { app: 'b' } }, 'a', 'own name', 'alert'],
    [
      'a run of a cron workflow',
      {
        name: 'etl-vmfd6-load-1234567890',
        labels: { 'workflows.argoproj.io/cron-workflow': 'etl' },
        owners: [{ kind: 'Workflow', name: 'etl-vmfd6' }],
      },
      'etl',
      'label workflows.argoproj.io/cron-workflow',
      'alert',
    ],
    ['a run of a workflow', { name: 'x', owners: [{ kind: 'Workflow', name: 'etl-vmfd6' }] }, 'etl', 'owner', 'alert'],
    [
      'a run of a labelled job',
      {
        name: 'spark-pi-driver',
        labels: { 'app.kubernetes.io/name': 'pi' },
        owners: [{ kind: 'SparkApplication', name: 'spark-pi-1763977000' }],
      },
      'pi',
      'label app.kubernetes.io/name',
      'event',
    ],
    [
      'a run of a pipeline',
      {
        name: 'build-run-9k2xq-clone-pod',
        labels: { 'tekton.dev/pipeline': 'build' },
        owners: [{ kind: 'TaskRun', name: 'build-run-9k2xq-clone' }],
      },
      'build',
      'label tekton.dev/pipeline',
      'alert',
    ],
    [
      'a revision of Knative',
      {
        name: 'hello-00002-deployment-5d8c7b9f4d-x2x7k',
        owners: [{ kind: 'ReplicaSet', name: 'hello-00002-deployment-5d8c7b9f4d' }],
      },
      'hello',
      'owner',
      'event',
    ],
    [
      'a pod of a DeploymentConfig',
      {
        name: 'web-4-x2x7k',
        labels: { deploymentconfig: 'web' },
        owners: [{ kind: 'ReplicationController', name: 'web-4' }],
      },
      'web',
      'label deploymentconfig',
      'event',
    ],
    [
      'an analysis',
      { kind: 'AnalysisRun', name: 'r-7d9f5b6c8-4-2', owners: [{ kind: 'Rollout', name: 'r' }] },
      'r',
      'owner',
      'event',
    ],
    ['blank labels', { name: 'db-0', labels: { app: ' ' } }, 'db', 'statefulset pod', 'event'],
  ]
  for (const [title, object, name, rule, creates] of table)
    it(`${title} names ${name}`, () => {
      const expected = { namespace: 'shop', name, rule: { by: 'object', how: rule }, creates }
      assert.deepEqual(attribute(clusterDraft(object), []), expected)
    })

  it('requests the workload behind an owner', () => {
    const draft = clusterDraft({ name: 'x', owners: [{ kind: 'ReplicaSet', name: 'a-bcdf45' }] })
    assert.ok(namesToFind(draft).some((it) => it.name === 'a' && it.namespace === 'shop'))
  })
})
