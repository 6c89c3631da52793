/** Alerts while they can still change: each with its fingerprints and its last event, as a signal or a person finds it. */
import type { InferResult } from 'kysely'
import type { Alert } from '../domain/alert/alert.ts'
import type { Fingerprint } from '../domain/alert/fingerprints.ts'
import type { Labels, Source } from '../domain/event/event.ts'
import { rank, type Severity } from '../domain/severity.ts'
import { findByFingerprint, findByLogicalKey, within, withoutCluster } from './active-fingerprints.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

/** The last event that was stored of an alert; `payload`: the hash of its body, null where nobody asked for it yet. */
export type LastEvent = { readonly id: number; readonly uuid: string; readonly payload: number | null }

export type ActiveAlert = {
  readonly id: number
  readonly uuid: string
  readonly organizationId: number
  readonly serviceId: number
  readonly incidentId: number | null
  readonly groupId: number | null
  readonly dueAt: number
  readonly alert: Alert
  readonly fingerprints: readonly Fingerprint[]
  /** Null before its first event is stored. */
  readonly lastEvent: LastEvent | null
}

const byId = query<{ id: number }>()((sql, hole) => selectActive(sql).where('active_alerts.alert_id', '=', hole('id')))
const fingerprintsOf = query<{ id: number }>()((sql, hole) =>
  sql
    .selectFrom('active_fingerprints')
    .select(['fingerprint', 'started_at as startedAt', 'ended'])
    .where('alert_id', '=', hole('id'))
    .orderBy('fingerprint'),
)

/**
 * The active alert of a condition, out of those that `belongs` accepts: by its fingerprint, else by its logical key.
 * `cluster`: the sender's, since two clusters send the same labels, and so the same fingerprint.
 */
export function findActiveAlert(
  db: Db,
  identity: {
    organizationId: number
    source: Source
    cluster: string
    fingerprint: string
    logicalKey: string
  },
  belongs: (active: ActiveAlert) => boolean,
): ActiveAlert | null {
  const { organizationId, source, cluster, logicalKey } = identity
  const owner = { organizationId, source }
  const first = findByFingerprint(db, owner, within(source, cluster, identity.fingerprint))
  const named = first === null ? null : loadActiveAlert(db, first)
  if (named && belongs(named)) return named
  const second = findByLogicalKey(db, owner, logicalKey)
  const known = second === null || second === first ? null : loadActiveAlert(db, second)
  return known && belongs(known) ? known : null
}

export function loadActiveAlert(db: Db, id: number): ActiveAlert | null {
  let isLoaded = false
  const active = db.memory.row('alerts', id, () => {
    isLoaded = true
    const row = db.first(byId, { id })
    if (!row) return null
    const fingerprints = db.all(fingerprintsOf, { id }).map(toFingerprint)
    return toActiveAlert(row, fingerprints, findLastEvent(db, id))
  })
  if (active && isLoaded) rememberActiveAlert(db, active)
  return active
}

/** The alert as it is now, to be found again without a look at its tables; one of very many words is looked up each time. */
export function rememberActiveAlert(db: Db, active: ActiveAlert): void {
  if (lengthOf(active.alert.annotations) <= MOST_WORDS) db.memory.keep('alerts', active.id, active)
  else db.memory.forget('alerts', active.id)
}

/** Characters of annotations: people write hundreds. */
const MOST_WORDS = 4_096

function lengthOf(texts: Labels): number {
  let length = 0
  for (const name in texts) length += texts[name]?.length ?? 0
  return length
}

/** The last event of an alert that is remembered; of another it is found when that is loaded. */
export function rememberLastEvent(db: Db, id: number, lastEvent: LastEvent): void {
  const active = db.memory.row<ActiveAlert>('alerts', id, () => null)
  if (active) rememberActiveAlert(db, { ...active, lastEvent })
}

const lastEvent = query<{ id: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['events.id', 'events.uuid'])
    .where('events.id', '=', (eb) =>
      eb
        .selectFrom('events as own')
        .select((own) => own.fn.max('own.id').as('id'))
        .where('own.alert_id', '=', hole('id')),
    ),
)

function findLastEvent(db: Db, id: number): LastEvent | null {
  const row = db.first(lastEvent, { id })
  return row ? { id: row.id, uuid: uuidFromBytes(row.uuid), payload: null } : null
}

