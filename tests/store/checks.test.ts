/** CHECKs: held by every connection but the server's own, whose rows break none all the same. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openStore, skipChecks } from '../../src/store/sqlite/open.ts'
import { faultIn } from '../../src/store/sqlite/sound.ts'
import { everything } from '../helpers/everything.ts'
import { makeOrganization } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { temporaryStore } from '../helpers/store.ts'

/** As the server's own. */
function trustingStore(t: TestContext) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  skipChecks(db)
  return { db, acme }
}

test('what breaks a CHECK is refused by any connection that does not say otherwise', (t) => {
  const { db } = trustingStore(t)
  const other = openStore(db.file)
  t.after(() => other.close())
  assert.throws(() => makeOrganization(other, '', 'Free'), { code: 'SQLITE_CONSTRAINT_CHECK' })
  assert.throws(() => makeOrganization(other, 'Basil', 'Gold' as never), { code: 'SQLITE_CONSTRAINT_CHECK' })
})

test('without CHECKs another type, nothing, a name that is taken and a reference to nobody are refused', (t) => {
  const { db, acme } = trustingStore(t)
  const change = (values: object) => db.run(db.sql.updateTable('organizations').set(values))
  assert.throws(() => change({ created_at: 'noon' }), { code: 'SQLITE_CONSTRAINT_DATATYPE' })
  assert.throws(() => change({ plan: null }), { code: 'SQLITE_CONSTRAINT_NOTNULL' })
  assert.throws(() => makeOrganization(db, 'Acme', 'Pro'), { code: 'SQLITE_CONSTRAINT_UNIQUE' })
  const nobody = { organization_id: acme.key + 1, kind: 'image', value: 'shop/cart', service_id: 1 }
  assert.throws(() => db.run(db.sql.insertInto('aliases').values(nobody)), { code: 'SQLITE_CONSTRAINT_FOREIGNKEY' })
})

test('what breaks a CHECK keeps a copy from being taken for a backup', (t) => {
  const { db } = trustingStore(t)
  makeOrganization(db, 'Basil', 'Gold' as never)
  db.close()
  assert.equal(faultIn(db.file), 'CHECK constraint failed in organizations')
})

test('a little of everything, stored as the server stores it, breaks no CHECK', async (t) => {
  const flow = makeFlow(t, (db) => {
    skipChecks(db)
    return db
  })
  await everything(flow)
  assert.equal(flow.deps.db.pragma('ignore_check_constraints'), 1)
  const other = openStore(flow.file)
  t.after(() => other.close())
  assert.equal(other.pragma('integrity_check'), 'ok')
})
