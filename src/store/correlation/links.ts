/** Reads and writes links between changes and alerts, and reads the evidence around a change. */
import { sql as raw } from 'kysely'
import type { ConditionEvent, Link } from '../../domain/correlation/correlation.ts'
import type { ScalingEvent } from '../../domain/correlation/rollout.ts'
import { cacheByKey } from '../../domain/memoize.ts'
import { DAY } from '../../domain/units.ts'
import type { ItemDecision } from '../../engine/changes/receive/receipt.ts'
import { listImages } from '../service/images.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'
import type { LinkHistory, LinkKey, LinkOwner } from './compute-links.ts'
import type { CorrelationRecord } from './correlations.ts'
import { findPipelineOf, listLinkedPipelines, listPipelinesNear } from './pipelines.ts'

const MAX_SIGHTINGS = 500
const MAX_CONDITIONS = 200
export const MAX_SCALINGS = 200

const sightings = query<{ alertId: number; from: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['id', 'uuid', 'at', 'count', raw<number>`ifnull(first_seen_at, at)`.as('firstSeenAt')])
    .where('alert_id', '=', hole('alertId'))
    .where('at', '>=', hole('from'))
    .where('kind', '=', 'firing')
    .orderBy('at')
    .orderBy('id')
    .limit(MAX_SIGHTINGS),
)

const conditions = query<{ serviceId: number; from: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select('id')
    .where('service_id', '=', hole('serviceId'))
    .where('starts_at', '<=', hole('to'))
    .where('last_seen_at', '>=', hole('from'))
    .where('source', '!=', 'ci')
    .where('severity', '!=', 'info')
    .orderBy('starts_at', 'desc')
    .limit(MAX_CONDITIONS),
)

const linked = query<{ serviceId: number; changeRef: string }>()((sql, hole) =>
  sql
    .selectFrom('correlations')
    .select('alert_id as id')
    .where('service_id', '=', hole('serviceId'))
    .where('change_ref', '=', hole('changeRef')),
)

/** Lists an alert's links, strongest first. */
export function listLinksOfAlert(db: Db, alertId: number): ItemDecision['correlations'] {
  const rows = db.sql
    .selectFrom('correlations')
    .select(['change_ref as change', 'score', 'band', 'reasons'])
    .where('alert_id', '=', alertId)
  return db
    .all(rows.orderBy('score', 'desc').orderBy('id'))
    .map((row) => ({ ...row, reasons: JSON.parse(row.reasons) }))
}

const scalings = query<{ serviceId: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['uuid', 'object', 'text', 'at'])
    .where('service_id', '=', hole('serviceId'))
    .where('kind', '=', 'change')
    .where('at', '<=', hole('to'))
    .orderBy('at', 'desc')
    .limit(MAX_SCALINGS),
)

/**
 * Lists a service's last scaling events that are not later than `to`. The list is long enough to tell which ReplicaSet
 * is new.
 */
export function listScalings(db: Db, serviceId: number, to: number): ScalingEvent[] {
  return db.all(scalings, { serviceId, to }).map(({ uuid, ...event }) => ({ eventId: uuidFromBytes(uuid), ...event }))
}

const linkedChanges = query<{ alertId: number }>()((sql, hole) =>
  sql.selectFrom('correlations').select(['change_kind', 'change_ref']).where('alert_id', '=', hole('alertId')),
)

/** Returns the functions that store links and read the history from which links are computed, for one batch. */
export function linkHistoryOf(db: Db): LinkHistory {
  const rowIds = new Map<string, number>()
  const rowIdOf = (id: string) => {
    const rowId = rowIds.get(id) ?? eventRowId(db, id)
    rowIds.set(id, rowId)
    return rowId
  }
  return {
    pipelines: (serviceId, from, to) => listPipelinesNear(db, serviceId, from, to),
    pipeline: ({ organizationId, rowId }, ref) => findPipelineOf(db, organizationId, rowId, ref),
    scalings: rememberScalings((serviceId, to) => listScalings(db, serviceId, to)),
    images: cacheByKey(
      (serviceId: number) => serviceId,
      (serviceId) => listImages(db, serviceId),
    ),
    sightings: rememberSightings((alertId, from) =>
      db.all(sightings, { alertId, from }).map(({ id, uuid, ...times }) => {
        const eventId = uuidFromBytes(uuid)
        rowIds.set(eventId, id)
        return { eventId, ...times }
      }),
    ),
    evidence: (serviceId, from, to) => db.all(conditions, { serviceId, from, to }).map(({ id }) => id),
    linkedPipelines: (alertId) => listLinkedPipelines(db, alertId),
    linkedAlerts: (serviceId, changeRef) => db.all(linked, { serviceId, changeRef }).map(({ id }) => id),
    linkedChanges: (alertId) =>
      db.all(linkedChanges, { alertId }).map(({ change_kind, change_ref }) => `${change_kind} ${change_ref}`),
    store: (of, link, made) => storeLink(db, of, link, made, rowIdOf),
    drop: (key) => dropLink(db, key),
  }
}

