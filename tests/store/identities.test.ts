/** Who is who among active alerts: what memory says of it is what the tables hold, whatever is undone. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Source } from '../../src/domain/event/event.ts'
import { type ActiveAlert, loadActiveAlert } from '../../src/store/active-alerts.ts'
import {
  addFingerprint,
  findByFingerprint,
  findByLogicalKey,
  readNamesAhead,
} from '../../src/store/active-fingerprints.ts'
import { deleteAlerts } from '../../src/store/alert-rows.ts'
import { forgetActiveAlert } from '../../src/store/due-alerts.ts'
import { createIdentities, type Identities, type Named } from '../../src/store/identities.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { makeAlert, makeOrganization, makeService, NOON } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const FINGERPRINTS = ['a', 'b', 'c', 'd']

/** An organization with a service and some alerts of it, each with its own name as logical key. */
function makeAlerts(db: Db, count: number) {
  const acme = makeOrganization(db, 'Acme', 'Team')
  const service = makeService(db, acme, 'cart')
  const alerts = Array.from({ length: count }, () => makeAlert(db, acme, service))
  const add = (as: Db) => makeAlert(as, acme, service)
  return { owner: { organizationId: acme.key, source: 'metrics' as Source }, alerts, add }
}
type Owner = ReturnType<typeof makeAlerts>['owner']

function load(db: Db, id: number): ActiveAlert {
  return loadActiveAlert(db, id) ?? assert.fail(`alert ${id} is not active`)
}

/** Whose each fingerprint is, and whether each alert is found by its key. */
function asked(db: Db, owner: Owner, keys: readonly string[]) {
  return [
    FINGERPRINTS.map((one) => findByFingerprint(db, owner, one)),
    keys.map((one) => findByLogicalKey(db, owner, one)),
  ]
}

/** The same of a process that has just opened the file. */
function askedAnew(db: Db, owner: Owner, keys: readonly string[]) {
  const other = openStore(db.file)
  const answers = other.transaction(() => asked(other, owner, keys))
  other.close()
  return answers
}

const act = fc.record({
  kind: fc.constantFrom('add', 'forget', 'undo', 'begin', 'end', 'ask', 'ahead'),
  /** Between transactions: whether another process does it. */
  elsewhere: fc.boolean(),
  which: fc.nat(3),
  fingerprint: fc.constantFrom(...FINGERPRINTS),
})
type Act = typeof act extends fc.Arbitrary<infer One> ? One : never
class Undone extends Error {}

/** Does what is to be done until a savepoint ends; the rest is left. */
function run(db: Db, owner: Owner, ids: readonly number[], acts: Act[]): void {
  for (let one = acts.shift(); one && one.kind !== 'end'; one = acts.shift()) {
    const id = ids[one.which] ?? 0
    if (one.kind === 'add' && loadActiveAlert(db, id)) addFingerprint(db, load(db, id), one.fingerprint)
    if (one.kind === 'forget') forgetActiveAlert(db, id, NOON)
    if (one.kind === 'ask') findByFingerprint(db, owner, one.fingerprint)
    if (one.kind === 'ahead') readNamesAhead(db, 1)
    if (one.kind === 'undo') throw new Undone()
    if (one.kind === 'begin') attempt(db, () => run(db, owner, ids, acts))
  }
}

function attempt(db: Db, work: () => void): void {
  try {
    db.transaction(work)
  } catch (error) {
    if (!(error instanceof Undone)) throw error
  }
}

test('whatever is begun, ended and undone, memory knows whose every name is', (t) => {
  const db = temporaryStore(t)
  db.pragma('synchronous = OFF')
  const { owner, alerts } = makeAlerts(db, 4)
  const ids = alerts.map(({ key }) => key)
  const keys = alerts.map(({ id }) => id)
  const rows = db.all(db.sql.selectFrom('active_alerts').selectAll())
  const other = openStore(db.file)
  t.after(() => other.close())
  fc.assert(
    fc.property(fc.array(act, { maxLength: 30 }), (acts) => {
      db.run(db.sql.deleteFrom('active_alerts'))
      // Forgets what is known of the names.
      db.execute('SELECT 1')
      for (const row of rows) db.run(db.sql.insertInto('active_alerts').values(row))
      other.execute('SELECT 1')
      const left = [...acts]
      while (left.length > 0) {
        const by = left[0]?.elsewhere ? other : db
        attempt(by, () => run(by, owner, ids, left))
      }
      assert.deepEqual(
        db.transaction(() => asked(db, owner, keys)),
        askedAnew(db, owner, keys),
      )
    }),
    { numRuns: 300 },
  )
})

