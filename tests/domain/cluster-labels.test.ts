/** The labels that name the Kubernetes cluster. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { clusterInLabels } from '../../src/domain/service/cluster.ts'

describe('the cluster of an alert', () => {
  for (const label of ['cluster', 'k8s_cluster_name', 'k8s.cluster.name', 'resource.label.cluster_name'])
    test(`is named by ${label}`, () => assert.equal(clusterInLabels({ [label]: 'prod' }), 'prod'))
  test('is not the cluster of a database', () =>
    assert.equal(clusterInLabels({ cluster: 'orders', job: 'kafka-exporter' }), ''))
  test('is not named by the placeholder of a template', () =>
    assert.equal(clusterInLabels({ cluster: '[no value]' }), ''))
  test('is not named by another label', () =>
    assert.equal(clusterInLabels({ 'resource.label.project_id': 'acme' }), ''))
})