function toFingerprint(row: { fingerprint: string; startedAt: number; ended: number }): Fingerprint {
  return { ...row, fingerprint: withoutCluster(row.fingerprint), ended: row.ended === 1 }
}

/** Whether an alert of this organization fires, in all of history; null where there is none or the name is malformed. */
export function findAlertStatus(db: Db, organizationId: number, uuid: string): 'firing' | 'resolved' | null {
  return findRow(db, organizationId, uuid)?.status ?? null
}

export function findActiveAlertByUuid(db: Db, organizationId: number, uuid: string): ActiveAlert | null {
  const row = findRow(db, organizationId, uuid)
  return row ? loadActiveAlert(db, row.id) : null
}

function findRow(db: Db, organizationId: number, uuid: string) {
  const bytes = uuidToBytes(uuid)
  const alerts = db.sql.selectFrom('alerts').select(['id', 'status']).where('organization_id', '=', organizationId)
  return bytes ? db.first(alerts.where('uuid', '=', bytes)) : undefined
}

const firingOfEvents = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .select('alert_id as id')
    .where('service_id', '=', hole('serviceId'))
    .where('source', '=', 'cluster')
    .where('ended_at', 'is', null),
)

/** The conditions of a service that events have shown and that fire. */
export function listFiringEventAlerts(db: Db, serviceId: number): ActiveAlert[] {
  return db.all(firingOfEvents, { serviceId }).flatMap(({ id }) => loadActiveAlert(db, id) ?? [])
}

const namesakes = query<{ serviceId: number; source: Source; name: string }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .select(['alert_id as id', 'severity'])
    .where('service_id', '=', hole('serviceId'))
    .where('source', '=', hole('source'))
    .where('name', '=', hole('name'))
    .where('ended_at', 'is', null),
)

/** Whether another alert of the same condition fires, as severe or worse: two hundred pods of one rule are one. */
export function hasSibling(db: Db, { id, serviceId, alert }: ActiveAlert): boolean {
  const { source, name, severity } = alert
  const isSibling = (one: { id: number; severity: Severity }) => one.id !== id && rank(one.severity) >= rank(severity)
  const key = `sibling ${serviceId} ${source} ${name}`
  // One that was found stays one until it ends: a storm of one rule is not looked through for each of its alerts.
  const found = db.memory.row<{ id: number }>('alerts', key, () => null)
  const known = found && loadActiveAlert(db, found.id)
  const stillFires = known?.serviceId === serviceId && known.alert.status === 'firing'
  if (known && stillFires && isSibling({ id: known.id, severity: known.alert.severity })) return true
  const sibling = db.all(namesakes, { serviceId, source, name }).find(isSibling)
  if (sibling) db.memory.keep('alerts', key, sibling)
  return sibling !== undefined
}

function selectActive(sql: Db['sql']) {
  return sql
    .selectFrom('active_alerts')
    .innerJoin('alerts', 'alerts.id', 'active_alerts.alert_id')
    .selectAll('alerts')
    .select([
      'active_alerts.logical_key',
      'active_alerts.group_id',
      'active_alerts.heard_at',
      'active_alerts.ended_at',
      'active_alerts.due_at',
    ])
}

type Row = InferResult<ReturnType<typeof selectActive>>[number]

function toActiveAlert(row: Row, fingerprints: readonly Fingerprint[], lastEvent: LastEvent | null): ActiveAlert {
  return {
    id: row.id,
    uuid: uuidFromBytes(row.uuid),
    organizationId: row.organization_id,
    serviceId: row.service_id,
    incidentId: row.incident_id,
    groupId: row.group_id,
    dueAt: row.due_at,
    fingerprints,
    lastEvent,
    alert: {
      source: row.source,
      name: row.name,
      severity: row.severity,
      said: row.said,
      status: row.status,
      resolution: row.resolution,
      summary: row.summary,
      labels: JSON.parse(row.labels),
      annotations: JSON.parse(row.annotations),
      links: JSON.parse(row.links),
      fingerprint: row.fingerprint,
      logicalKey: row.logical_key,
      failure: row.failure,
      node: row.node,
      rules: JSON.parse(row.rules),
      evidence: JSON.parse(row.evidence),
      startsAt: row.starts_at,
      endsAt: row.ends_at,
      lastSeenAt: row.last_seen_at,
      occurrences: row.occurrences,
      heardAt: row.heard_at,
      endedAt: row.ended_at,
    },
  }
}
