/** The alert history: every page with any filter equals that of a plain sort of all alerts. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { type AlertSpan, listAlerts } from '../../src/store/alerts.ts'
import { countAlerts } from '../../src/store/history/alert-counts.ts'
import { moveService } from '../../src/store/service/services.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { DAY, type Made, MINUTE, makeAlert, makeOrganization, makeService, NOON, newUuid } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Equal times, times in the same five minutes and the same day, the boundaries of both, and time zero. */
const TIMES = [0, 1, NOON - 30 * DAY, NOON - DAY, NOON - 1, NOON, NOON + 1, NOON + 4 * MINUTE, NOON + 5 * MINUTE]
  .concat([NOON + 12 * 60 * MINUTE - 1, NOON + 12 * 60 * MINUTE, NOON + 2 * DAY])
  .sort((a, b) => a - b)

type Step =
  | { readonly kind: 'insert' | 'shift'; readonly which: number; readonly service: number; readonly at: number }
  | { readonly kind: 'move'; readonly which: number; readonly service: number }
  | { readonly kind: 'delete'; readonly which: number }

const which = fc.nat(20)
const service = fc.nat(3)
const at = fc.constantFrom(...TIMES)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('insert' as const), which, service, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('shift' as const), which, service, at }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('move' as const), which, service }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('delete' as const), which }) },
)

/** Creates two services for Acme, one for Basil and one for Charlie. */
function makeCast(db: Db) {
  const acme = makeOrganization(db, 'Acme', 'Team')
  const basil = makeOrganization(db, 'Basil', 'Free')
  const charlie = makeOrganization(db, 'Charlie', 'Pro')
  const owners = [acme, acme, basil, charlie]
  const services = owners.map((owner, index) => makeService(db, owner, `svc-${index}`))
  return { organizations: [acme, basil, charlie], owners, services }
}
type Cast = ReturnType<typeof makeCast>

function over(starts_at: number) {
  return { status: 'resolved', resolution: 'reported', ends_at: starts_at, starts_at } as const
}

function take(db: Db, { owners, services }: Cast, one: Step): void {
  if (one.kind === 'insert') {
    makeAlert(db, owners[one.service] as Made, services[one.service] as Made, over(one.at))
    return
  }
  const alerts = db.all(db.sql.selectFrom('alerts').select(['id', 'organization_id']).orderBy('id'))
  const chosen = alerts[one.which % alerts.length]
  if (!chosen) return
  const row = db.sql.updateTable('alerts').where('id', '=', chosen.id)
  if (one.kind === 'delete') db.run(db.sql.deleteFrom('alerts').where('id', '=', chosen.id))
  else if (one.kind === 'shift') db.run(row.set({ starts_at: one.at, ends_at: one.at }))
  else {
    // Only services of the same organization can be merged.
    const into = services[one.service] as Made
    if (owners[one.service]?.key === chosen.organization_id) db.run(row.set({ service_id: into.key }))
  }
}

/** Returns the alerts that match the filter, newest start first, by scanning all of them. */
function naively(db: Db, organization: Made, filter: AlertSpan): string[] {
  const { from = 0, to = Number.POSITIVE_INFINITY, serviceId } = filter
  const query = db.sql
    .selectFrom('alerts')
    .innerJoin('services', 'services.id', 'alerts.service_id')
    .select(['alerts.id', 'alerts.uuid', 'starts_at', 'services.uuid as service'])
    .where('alerts.organization_id', '=', organization.key)
  return db
    .all(query)
    .filter(({ starts_at }) => from <= starts_at && starts_at < to)
    .filter((row) => serviceId === undefined || uuidFromBytes(row.service) === serviceId)
    .sort((a, b) => b.starts_at - a.starts_at || b.id - a.id)
    .map(({ uuid }) => uuidFromBytes(uuid))
}

function pageOf(db: Db, organization: Made, filter: AlertSpan, page: number, limit: number) {
  const { items, total } = listAlerts(db, organization.key, filter, { page, limit })
  return { ids: items.map(({ id }) => id), total }
}

/** Compares every page, and the one after the last, for every range between the times and every service. */
function holdAgainstNaive(db: Db, { organizations, services }: Cast, limit: number, bounds: readonly number[]): void {
  for (const organization of organizations) {
    for (const serviceId of [undefined, ...services.map(({ id }) => id)]) {
      for (const [from, to] of rangesOf(bounds)) {
        const filter = { serviceId, from, to }
        const all = naively(db, organization, filter)
        for (let page = 1; page <= all.length / limit + 2; page += 1) {
          const ids = all.slice((page - 1) * limit, page * limit)
          assert.deepEqual(pageOf(db, organization, filter, page, limit), { ids, total: all.length })
        }
      }
    }
  }
}

function rangesOf(bounds: readonly number[]): [number | undefined, number | undefined][] {
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)]
  return [
    [undefined, undefined],
    [low, undefined],
    [undefined, high],
    [low, high],
  ]
}

