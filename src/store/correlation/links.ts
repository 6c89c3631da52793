/** Reads and writes links between changes and alerts, and reads the evidence around a change. */
import { sql as raw } from 'kysely'
import type { Link } from '../../domain/correlation/correlation.ts'
import type { ScalingEvent } from '../../domain/correlation/rollout.ts'
import type { LinkSummary } from '../../engine/changes/receive/receipt.ts'
import { listImages } from '../service/images.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'
import type { LinkHistory, LinkKey, LinkOwner } from './compute-links.ts'
import { findPipelineOf, listLinkedPipelines, listPipelinesNear } from './pipelines.ts'

const MAX_SIGHTINGS = 500
const MAX_CONDITIONS = 200
export const MAX_SCALINGS = 200

const sightings = query<{ alertId: number; from: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['uuid', 'at', 'count', raw<number>`ifnull(first_seen_at, at)`.as('firstSeenAt')])
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
export function listLinksOfAlert(db: Db, alertId: number): LinkSummary[] {
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

/** Returns the functions that store links and read the history from which links are computed. */
export function linkHistoryOf(db: Db): LinkHistory {
  return {
    pipelines: (serviceId, from, to) => listPipelinesNear(db, serviceId, from, to),
    pipeline: ({ organizationId, rowId }, ref) => findPipelineOf(db, organizationId, rowId, ref),
    scalings: (serviceId, to) => listScalings(db, serviceId, to),
    images: (serviceId) => listImages(db, serviceId),
    sightings: (alertId, from, to) => {
      // An event after the period is included if its first occurrence is not after the period. The limit applies before
      // this filter, so that a condition with many later events does not have to be read in full.
      const seen = db.all(sightings, { alertId, from }).filter(({ firstSeenAt }) => firstSeenAt <= to)
      return seen.map(({ uuid, ...times }) => ({ eventId: uuidFromBytes(uuid), ...times }))
    },
    evidence: (serviceId, from, to) => db.all(conditions, { serviceId, from, to }).map(({ id }) => id),
    linkedPipelines: (alertId) => listLinkedPipelines(db, alertId),
    linkedAlerts: (serviceId, changeRef) => db.all(linked, { serviceId, changeRef }).map(({ id }) => id),
    store: (of, link, made) => storeLink(db, of, link, made),
    drop: (key) => dropLink(db, key),
  }
}

const keyOfEvent = query<{ uuid: Buffer }>()((sql, hole) =>
  sql.selectFrom('events').select('id').where('uuid', '=', hole('uuid')),
)

/** Inserts a link, or updates it without changing the user's verdict. Returns whether the link is new. */
function storeLink(db: Db, key: LinkOwner, link: Link, made: { readonly id: string; readonly now: number }): boolean {
  const changing = {
    change_event_id: eventRowId(db, key.changeEvent),
    evidence_event_id: eventRowId(db, link.evidence.eventId),
    evidence_count: link.evidence.count,
    score: link.score,
    band: link.band,
    reasons: JSON.stringify(link.reasons),
    lag_seconds: link.lagSeconds,
  }
  const { organizationId, serviceId, alertId, changeKind, changeRef } = key
  const ofAlert = db.sql.updateTable('correlations').set(changing).where('alert_id', '=', alertId)
  const updated = db.run(ofAlert.where('change_kind', '=', changeKind).where('change_ref', '=', changeRef))
  if (updated > 0) return false
  const columns = { alert_id: alertId, change_kind: changeKind, change_ref: changeRef, ...changing }
  const added = { uuid: uuidBytes(made.id), organization_id: organizationId, service_id: serviceId }
  db.run(db.sql.insertInto('correlations').values({ ...added, ...columns, created_at: made.now }))
  return true
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
