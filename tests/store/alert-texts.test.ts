/** The stored texts of an alert: short, and read back exactly. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Rules } from '../../src/domain/alert/rules.ts'
import type { Labels } from '../../src/domain/event/event.ts'
import { linksColumn, readRules, storedRules, textColumnsOf } from '../../src/store/alert-texts.ts'
import { makeAlert, makeOrganization, makeService } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Saves these columns of an alert, and returns its links as they are selected. */
function readBack(t: TestContext, columns: { readonly links: string; readonly annotations: string }) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  makeAlert(db, acme, makeService(db, acme, 'cart'), columns)
  return JSON.parse(db.first(db.sql.selectFrom('alerts').select(linksColumn))?.links ?? '')
}

const rest = { severity: 'label severity', identity: 'labels' } as const

for (const [title, rules] of [
  ['a label', { service: { by: 'label', label: 'pod' }, ...rest }],
  ['a label and how it was read', { service: { by: 'label', label: 'pod', how: 'deployment pod' }, ...rest }],
  [
    'a label in the only cluster',
    { service: { by: 'label', label: 'app', cluster: { by: 'only', name: 'eu' } }, ...rest },
  ],
  ['a label of an exporter', { service: { by: 'exporter label', label: 'job' }, ...rest }],
  ['an alias', { service: { by: 'alias', alias: 'label', label: 'team', value: 'a' }, ...rest }],
  ['nothing', { service: { by: 'none' }, ...rest }],
  ['a sentence of an older version', { service: { code: 'text', text: 'label x' }, ...rest }],
] as const satisfies readonly (readonly [string, Rules])[])
  test(`the rules of a service by ${title} are read back`, () => assert.deepEqual(readRules(storedRules(rules)), rules))

for (const [title, more] of [
  ['an unusual severity', { severity: 'annotation severity', identity: 'labels' }],
  ['an unusual identity', { severity: 'label severity', identity: 'fingerprint' }],
] as const)
  test(`${title} is read back`, () => {
    const rules: Rules = { service: { by: 'label', label: 'pod' }, ...more }
    assert.deepEqual(readRules(storedRules(rules)), rules)
  })

test('the most common rules take the space of their label', () =>
  assert.equal(storedRules({ service: { by: 'label', label: 'service' }, ...rest }), '["service"]'))

test('rules that an older version stored as an object are read', () => {
  const rules = { service: { by: 'object', how: 'owner' }, severity: 'reason', identity: 'object' } as const
  assert.deepEqual(readRules(JSON.stringify(rules)), rules)
})

const url = 'https://runbooks.example/a'
const stored = (runbook: string | undefined, annotations: Labels) =>
  textColumnsOf({ labels: {}, annotations, links: { generator: 'http://p', ...(runbook ? { runbook } : {}) } })

for (const [title, runbook, annotations, text] of [
  ['the same address as the annotation', url, { runbook_url: url }, '{"generator":"http://p"}'],
  ['another address', url, { runbook_url: `${url}/b` }, `{"generator":"http://p","runbook":"${url}"}`],
  ['an address that is no link', undefined, { runbook_url: 'javascript:x' }, '{"generator":"http://p","runbook":0}'],
  ['no annotation', undefined, {}, '{"generator":"http://p"}'],
] as const)
  test(`a link to a runbook with ${title} is stored as ${text} and read back`, (t) => {
    const columns = stored(runbook, annotations)
    assert.equal(columns.links, text)
    assert.deepEqual(readBack(t, columns), { generator: 'http://p', ...(runbook ? { runbook } : {}) })
  })

test('an address that is no link, stored by an older version, does not become one', (t) => {
  const columns = { links: '{}', annotations: '{"runbook_url":"javascript:x"}' }
  assert.deepEqual(readBack(t, columns), {})
})
