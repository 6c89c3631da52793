/** What the database rejects, and what only the program guarantees. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SEVERITIES } from '../../src/domain/severity.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { faultIn } from '../../src/store/sqlite/sound.ts'
import { everything } from '../helpers/everything.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { temporaryStore } from '../helpers/store.ts'

test('every connection refuses a row that violates a CHECK', (t) => {
  const db = temporaryStore(t)
  const other = openStore(db.file)
  t.after(() => other.close())
  for (const connection of [db, other]) {
    assert.throws(() => makeOrganization(connection, '', 'Free'), { code: 'SQLITE_CONSTRAINT_CHECK' })
    assert.throws(() => makeOrganization(connection, 'Basil', 'Gold' as never), { code: 'SQLITE_CONSTRAINT_CHECK' })
  }
})

test('a wrong type, a missing value, a duplicate name and a dangling reference are refused', (t) => {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const change = (values: object) => db.run(db.sql.updateTable('organizations').set(values))
  assert.throws(() => change({ created_at: 'noon' }), { code: 'SQLITE_CONSTRAINT_DATATYPE' })
  assert.throws(() => change({ plan: null }), { code: 'SQLITE_CONSTRAINT_NOTNULL' })
  assert.throws(() => makeOrganization(db, 'Acme', 'Pro'), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
  const nobody = { organization_id: acme.key + 1, kind: 'image', value: 'shop/cart', service_id: 1 }
  assert.throws(() => db.run(db.sql.insertInto('aliases').values(nobody)), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
})

test('a copy with a row that violates a CHECK is not accepted as a backup', (t) => {
  const db = temporaryStore(t)
  db.pragma('ignore_check_constraints = ON')
  makeOrganization(db, 'Basil', 'Gold' as never)
  db.close()
  assert.equal(faultIn(db.file), 'CHECK constraint failed in organizations')
})

const SOURCES = ['cluster', 'metrics', 'dashboard', 'ci']

test('alerts and events contain only the values that the schema lists for columns without a CHECK', async (t) => {
  const flow = makeFlow(t)
  await everything(flow)
  const { db } = flow.deps
  const alerts = db.all(db.sql.selectFrom('alerts').select(['source', 'severity', 'status', 'resolution']))
  const events = db.all(db.sql.selectFrom('events').select(['source', 'severity']))
  for (const { source, severity } of [...alerts, ...events]) {
    assert.ok(SOURCES.includes(source) && SEVERITIES.includes(severity), `${source} ${severity}`)
  }
  for (const { status, resolution } of alerts) {
    const allowed: unknown[] = status === 'firing' ? [null] : ['reported', 'inferred', 'expired', 'manual']
    assert.ok(['firing', 'resolved'].includes(status) && allowed.includes(resolution), `${status} ${resolution}`)
  }
  assert.ok(new Set(alerts.map(({ resolution }) => resolution)).size >= 3)
})
