/**
 * Finds any position in a long history by means of stored alert counts. The counts are per day and per five minutes.
 */

import { sql } from 'kysely'
import { DAY } from '../../domain/units.ts'
import type { Owner } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

const FIVE_MINUTES = 300_000
const PARTS_OF_DAY = DAY / FIVE_MINUTES
const LAST_PART = Number.MAX_SAFE_INTEGER
const MORE = sql<number>`alerts + excluded.alerts`

/** The number of alerts in a five-minute slot or a day. `part` is the index of the slot or day, counted from 1970. */
type Part = { readonly part: number; readonly alerts: number }

/**
 * Adds new alerts to the counts, with one statement per five-minute slot and one per day. Triggers update the counts
 * when alerts are moved or deleted.
 */
export function countAlerts(db: Db, begun: readonly Begun[]): void {
  const [organizations, services] = [new Map<number, Map<number, number>>(), new Map<number, Map<number, number>>()]
  for (const { organizationId, serviceId, startsAt } of begun) {
    // Rounds like the integer division in the SQL triggers.
    const part = Math.trunc(startsAt / FIVE_MINUTES)
    countOneMore(organizations, organizationId, part)
    countOneMore(services, serviceId, part)
  }
  forEachCount(organizations, (count) => db.run(addToOrganization, count))
  forEachCount(services, (count) => db.run(addToService, count))
}
type Begun = { readonly organizationId: number; readonly serviceId: number; readonly startsAt: number }
type Counts = Map<number, Map<number, number>>

function countOneMore(counts: Counts, key: number, part: number): void {
  const parts = counts.get(key) ?? new Map<number, number>()
  parts.set(part, (parts.get(part) ?? 0) + 1)
  counts.set(key, parts)
}

/** `owner`: the row id of an organization or a service. */
type Count = { owner: number; level: 0 | 1; part: number; alerts: number }

/** Calls `add` for each count: for its five-minute slot (level 0) and again for its day (level 1). */
function forEachCount(counts: Counts, add: (count: Count) => void): void {
  counts.forEach((parts, owner) => {
    parts.forEach((alerts, part) => {
      add({ owner, level: 0, part, alerts })
      add({ owner, level: 1, part: Math.trunc(part / PARTS_OF_DAY), alerts })
    })
  })
}

const addToOrganization = query<Count>()((builder, hole) =>
  builder
    .insertInto('alert_counts')
    .values({ organization_id: hole('owner'), level: hole('level'), part: hole('part'), alerts: hole('alerts') })
    .onConflict((conflict) => conflict.doUpdateSet({ alerts: MORE })),
)
const addToService = query<Count>()((builder, hole) =>
  builder
    .insertInto('service_alert_counts')
    .values({ service_id: hole('owner'), level: hole('level'), part: hole('part'), alerts: hole('alerts') })
    .onConflict((conflict) => conflict.doUpdateSet({ alerts: MORE })),
)

/**
 * Returns the alert history of an organization or service. Reads one row per day. Each call to a returned function
 * reads the rows of at most one day. Positions start at 0 for the newest alert.
 */
export function readHistory(db: Db, owner: Owner) {
  const days = partsOf(db, owner, 1, 0, LAST_PART)
  const ofDay = (day: number) => partsOf(db, owner, 0, day * PARTS_OF_DAY, (day + 1) * PARTS_OF_DAY - 1)
  return {
    total: sum(days),
    /** Returns how many alerts started at or after `time`, a Unix time in milliseconds. */
    since: (time: number): number => {
      const day = Math.floor(time / DAY)
      const whole = Math.ceil(time / FIVE_MINUTES)
      return (
        sum(days.filter(({ part }) => part > day)) +
        sum(days.some(({ part }) => part === day) ? ofDay(day).filter(({ part }) => part >= whole) : []) +
        countBetween(db, owner, time, whole * FIVE_MINUTES)
      )
    },
    /**
     * Returns how to read from an offset below `total`: select the alerts that started earlier than `before`, newest
     * first, and skip the first `skip` of these alerts.
     */
    seek: (offset: number) => {
      const { part: day, skip: inDay } = partAt(days, offset)
      const { part, skip } = partAt(ofDay(day), inDay)
      return { before: (part + 1) * FIVE_MINUTES, skip }
    },
  }
}

function sum(parts: readonly Part[]): number {
  return parts.reduce((total, { alerts }) => total + alerts, 0)
}

/** Returns the slot or day that contains the position, and how many of its alerts to skip. */
function partAt(parts: readonly Part[], offset: number): { readonly part: number; readonly skip: number } {
  let skip = offset
  for (const { part, alerts } of parts) {
    if (skip < alerts) return { part, skip }
    skip -= alerts
  }
  throw new RangeError(`offset ${offset} is not among the alerts that are counted`)
}

/** Returns the slots or days, newest first. */
function partsOf(db: Db, owner: Owner, level: 0 | 1, first: number, last: number): Part[] {
  const { organizationId, column, rowId } = owner
  const parts = { organizationId, level, first, last }
  return column === 'service_id' ? db.all(ofService, { ...parts, serviceId: rowId }) : db.all(ofOrganization, parts)
}

type CountRange = { organizationId: number; level: number; first: number; last: number }

const ofOrganization = query<CountRange>()((builder, hole) =>
  builder
    .selectFrom('alert_counts')
    .select(['part', 'alerts'])
    .where('organization_id', '=', hole('organizationId'))
    .where('level', '=', hole('level'))
    .where('part', '>=', hole('first'))
    .where('part', '<=', hole('last'))
    .orderBy('part', 'desc'),
)
// CROSS JOIN forces this order: first the organization's slots, then the service's counts.
const ofService = query<CountRange & { serviceId: number }>()((sql, hole) =>
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

/** Counts alerts one by one in the period from ≤ startsAt < to, which is at most five minutes long. */
function countBetween(db: Db, { column, rowId }: Owner, from: number, to: number): number {
  if (from === to) return 0
  const alerts = db.sql.selectFrom('alerts').where(column, '=', rowId)
  const counted = alerts.select((eb) => eb.fn.countAll<number>().as('count'))
  return db.first(counted.where('starts_at', '>=', from).where('starts_at', '<', to))?.count ?? 0
}
