/** The migration of repeated texts: rules become codes, empty evidence becomes empty text, payloads stay readable. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrationText } from '../../src/assets.ts'
import { type Rules, rulesText } from '../../src/domain/alert/rules.ts'
import { payloadOf } from '../../src/store/payloads.ts'
import { makeAlert, makeEvent, makeOrganization, makeService } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const IDENTITIES: readonly [sentence: string, code: string][] = [
  ['service, reason and container', 'object'],
  ['the sender’s fingerprint, or the labels that survive a restart if no alert has this fingerprint', 'labels'],
  ['the sender’s fingerprint', 'fingerprint'],
  ['project and environment', 'environment'],
  ['project and ref', 'ref'],
  ['a rule of an unknown version', 'a rule of an unknown version'],
]

for (const [sentence, code] of IDENTITIES) {
  test(`the identity by “${sentence}” becomes a code that reads the same`, (t) => {
    const rules = JSON.parse(migrated(t, { identity: sentence }).rules) as Rules
    assert.equal(rules.identity, code)
    assert.equal(rulesText({ ...rules, service: { by: 'none' } }).identity, sentence)
  })
}

test('lists without evidence become empty text', (t) => {
  const evidence = '{"seen":[],"recovered":[],"gone":[],"rollouts":[],"helped":[]}'
  assert.equal(migrated(t, { evidence }).evidence, '')
})

test('evidence of any kind stays', (t) => {
  const evidence = '{"seen":[[1,"Pod/a",1,1]],"recovered":[],"gone":[],"rollouts":[],"helped":[]}'
  assert.equal(migrated(t, { evidence }).evidence, evidence)
})

test('a payload reads as before', (t) => {
  assert.equal(migrated(t, {}).body, '{"fingerprint":"a"}')
})

function migrated(t: TestContext, { identity = 'ref', evidence = '' }: { identity?: string; evidence?: string }) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  makeAlert(db, acme, makeService(db, acme, 'cart'), {})
  makeEvent(db, acme, {}, { fingerprint: 'a' })
  db.run(db.sql.updateTable('alerts').set({ evidence, rules: JSON.stringify({ severity: 'x', identity }) }))
  db.execute(migrationText('0020_store_texts_once'))
  const alert = db.first(db.sql.selectFrom('alerts').select(['rules', 'evidence']))
  const event = db.first(db.sql.selectFrom('events').select(payloadOf().as('body')))
  return { rules: alert?.rules ?? '', evidence: alert?.evidence, body: event?.body }
}