/** What is read of the names by this connection while `work` is done. */
function namesRead(db: Db, work: () => void): number {
  const { learn } = db.identities
  let read = 0
  const counting: Identities = {
    ...db.identities,
    learn: (count, names, isAll) => learn(count, counted(names), isAll),
  }
  function* counted(names: Iterable<Named>) {
    for (const one of names) {
      read += 1
      yield one
    }
  }
  Object.assign(db, { identities: counting })
  work()
  return read
}

test('what another process names is found, whether the alert is new or not', (t) => {
  const db = temporaryStore(t)
  const { owner, alerts, add } = makeAlerts(db, 1)
  const ask = (one: string) => db.transaction(() => findByFingerprint(db, owner, one))
  assert.equal(ask('a'), null)
  const other = openStore(db.file)
  t.after(() => other.close())
  other.transaction(() => addFingerprint(other, load(other, alerts[0]?.key ?? 0), 'a'))
  assert.equal(ask('a'), alerts[0]?.key)
  const second = add(other)
  other.transaction(() => addFingerprint(other, load(other, second.key), 'b'))
  assert.deepEqual([ask('a'), ask('b'), ask('c')], [alerts[0]?.key, second.key, null])
})

test('after a write of another process that named nothing, or new alerts alone, no more is read than is new', (t) => {
  const db = temporaryStore(t)
  const { owner, add } = makeAlerts(db, 20)
  const ask = () => db.transaction(() => findByFingerprint(db, owner, 'a'))
  assert.equal(namesRead(db, ask), 20)
  const other = openStore(db.file)
  t.after(() => other.close())
  makeOrganization(other, 'Basil', 'Free')
  assert.equal(namesRead(db, ask), 0)
  add(other)
  assert.equal(namesRead(db, ask), 1)
})

test('what was read ahead is not read again by whoever asks before all of it was', (t) => {
  const db = temporaryStore(t)
  const { owner, alerts } = makeAlerts(db, 20)
  const ask = () => db.transaction(() => findByLogicalKey(db, owner, alerts[19]?.id ?? ''))
  assert.equal(
    db.transaction(() => readNamesAhead(db, 15)),
    true,
  )
  assert.equal(
    namesRead(db, () => assert.equal(ask(), alerts[19]?.key)),
    5,
  )
  assert.equal(
    db.transaction(() => readNamesAhead(db, 15)),
    false,
  )
})

test('read ahead to the end, nothing is left to whoever asks', (t) => {
  const db = temporaryStore(t)
  const { owner } = makeAlerts(db, 20)
  const steps = () => db.transaction(() => readNamesAhead(db, 15))
  assert.deepEqual([steps(), steps(), steps(), steps()], [true, true, false, false])
  assert.equal(
    namesRead(db, () => db.transaction(() => findByFingerprint(db, owner, 'a'))),
    0,
  )
})

test('a number that a deleted alert leaves to the next is read again', (t) => {
  const db = temporaryStore(t)
  const { owner, alerts, add } = makeAlerts(db, 2)
  const newest = alerts[1]?.key ?? 0
  const find = (key: string) => db.transaction(() => findByLogicalKey(db, owner, key))
  assert.equal(find(alerts[1]?.id ?? ''), newest)
  const other = openStore(db.file)
  t.after(() => other.close())
  other.transaction(() => {
    forgetActiveAlert(other, newest, NOON)
    deleteAlerts(other, [newest])
  })
  const next = add(other)
  assert.deepEqual([next.key, find(next.id)], [newest, newest])
})

test('a fingerprint is found in its own organization and source alone', (t) => {
  const db = temporaryStore(t)
  const { owner, alerts } = makeAlerts(db, 1)
  const charlie = makeOrganization(db, 'Charlie', 'Pro')
  db.transaction(() => {
    addFingerprint(db, load(db, alerts[0]?.key ?? 0), 'a')
    assert.equal(findByFingerprint(db, { ...owner, organizationId: charlie.key }, 'a'), null)
    assert.equal(findByFingerprint(db, { ...owner, source: 'dashboard' }, 'a'), null)
    assert.equal(findByLogicalKey(db, { ...owner, organizationId: charlie.key }, alerts[0]?.id ?? ''), null)
  })
})

test('a name that another alert has stays with it', (t) => {
  const db = temporaryStore(t)
  const { owner, alerts } = makeAlerts(db, 2)
  const [first, second] = alerts.map(({ key }) => key)
  db.transaction(() => {
    for (const id of [first, second]) addFingerprint(db, load(db, id ?? 0), 'a')
    assert.equal(findByFingerprint(db, owner, 'a'), first)
  })
})

test('many names of one hash are all found, and removed one by one', () => {
  const { identities } = createIdentities()
  const names = Array.from({ length: 200_000 }, (_, id) => [`name ${id}`, id] as const)
  identities.learn(0, names, true)
  const missing = () => names.filter(([name, id]) => !identities.find(name).includes(id)).length
  assert.equal(missing(), 0)
  for (const [name, id] of names) identities.remove(name, id)
  assert.equal(missing(), names.length)
})