/**
 * Reads a condition's first events since a time only once for all later times, unless the limit cuts them off. An event
 * after the period is included if its first occurrence is not after the period. The limit applies before this filter, so
 * that a condition with many later events does not have to be read in full.
 */
function rememberSightings(read: (alertId: number, from: number) => ConditionEvent[]): LinkHistory['sightings'] {
  const known = new Map<number, { readonly from: number; readonly events: readonly ConditionEvent[] }>()
  return (alertId, from, to) => {
    const last = known.get(alertId)
    const later = last && from >= last.from ? last.events.filter(({ at }) => at >= from) : []
    const isKnown = last && from >= last.from && (from === last.from || last.events.length < MAX_SIGHTINGS)
    const events = isKnown ? later : read(alertId, from)
    if (!isKnown) known.set(alertId, { from, events })
    return events.filter(({ firstSeenAt }) => firstSeenAt <= to)
  }
}

/** Reads a service's last scaling events only once for all earlier times, unless the limit cuts off what came before. */
function rememberScalings(read: LinkHistory['scalings']): LinkHistory['scalings'] {
  const known = new Map<number, { readonly to: number; readonly events: readonly ScalingEvent[] }>()
  return (serviceId, to) => {
    const last = known.get(serviceId)
    const isKnown = last && to <= last.to
    const events = isKnown ? last.events : read(serviceId, to + DAY)
    if (!isKnown) known.set(serviceId, { to: to + DAY, events })
    return events.length < MAX_SCALINGS ? events.filter(({ at }) => at <= to) : read(serviceId, to)
  }
}

const keyOfEvent = query<{ uuid: Buffer }>()((sql, hole) =>
  sql.selectFrom('events').select('id').where('uuid', '=', hole('uuid')),
)

/** Inserts a link, or updates it without changing the user's verdict. */
function storeLink(
  db: Db,
  key: LinkOwner,
  link: Link,
  made: { readonly id: string; readonly now: number },
  rowIdOf: (eventId: string) => number,
): void {
  const changing = {
    change_event_id: rowIdOf(key.changeEvent),
    evidence_event_id: rowIdOf(link.evidence.eventId),
    evidence_count: link.evidence.count,
    score: link.score,
    band: link.band,
    reasons: JSON.stringify(link.reasons),
    lag_seconds: link.lagSeconds,
  }
  const { organizationId, serviceId, alertId, changeKind, changeRef } = key
  const columns = { alert_id: alertId, change_kind: changeKind, change_ref: changeRef, ...changing }
  const added = { uuid: uuidBytes(made.id), organization_id: organizationId, service_id: serviceId }
  const inserted = db.sql.insertInto('correlations').values({ ...added, ...columns, created_at: made.now })
  db.run(inserted.onConflict((of) => of.columns(['alert_id', 'change_kind', 'change_ref']).doUpdateSet(changing)))
}

/** Deletes a link unless it has a user's verdict. */
function dropLink(db: Db, key: LinkKey): void {
  const ofAlert = db.sql.deleteFrom('correlations').where('alert_id', '=', key.alertId)
  const links = ofAlert.where('change_kind', '=', key.changeKind).where('change_ref', '=', key.changeRef)
  db.run(links.where('verdict', 'is', null))
}

function eventRowId(db: Db, id: string): number {
  const row = db.first(keyOfEvent, { uuid: uuidBytes(id) })
  if (!row) throw new Error(`no event ${id}`)
  return row.id
}

/** Returns the UUID of the incident of a link's alert; undefined if there is none. */
export function findIncidentOfLink(db: Db, organizationId: number, { evidence }: Pick<CorrelationRecord, 'evidence'>) {
  const alerts = db.sql.selectFrom('alerts').innerJoin('incidents', 'incidents.id', 'alerts.incident_id')
  const own = alerts.select('incidents.uuid').where('alerts.organization_id', '=', organizationId)
  const found = db.first(own.where('alerts.uuid', '=', uuidBytes(evidence.alertId)))
  return found && uuidFromBytes(found.uuid)
}
