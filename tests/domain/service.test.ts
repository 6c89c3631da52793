/** Which service an event belongs to. See the tables in service-*.tsv. */

import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Draft } from '../../src/domain/event/event.ts'
import {
  aliasesToFind,
  attribute,
  matchesName,
  namesToFind,
  nodeOf,
  ruleText,
  UNATTRIBUTED,
} from '../../src/domain/service/service.ts'
import * as cases from './service-cases.ts'

/** Determines the service like the write path does: only requested services are known. */
function decide({ draft, known, images }: cases.Case<Draft>) {
  const asked = namesToFind(draft)
  const found = known.filter((name) => asked.some((it) => matchesName(it, name)))
  const attribution = attribute(draft, found, images)
  return { ...attribution, rule: ruleText(attribution.rule) }
}

describe('a Kubernetes object belongs to', () => {
  for (const row of cases.objectCases()) it(row.title, () => assert.deepEqual(decide(row), row.expected))
})

describe('labels name', () => {
  for (const row of cases.labelCases()) it(row.title, () => assert.deepEqual(decide(row), row.expected))
})

describe('a project belongs to', () => {
  for (const row of cases.projectCases()) it(row.title, () => assert.deepEqual(decide(row), row.expected))
})

describe('unattributed', () => {
  it('includes heartbeats with any labels', () => {
    const draft = cases.alertDraft({ namespace: 'shop', service: 'web' }, { nature: 'heartbeat' })
    assert.equal(attribute(draft, []).name, UNATTRIBUTED)
  })

  it("includes the alert from Grafana's Test button, whose instance is not a node", () => {
    const draft = cases.alertDraft(
      { alertname: 'TestAlert', instance: 'Grafana' },
      { nature: 'test', source: 'dashboard' },
    )
    assert.equal(attribute(draft, []).name, UNATTRIBUTED)
  })

  it('includes objects without a name', () => assert.equal(attribute(cases.clusterDraft({}), []).name, UNATTRIBUTED))

  it('includes hooks without a project', () => {
    const draft = {
      source: 'ci',
      kind: 'other',
      objectKind: 'push',
      project: null,
      at: 0,
      payload: '{}',
      links: {},
    } as const
    assert.equal(attribute(draft, []).name, UNATTRIBUTED)
    assert.deepEqual(aliasesToFind(draft), [])
  })

  it('excludes no-data alerts, whose labels still name the service', () => {
    const draft = cases.alertDraft({ namespace: 'shop', service: 'web' }, { nature: 'no-data', source: 'dashboard' })
    assert.equal(attribute(draft, []).name, 'web')
  })
})

describe('pipelines that create a service', () => {
  const path = { path: 'team/web', name: 'Web', defaultBranch: 'main' }
  const creates = (rest: Parameters<typeof cases.pipelineDraft>[0]) => attribute(cases.pipelineDraft(rest), []).creates

  it('a tag does', () => assert.equal(creates({ project: path, ref: 'v1', tag: true }), 'event'))
  it('a merge request does not', () => assert.equal(creates({ project: path, mergeRequest: true }), 'alert'))
  it('a deploy from any branch does', () =>
    assert.equal(creates({ project: path, ref: 'x', jobs: [cases.job({ name: 'deploy' })] }), 'event'))
  it('a pending manual deploy does not', () =>
    assert.equal(
      creates({ project: path, ref: 'x', jobs: [cases.job({ name: 'deploy', status: 'manual' })] }),
      'alert',
    ))
  it('a job only if it deploys', () => {
    const draft = { source: 'ci', kind: 'job', project: path, pipelineId: '1', ref: 'main', tag: false } as const
    const common = { sha: null, commit: null, links: {}, at: 0, payload: '{}' }
    assert.equal(attribute({ ...draft, ...common, job: cases.job({ name: 'lint' }) }, []).creates, 'alert')
    assert.equal(attribute({ ...draft, ...common, job: cases.job({ name: 'deploy' }) }, []).creates, 'event')
  })
})

describe('aliases', () => {
  it('of an alert are its workload, the object as it was sent, and each label', () => {
    const draft = cases.alertDraft({ namespace: 'shop', pod: 'web-7d9f5b6c8-xk2lp' })
    assert.deepEqual(aliasesToFind(draft), [
      { kind: 'workload', value: 'shop/web' },
      { kind: 'workload', value: 'shop/web-7d9f5b6c8-xk2lp' },
      { kind: 'label', value: 'namespace=shop' },
      { kind: 'label', value: 'pod=web-7d9f5b6c8-xk2lp' },
    ])
  })

  it('of an event are its workload, the object, its labels and its image', () => {
    const message = 'Pulling image "registry.example.com:5000/team/web:1.2"'
    const draft = cases.clusterDraft({ name: 'db-0', labels: { tier: 'a' } }, { message })
    assert.deepEqual(aliasesToFind(draft), [
      { kind: 'workload', value: 'shop/db' },
      { kind: 'workload', value: 'shop/db-0' },
      { kind: 'label', value: 'tier=a' },
      { kind: 'image', value: 'team/web' },
    ])
  })

  it('of a pipeline are its project, then its service', () => {
    assert.deepEqual(aliasesToFind(cases.pipelineDraft({}), [{ namespace: 'shop', name: 'web' }]), [
      { kind: 'ci-project', value: 'team/web' },
      { kind: 'workload', value: 'team/web' },
    ])
  })
})

describe('the node of a draft', () => {
  const table: [string, Draft, string | null][] = [
    ['a Node', cases.clusterDraft({ kind: 'Node', name: 'n1' }), 'n1'],
    ['a pod', cases.clusterDraft({ name: 'db-0', node: 'n1' }), 'n1'],
    ['a pod without', cases.clusterDraft({ name: 'db-0', node: ' ' }), null],
    ['the label', cases.alertDraft({ pod: 'db-0', node: 'n1' }), 'n1'],
    ['node-exporter', cases.alertDraft({ job: 'node-exporter', instance: 'n1:9100' }), 'n1'],
    ['cAdvisor', cases.alertDraft({ job: 'kubelet', pod: 'db-0', instance: 'n1:10250' }), 'n1'],
    ['an instance alone', cases.alertDraft({ instance: 'n1:9100' }), 'n1'],
    ['an application', cases.alertDraft({ job: 'web', instance: '10.1.2.3:8080' }), null],
    ['the exporter of a pod', cases.alertDraft({ job: 'kube-state-metrics', pod: 'db-0', node: 'n9' }), null],
    ['a node of kube-state-metrics', cases.alertDraft({ job: 'kube-state-metrics', node: 'n1' }), 'n1'],
    ['a pipeline', cases.pipelineDraft({}), null],
  ]
  for (const [title, draft, node] of table) it(`${title}: ${node}`, () => assert.equal(nodeOf(draft), node))
})
