/** Silences, and the alerts that they apply to. */
import { type Selectable, sql } from 'kysely'
import type { Labels } from '../domain/event/event.ts'
import type { Listed, Page } from '../domain/pagination.ts'
import { type LiveSilence, statusOf, toSchedule } from '../domain/silence/silence.ts'
import { countOf, readPage } from './read.ts'
import { countFiring } from './silence-preview.ts'
import type { Db } from './sqlite/open.ts'
import { listed, query } from './sqlite/query.ts'
import type { Schema } from './sqlite/schema/schema.ts'
import { uuidBytes, uuidFromBytes, uuidOrNone } from './sqlite/uuid.ts'

/** `matching`: the number of firing alerts that the silence applies to. */
export type CountedSilence = LiveSilence & { readonly matching: number }

/**
 * Lists one page of silences, newest first. Lists the expired silences if `expired` is true, and otherwise the active
 * and pending silences.
 */
export function listSilences(
  db: Db,
  organizationId: number,
  { expired }: { readonly expired?: boolean | undefined },
  now: number,
  page: Page,
): Listed<CountedSilence> {
  const all = ofOrganization(db, organizationId)
  const wanted = expired === undefined ? all : all.where('ends_at', expired ? '<=' : '>', now)
  const rows = wanted.selectAll().orderBy('id', 'desc')
  return readPage(db, wanted, rows, page, (row) => counted(db, toRecord(row)))
}

/**
 * Like `findSilence`, but includes the number of firing alerts that the silence applies to at `now`. Compares the alerts
 * with the matchers, because the engine marks the alerts of many services as silenced only later.
 */
export function findCountedSilence(
  db: Db,
  organizationId: number,
  id: string,
  now: number,
): CountedSilence | undefined {
  const silence = findSilence(db, organizationId, id)
  if (!silence) return undefined
  const { matchers, labelsOnly } = silence
  const isActive = statusOf(silence, now) === 'active'
  return { ...silence, matching: isActive ? countFiring(db, organizationId, matchers, labelsOnly) : 0 }
}

/** Finds a silence by UUID. Returns undefined if the organization has no such silence. */
export function findSilence(db: Db, organizationId: number, id: string): LiveSilence | undefined {
  const row = db.first(ofOrganization(db, organizationId).selectAll().where('uuid', '=', uuidOrNone(id)))
  return row ? toRecord(row) : undefined
}

/** Inserts or updates a silence. */
export function saveSilence(db: Db, silence: LiveSilence, isNew: boolean): void {
  const { rowId, id, organizationId, createdAt } = silence
  if (isNew) {
    const own = { id: rowId, uuid: uuidBytes(id), organization_id: organizationId }
    db.run(db.sql.insertInto('silences').values({ ...own, created_at: createdAt, ...columnsOf(silence) }))
  } else db.run(db.sql.updateTable('silences').set(columnsOf(silence)).where('id', '=', rowId))
}

/** Lists silences that end after `since`, and silences whose end has not been processed yet. */
export function listUnexpiredSilences(db: Db, organizationId: number, since: number): LiveSilence[] {
  const unexpired = ofOrganization(db, organizationId)
    .where((eb) => eb.or([eb('ends_at', '>', since), eb('changes_at', 'is not', null)]))
    .orderBy('id')
  return db.all(unexpired.selectAll()).map(toRecord)
}

/** Lists silences that end after `since`, at most 10,000. */
export function listSilencesSince(db: Db, organizationId: number, since: number): LiveSilence[] {
  const recent = ofOrganization(db, organizationId).where('ends_at', '>', since).orderBy('id', 'desc')
  return db.all(recent.selectAll().limit(10_000)).map(toRecord)
}

/**
 * Finds the silence that ends first of those that cover the firing critical alerts of an incident: who created it, and
 * when an alert will not be covered any longer.
 */
