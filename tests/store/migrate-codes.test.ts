/** The migrations that turn sentences into codes and facts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrationText } from '../../src/assets.ts'
import type { PenaltyRule } from '../../src/domain/health/health.ts'
import { reasonText } from '../../src/domain/health/penalty-text.ts'
import type { Severity } from '../../src/domain/severity.ts'
import { insertPostmortem } from '../../src/store/incident/postmortems.ts'
import { makeChannel, makeEvent, makeIncident, makeOrganization, makeService, newUuid } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

for (const [rule, code] of [
  ['alias ci-project', 'alias'],
  ['alias', 'alias'],
  ['slug', 'slug'],
  ['image path', 'image path'],
  ['aliased by hand', 'aliased by hand'],
] as const) {
  test(`the rule “${rule}” of a pipeline becomes “${code}”`, (t) => {
    assert.deepEqual(migratedPipeline(t, { project: 'shop/cart', rule }), { project: 'shop/cart', rule: code })
  })
}

const CHANGE = { code: 'severity', from: 'warning', to: 'critical' }
const FIRING = { code: 'firing', alerts: [] }
const DOUBT = 'was reported as ended, but so was the heartbeat: the end does not count yet'
for (const [kind, before, sentence, ...after] of [
  ['alert', 'critical', 'severity of Slow changed from warning to critical', 'severity', 'Slow', CHANGE],
  ['alert', 'error', 'severity of A changed to B changed to error', 'severity', 'A changed to B', risen('error')],
  ['alert', null, 'severity of Slow changed from warning to critical', 'severity', 'Slow', CHANGE],
  ['alert', 'critical', 'severity of Slow changed from warn to critical', 'critical', null, null],
  ['alert', null, 'Slow is firing again', 'again', 'Slow', null],
  ['alert', null, 'Slow is firing again is firing again', 'again', 'Slow is firing again', null],
  ['alert', null, `Slow ${DOUBT}`, 'doubt', 'Slow', null],
  ['alert', null, 'a sentence of an unknown version', null, null, null],
  ['status', 'resolved', 'while Down and Slow ×2 were still firing', 'resolved', null, FIRING],
  ['status', 'resolved', 'while Down was still firing', 'resolved', null, FIRING],
  ['status', 'resolved', 'no end of Down was reported', 'resolved', null, null],
  ['status', 'open', 'while Down was still firing', 'open', null, null],
  ['note', null, 'Slow is firing again', null, null, null],
] as const) {
  test(`the ${kind} “${sentence}” with the code ${before} gets the code ${after[0]}`, (t) => {
    const [code, text, facts] = after
    assert.deepEqual(migratedEntry(t, kind, before, sentence), { code, text: text ?? sentence, facts })
  })
}

function risen(to: string) {
  return { code: 'severity', from: null, to }
}

function migratedEntry(t: TestContext, kind: string, code: string | null, text: string) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const { key } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  db.run(db.sql.insertInto('timeline').values({ incident_id: key, at: 0, kind, code, text, actor: 'Ann' }))
  db.execute(migrationText('0027_structure_timeline'))
  const row = db.first(db.sql.selectFrom('timeline').select(['code', 'text', 'facts']).where('at', '=', 0))
  return row && { ...row, facts: JSON.parse(row.facts ?? 'null') }
}

const GONE = 'incmon has disabled the channel, because the receiver responded with 410'
for (const [enabled, failing, gone] of [
  [0, GONE, 1],
  [1, GONE, 0],
  [0, 'the receiver responded with 503', 0],
  [0, null, 0],
] as const) {
  test(`a ${enabled ? 'working' : 'disabled'} channel with the failure “${failing}” is ${gone ? '' : 'not '}gone`, (t) => {
    const db = temporaryStore(t)
    const { key } = makeChannel(db, makeOrganization(db, 'Acme', 'Team'))
    db.run(db.sql.updateTable('channels').set({ enabled, failing }).where('id', '=', key))
    db.execute(migrationText('0030_add_gone_of_channels').replace(/^ALTER.*$/m, ''))
    assert.equal(db.first(db.sql.selectFrom('channels').select('gone'))?.gone, gone)
  })
}

const OWN = (severity: Severity) => ({ code: 'severity', severity }) as const
for (const [name, words, rule] of [
  ['Down', 'critical', OWN('critical')],
  ['Disk: full', 'warning', OWN('warning')],
  ['Down', 'error, ended in the last 30 min', { code: 'ended', severity: 'error' }],
  ['Down', 'an event and an alert agree', { code: 'agreement' }],
  ['Slow', 'warning for 15 minutes', { code: 'lasting' }],
  ['BackOff', 'unavailable, Pod/a: 9 failed attempts', { code: 'unavailable', why: 'Pod/a: 9 failed attempts' }],
] as const satisfies [string, string, PenaltyRule][]) {
  test(`the reason “${name}: ${words}” becomes a rule that reads the same`, (t) => {
    const other = { alertId: 'b', name: 'Other', rule: OWN('info'), penalty: 1 }
    const reason = `${name}: ${words}`
    const after = migratedHealth(t, [
      { alertId: 'a', reason, penalty: 40 },
      { ...other, reason: 'Other: info' },
    ])
    assert.deepEqual(after, [{ alertId: 'a', name, rule, penalty: 40 }, other])
    assert.equal(reasonText({ name, rule }), reason)
  })
}

test('a reason of an unknown version is still shown', (t) => {
  const [one, ...others] = migratedHealth(t, [{ alertId: 'a', reason: 'as ever', penalty: 40 }])
  assert.deepEqual(
    [one, others],
    [{ alertId: 'a', name: '', rule: { code: 'text', text: 'as ever' }, penalty: 40 }, []],
  )
  assert.equal(reasonText(one), 'as ever')
  assert.deepEqual(migratedHealth(t, []), [])
})

function migratedHealth(t: TestContext, health: readonly object[]) {
  const db = temporaryStore(t)
  makeService(db, makeOrganization(db, 'Acme', 'Team'), 'cart', { health: JSON.stringify(health) })
  db.execute(migrationText('0029_structure_penalties'))
  return JSON.parse(db.first(db.sql.selectFrom('services').select('health'))?.health ?? '')
}

const DEPLOY = 'deploy of pipeline shop/cart#31 on main began'
for (const [kind, text, code] of [
  ['pipeline', `${DEPLOY}; commit “Ask” by Ada; it succeeded`, 'deployed'],
  ['pipeline', `${DEPLOY}; it failed (deploy: script_failure)`, 'deploy failed'],
  ['pipeline', `${DEPLOY}; it failed`, 'deploy failed'],
  ['pipeline', `${DEPLOY}; commit “it failed”`, null],
  ['pipeline', 'pipeline shop/cart#31 on main: under way; it succeeded', null],
  ['note', `${DEPLOY}; it succeeded`, null],
] as const) {
  test(`the row of a ${kind} “${text}” gets the code ${code}`, (t) => {
    const other = { kind: 'alert', code: null, text: 'Down', at: 1.5 }
    const before = { timeline: [other, { kind, code: null, text }, other], summary: { sentences: [] } }
    const after = { ...before, timeline: [other, { kind, code, text }, other] }
    assert.deepEqual(migratedDocument(t, before), after)
  })
}

test('a definition loses the name of its figure, and what is not known stays', (t) => {
  const metrics = (ttd: string, tta: string, ttr: string) => ({
    metrics: { ttd: { definition: ttd }, tta: { definition: tta }, ttr: { definition: ttr } },
  })
  const before = metrics('time to detect: from a', 'time to acknowledge: from b', 'time to resolve: from c')
  assert.deepEqual(migratedDocument(t, before), metrics('from a', 'from b', 'from c'))
  const unknown = metrics('to detect: from a', '', 'time to detect: from c')
  assert.deepEqual(migratedDocument(t, unknown), unknown)
})

function migratedDocument(t: TestContext, document: unknown) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const incidentId = makeIncident(db, acme, makeService(db, acme, 'cart')).key
  insertPostmortem(db, {
    ...{ id: newUuid(), incidentId, revision: 1, generatedAt: 0 },
    document: JSON.stringify(document),
  })
  db.execute(migrationText('0028_structure_postmortems'))
  return JSON.parse(db.first(db.sql.selectFrom('postmortems').select('document'))?.document ?? '')
}

function migratedPipeline(t: TestContext, facts: unknown) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const common = { organization_id: acme.key, service_id: makeService(db, acme, 'cart').key, ref: 'shop/cart#31' }
  const times = { event_id: makeEvent(db, acme).key, starts_at: 0, ends_at: 0 }
  db.run(db.sql.insertInto('pipelines').values({ ...common, ...times, facts: JSON.stringify(facts) }))
  db.execute(migrationText('0025_shorten_rules_of_pipelines'))
  return JSON.parse(db.first(db.sql.selectFrom('pipelines').select('facts'))?.facts ?? '')
}