test('every page of every filter equals a plain sort, after moves and deletions', (t) => {
  const db = temporaryStore(t)
  db.pragma('synchronous = OFF')
  const cast = makeCast(db)
  const steps = fc.array(step, { maxLength: 25 })
  const bound = fc.oneof(at, fc.integer({ min: 0, max: NOON + 3 * DAY }))
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 4 }), fc.tuple(bound, bound), (all, limit, bounds) => {
      db.transaction(() => {
        db.run(db.sql.deleteFrom('alerts'))
        for (const one of all) take(db, cast, one)
      })
      holdAgainstNaive(db, cast, limit, bounds)
      assertCounted(db)
    }),
    { numRuns: 150 },
  )
})

/** Checks that the counts equal a recount, and that no row has a count of zero. */
function assertCounted(db: Db): void {
  const alerts = db.all(db.sql.selectFrom('alerts').select(['organization_id', 'service_id', 'starts_at']))
  const wanted = { own: new Map<string, number>(), all: new Map<string, number>() }
  const add = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const { organization_id, service_id, starts_at } of alerts) {
    for (const [level, span] of [5 * MINUTE, DAY].entries()) {
      const part = Math.floor(starts_at / span)
      add(wanted.all, `${organization_id} ${level} ${part}`)
      add(wanted.own, `${level} ${part} ${service_id}`)
    }
  }
  const all = db.all(db.sql.selectFrom('alert_counts').selectAll())
  const own = db.all(db.sql.selectFrom('service_alert_counts').selectAll())
  assert.deepEqual(
    new Map(all.map((row) => [`${row.organization_id} ${row.level} ${row.part}`, row.alerts])),
    wanted.all,
  )
  assert.deepEqual(new Map(own.map((row) => [`${row.level} ${row.part} ${row.service_id}`, row.alerts])), wanted.own)
}

/** Inserts an alert at each time, rotating through the services. */
function fill(db: Db, cast: Cast): void {
  for (const [index, at] of TIMES.entries()) take(db, cast, { kind: 'insert', which: 0, service: index % 4, at })
}

function storeWithAlerts(t: TestContext) {
  const db = temporaryStore(t)
  const cast = makeCast(db)
  fill(db, cast)
  return { db, cast }
}

test('a merge moves the history', (t) => {
  const { db, cast } = storeWithAlerts(t)
  const [from, into] = cast.services as [Made, Made]
  db.transaction(() => moveService(db, from.key, into.key))
  assertCounted(db)
  assert.equal(listAlerts(db, cast.organizations[0]?.key ?? 0, { serviceId: into.id }, { page: 1, limit: 1 }).total, 6)
})

test('a rollback is not counted', (t) => {
  const { db, cast } = storeWithAlerts(t)
  const undone = () =>
    db.transaction(() => {
      take(db, cast, { kind: 'insert', which: 0, service: 0, at: NOON })
      take(db, cast, { kind: 'delete', which: 3 })
      throw new Error('undone')
    })
  assert.throws(undone, /undone/)
  assertCounted(db)
})

test('a row inserted, moved and deleted in one transaction is counted correctly', (t) => {
  const { db, cast } = storeWithAlerts(t)
  const [acme, service] = [cast.organizations[0] as Made, cast.services[0] as Made]
  db.transaction(() => {
    for (const uuid of [newUuid(), newUuid()]) {
      const row = { ...rowOf(db), uuid: Buffer.from(uuid.replaceAll('-', ''), 'hex') }
      const id = db.insert(db.sql.insertInto('alerts').values(row))
      countAlerts(db, [{ organizationId: acme.key, serviceId: service.key, startsAt: row.starts_at }])
      db.run(
        db.sql
          .updateTable('alerts')
          .set({ starts_at: NOON + DAY })
          .where('id', '=', id),
      )
    }
    db.run(db.sql.deleteFrom('alerts').where('starts_at', '=', NOON + DAY))
  })
  assertCounted(db)
})

/** Returns a row like that of Acme's first service. */
function rowOf(db: Db) {
  const { id, ...row } = db.all(db.sql.selectFrom('alerts').selectAll().where('service_id', '=', 1))[0] ?? assert.fail()
  return row
}

test('a repeat changes no count', (t) => {
  const { db } = storeWithAlerts(t)
  const before = db.all(db.sql.selectFrom('alert_counts').selectAll())
  db.run(db.sql.updateTable('alerts').set((eb) => ({ occurrences: 9, starts_at: eb.ref('starts_at') })))
  assert.deepEqual(db.all(db.sql.selectFrom('alert_counts').selectAll()), before)
})

test('an alert deleted twice is subtracted once', (t) => {
  const { db } = storeWithAlerts(t)
  const newest = db.sql.deleteFrom('alerts').where('starts_at', '=', TIMES.at(-1) ?? 0)
  assert.deepEqual([db.run(newest), db.run(newest)], [1, 0])
  assertCounted(db)
})