export function findMutingSilence(db: Db, organizationId: number, incidentRowId: number) {
  const silences = db.sql
    .selectFrom('alerts')
    .innerJoin('silenced_alerts', 'silenced_alerts.alert_id', 'alerts.id')
    .innerJoin('silences', 'silences.id', 'silenced_alerts.silence_id')
    .select(['alerts.id as alert', 'silences.created_by as by'])
    .select((eb) => eb.fn.coalesce('silences.changes_at', 'silences.ends_at').as('until'))
    .where('silences.organization_id', '=', organizationId)
    .where('alerts.incident_id', '=', incidentRowId)
    .where('alerts.ends_at', 'is', null)
    .where('alerts.severity', '=', 'critical')
    .orderBy('until', 'desc')
  const byAlert = Map.groupBy(db.all(silences), ({ alert }) => alert)
  return [...byAlert.values()].flatMap(([last]) => last ?? []).at(-1)
}

/** Returns whether an incident has firing alerts and all of them are silenced. */
export function isSilenced(db: Db, incidentRowId: number): boolean {
  return db.first(firingSilenced, { incidentRowId })?.silenced === 1
}

// One firing alert is enough, if possible one that is not silenced.
const firingSilenced = query<{ incidentRowId: number }>()((of, hole) =>
  of
    .selectFrom('alerts')
    .select(sql<0 | 1>`EXISTS (SELECT 1 FROM silenced_alerts WHERE alert_id = alerts.id)`.as('silenced'))
    .where('incident_id', '=', hole('incidentRowId'))
    .where('ends_at', 'is', null)
    .orderBy('silenced')
    .limit(1),
)

/** Lists the labels of alerts, by row id. */
export function listLabelsOfAlerts(db: Db, rowIds: readonly number[]): ReadonlyMap<number, Labels> {
  const rows = db.all(labelsOfAlerts, { rowIds: JSON.stringify(rowIds) })
  return new Map(rows.map(({ id, labels }) => [id, JSON.parse(labels)]))
}

const labelsOfAlerts = query<{ rowIds: string }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select(['id', 'labels'])
    .where('id', 'in', listed(hole('rowIds'))),
)

/** Updates which silences apply to an alert. */
export function replaceSilencesOfAlert(db: Db, alertId: number, before: readonly number[], after: readonly number[]) {
  for (const silenceId of before.filter((id) => !after.includes(id))) db.run(removal, { alertId, silenceId })
  for (const silenceId of after.filter((id) => !before.includes(id))) {
    db.run(db.sql.insertInto('silenced_alerts').values({ alert_id: alertId, silence_id: silenceId }))
  }
}

const removal = query<{ alertId: number; silenceId: number }>()((sql, hole) =>
  sql.deleteFrom('silenced_alerts').where('alert_id', '=', hole('alertId')).where('silence_id', '=', hole('silenceId')),
)

function ofOrganization(db: Db, organizationId: number) {
  return db.sql.selectFrom('silences').where('organization_id', '=', organizationId)
}

function counted(db: Db, silence: LiveSilence): CountedSilence {
  const firing = db.sql
    .selectFrom('silenced_alerts')
    .innerJoin('alerts', 'alerts.id', 'silenced_alerts.alert_id')
    .where('silence_id', '=', silence.rowId)
    .where('status', '=', 'firing')
  return { ...silence, matching: countOf(db, firing) }
}

function columnsOf(silence: LiveSilence) {
  const { matchers, startsAt, endsAt, schedule, comment, changesAt, revision, labelsOnly, annotations } = silence
  return {
    matchers: JSON.stringify(matchers),
    starts_at: startsAt,
    ends_at: endsAt,
    schedule: schedule && JSON.stringify(schedule),
    comment,
    changes_at: changesAt,
    revision,
    labels_only: Number(labelsOnly),
    annotations: JSON.stringify(annotations),
    created_by: silence.createdBy,
  }
}

function toRecord(row: Selectable<Schema['silences']>): LiveSilence {
  return {
    rowId: row.id,
    id: uuidFromBytes(row.uuid),
    matchers: JSON.parse(row.matchers),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    schedule: row.schedule === null ? null : toSchedule(JSON.parse(row.schedule)),
    comment: row.comment,
    createdBy: row.created_by,
    createdAt: row.created_at,
    revision: row.revision,
    organizationId: row.organization_id,
    changesAt: row.changes_at,
    labelsOnly: row.labels_only === 1,
    annotations: JSON.parse(row.annotations),
  }
}
