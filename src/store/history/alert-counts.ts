/** Where in a history of any length a place is, by counts of the alerts of each day, then of five minutes; and their count. */
import { sql } from 'kysely'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

const DAY = 86_400_000
const FIVE_MINUTES = 300_000
const PARTS_OF_DAY = DAY / FIVE_MINUTES
const LAST_PART = Number.MAX_SAFE_INTEGER
/** No count is remembered. */
const ADDING = { keepsMemory: true }
const MORE = sql<number>`alerts + excluded.alerts`

/** The alerts of an organization, or those of one of its services. */
export type Whose = { readonly organizationId: number; readonly serviceId: number | null }

/** Places are counted from the newest alert, which has place 0. */
export type History = {
  readonly total: number
  /** How many began at `time` or later, in milliseconds UTC. */
  readonly since: (time: number) => number
  /** What to skip of the alerts that began before `before`, newest first, to come to a place below `total`. */
  readonly seek: (place: number) => { readonly before: number; readonly skip: number }
}

/** Five minutes or a day, by their number since 1970. */
type Part = { readonly part: number; readonly alerts: number }

/**
 * Counts an alert that is new: written once for all of a transaction, before any statement that names alerts. Of those
 * that move or go, triggers keep count.
 */
export function countAlert(db: Db, { organizationId, serviceId, startsAt }: Begun): void {
  // As SQLite divides whole numbers, by which triggers count.
  const part = Math.trunc(startsAt / FIVE_MINUTES)
  countOneMore(db, `alerts of organization ${organizationId}`, part, (counted) =>
    db.run(addToOrganization, { organizationId, ...counted }),
  )
  countOneMore(db, `alerts of service ${serviceId}`, part, (counted) => db.run(addToService, { serviceId, ...counted }))
}
type Begun = { readonly organizationId: number; readonly serviceId: number; readonly startsAt: number }
type Counted = Part & { readonly level: 0 | 1 }

/** `add` is told of each five minutes, and of its day. */
function countOneMore(db: Db, key: string, part: number, add: (counted: Counted) => void): void {
  const counts = db.memory.waiting<Map<number, number>>('alerts', key) ?? new Map<number, number>()
  counts.set(part, (counts.get(part) ?? 0) + 1)
  db.memory.later('alerts', key, counts, (all) => {
    for (const [fiveMinutes, alerts] of all) {
      add({ level: 0, part: fiveMinutes, alerts })
      add({ level: 1, part: Math.trunc(fiveMinutes / PARTS_OF_DAY), alerts })
    }
  })
}

const addToOrganization = query<{ organizationId: number; level: number; part: number; alerts: number }>(ADDING)(
  (builder, hole) =>
    builder
      .insertInto('alert_counts')
      .values({
        organization_id: hole('organizationId'),
        level: hole('level'),
        part: hole('part'),
        alerts: hole('alerts'),
      })
      .onConflict((conflict) => conflict.doUpdateSet({ alerts: MORE })),
)
const addToService = query<{ serviceId: number; level: number; part: number; alerts: number }>(ADDING)(
  (builder, hole) =>
    builder
      .insertInto('service_alert_counts')
      .values({ service_id: hole('serviceId'), level: hole('level'), part: hole('part'), alerts: hole('alerts') })
      .onConflict((conflict) => conflict.doUpdateSet({ alerts: MORE })),
)

/** Reads one row for each day, and for each question at most the five minutes of one day. */
export function readHistory(db: Db, whose: Whose): History {
  const days = partsOf(db, whose, 1, 0, LAST_PART)
  const ofDay = (day: number) => partsOf(db, whose, 0, day * PARTS_OF_DAY, (day + 1) * PARTS_OF_DAY - 1)
  return {
    total: sum(days),
    since: (time) => {
      const day = Math.floor(time / DAY)
      const whole = Math.ceil(time / FIVE_MINUTES)
      return (
        sum(days.filter(({ part }) => part > day)) +
        sum(days.some(({ part }) => part === day) ? ofDay(day).filter(({ part }) => part >= whole) : []) +
        countBetween(db, whose, time, whole * FIVE_MINUTES)
      )
    },
    seek: (place) => {
      const { part: day, skip: inDay } = partAt(days, place)
      const { part, skip } = partAt(ofDay(day), inDay)
      return { before: (part + 1) * FIVE_MINUTES, skip }
    },
  }
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, { alerts }) => total + alerts, 0)
}

/** The part that holds the place, and how many of its alerts are newer. */
function partAt(parts: readonly Part[], place: number): { readonly part: number; readonly skip: number } {
  let skip = place
  for (const { part, alerts } of parts) {
    if (skip < alerts) return { part, skip }
    skip -= alerts
  }
  throw new RangeError(`place ${place} is not among the alerts that are counted`)
}

/** The newest first. */
function partsOf(db: Db, { organizationId, serviceId }: Whose, level: 0 | 1, first: number, last: number): Part[] {
  const parts = { organizationId, level, first, last }
  return serviceId === null ? db.all(ofOrganization, parts) : db.all(ofService, { ...parts, serviceId })
}

type Parts = { organizationId: number; level: number; first: number; last: number }

const ofOrganization = query<Parts>()((builder, hole) =>
  builder
    .selectFrom('alert_counts')
    .select(['part', 'alerts'])
    .where('organization_id', '=', hole('organizationId'))
    .where('level', '=', hole('level'))
    .where('part', '>=', hole('first'))
    .where('part', '<=', hole('last'))
    .orderBy('part', 'desc'),
)
// CROSS JOIN is SQLite's word for this order of the loops: the organization's parts, then the service's share of each.
const ofService = query<Parts & { serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('alert_counts as all')
    .crossJoin('service_alert_counts as own')
    .select(['own.part', 'own.alerts'])
    .where('all.organization_id', '=', hole('organizationId'))
    .where('all.level', '=', hole('level'))
    .where('all.part', '>=', hole('first'))
    .where('all.part', '<=', hole('last'))
    .whereRef('own.level', '=', 'all.level')
    .whereRef('own.part', '=', 'all.part')
    .where('own.service_id', '=', hole('serviceId'))
    .orderBy('all.part', 'desc'),
)

/** from ≤ startsAt < to, row by row: within five minutes. */
function countBetween(db: Db, { organizationId, serviceId }: Whose, from: number, to: number): number {
  if (from === to) return 0
  const row =
    serviceId === null
      ? db.first(countOfOrganization, { organizationId, from, to })
      : db.first(countOfService, { serviceId, from, to })
  return row?.alerts ?? 0
}

const countOfOrganization = query<{ organizationId: number; from: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select((eb) => eb.fn.countAll<number>().as('alerts'))
    .where('organization_id', '=', hole('organizationId'))
    .where('starts_at', '>=', hole('from'))
    .where('starts_at', '<', hole('to')),
)
const countOfService = query<{ serviceId: number; from: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select((eb) => eb.fn.countAll<number>().as('alerts'))
    .where('service_id', '=', hole('serviceId'))
    .where('starts_at', '>=', hole('from'))
    .where('starts_at', '<', hole('to')),
)
