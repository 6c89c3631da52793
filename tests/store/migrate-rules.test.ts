/** The migration of the sentences that said why an alert belongs to its service. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrationText } from '../../src/assets.ts'
import type { Source } from '../../src/domain/event/event.ts'
import { ruleText, type ServiceRule } from '../../src/domain/service/service.ts'
import { makeAlert, makeOrganization, makeService } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const SENTENCES: readonly [source: string, sentence: string, rule: ServiceRule][] = [
  ['metrics', 'label deployment', { by: 'label', label: 'deployment' }],
  ['metrics', 'label pod: deployment pod', { by: 'label', label: 'pod', how: 'deployment pod' }],
  ['metrics', 'exporter label job', { by: 'exporter label', label: 'job' }],
  ['dashboard', 'exporter label pod: pod', { by: 'exporter label', label: 'pod', how: 'pod' }],
  ['metrics', 'unattributed', { by: 'none' }],
  ['metrics', 'alias label team=a: b=c', { by: 'alias', alias: 'label', label: 'team', value: 'a: b=c' }],
  ['cluster', 'alias workload', { by: 'alias', alias: 'workload' }],
  ['ci', 'alias ci-project', { by: 'alias', alias: 'ci-project' }],
  ['cluster', 'owner', { by: 'object', how: 'owner' }],
  ['cluster', 'label app.kubernetes.io/name', { by: 'object', how: 'label app.kubernetes.io/name' }],
  ['ci', 'image path', { by: 'project', how: 'image path' }],
  [
    'cluster',
    'owner; adopted into the cluster eu-1',
    { by: 'object', how: 'owner', cluster: { by: 'adopted', name: 'eu-1' } },
  ],
  [
    'metrics',
    'label app; the only cluster with this service is prod',
    { by: 'label', label: 'app', cluster: { by: 'only', name: 'prod' } },
  ],
  ['metrics', 'a rule of an unknown version', { code: 'text', text: 'a rule of an unknown version' }],
  ['ci', '', { code: 'text', text: '' }],
]

for (const [source, sentence, rule] of SENTENCES) {
  test(`the sentence “${sentence}” of ${source} becomes a structure that reads the same`, (t) => {
    assert.deepEqual(migrated(t, source, sentence), { service: rule, severity: 'label severity', identity: 'x' })
    assert.equal(ruleText(rule), sentence)
  })
}

test('a structure is left alone, so that the migration can be repeated', (t) => {
  const rule = { by: 'label', label: 'x; adopted into the cluster y' }
  assert.deepEqual(migrated(t, 'metrics', rule).service, rule)
})

/** Returns an alert's rules after the migration. */
function migrated(t: TestContext, source: string, service: unknown) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const rules = JSON.stringify({ service, severity: 'label severity', identity: 'x' })
  makeAlert(db, acme, makeService(db, acme, 'cart'), {})
  db.run(db.sql.updateTable('alerts').set({ source: source as Source, rules }))
  db.execute(migrationText('0005_structure_service_rules'))
  return JSON.parse(db.first(db.sql.selectFrom('alerts').select('rules'))?.rules ?? '')
}
