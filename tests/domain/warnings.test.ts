/** Warnings about the service and the times of an accepted item. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { attribute } from '../../src/domain/service/service.ts'
import { warningsAbout } from '../../src/domain/service/warnings.ts'
import { alertDraft, clusterDraft } from './service-cases.ts'

function warnings(labels: Record<string, string>, token = '', offset = 0, nature: 'alert' | 'heartbeat' = 'alert') {
  const draft = alertDraft(labels, { nature })
  return warningsAbout(draft, attribute(draft, []).rule, token, offset)
}

test('an alert that names a service has no warning', () => assert.deepEqual(warnings({ service: 'web' }), []))

test('an alert without a service is told which labels would name one', () => {
  assert.match(warnings({ team: 'shop' })[0] ?? '', /^labels: none .* unattributed; add a label such as deployment/)
})

test('a heartbeat needs no service', () => assert.deepEqual(warnings({ team: 'x' }, '', 0, 'heartbeat'), []))

test('the cluster of a database is ignored', () => {
  for (const labels of [{ alertname: 'CephOSDDown' }, { job: 'elasticsearch-exporter' }, { cnpg_io_cluster: 'pg' }])
    assert.match(warnings({ ...labels, service: 'db', cluster: 'main' })[0] ?? '', /^labels.cluster: names a database/)
})

test('the cluster of a database that names the service is not called ignored', () => {
  for (const alertname of ['KafkaBrokerDown', 'ElasticsearchClusterRed', 'CNPGClusterOffline'])
    assert.match(warnings({ alertname, cluster: 'main' })[0] ?? '', /^labels.cluster: .*, so it names the service; /)
})

test('other databases and the label cluster_name are recognized, too', () => {
  const alerts = ['MySQLGaleraOutOfSync', 'TiKVDown', 'CockroachDBDown', 'PulsarBrokerDown']
  for (const alertname of alerts)
    assert.match(warnings({ alertname, service: 'db', cluster: 'main' })[0] ?? '', /^labels.cluster: names a database/)
  const crunchy = { job: 'crunchy-postgres-exporter', service: 'db', cluster_name: 'hippo' }
  assert.match(warnings(crunchy)[0] ?? '', /^labels.cluster_name: names a database/)
  assert.deepEqual(warnings({ job: 'cart', service: 'cart', cluster_name: 'eu-1' }), [])
})

test('the cluster of a database does not matter if the token names the cluster', () => {
  assert.deepEqual(warnings({ alertname: 'RedisDown', service: 'db', cluster: 'main' }, 'eu-1'), [])
})

test('a corrected time is told for alerts and events', () => {
  assert.match(warnings({ service: 'web' }, '', 180_000)[0] ?? '', /corrected by 3 minutes, .* is ahead$/)
  const draft = clusterDraft({ name: 'web-1' })
  assert.match(warningsAbout(draft, attribute(draft, []).rule, '', -3_600_000)[0] ?? '', /60 minutes, .* is behind$/)
})
