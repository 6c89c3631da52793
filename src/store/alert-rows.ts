/** Writing alerts: a new one, and what a signal, time or a merge changes of one; most of it runs for every item. */
import { type Alert, isMereRepeat } from '../domain/alert/alert.ts'
import type { Evidence } from '../domain/alert/evidence.ts'
import type { Source } from '../domain/event/event.ts'
import { recallLast } from '../domain/memoize.ts'
import type { Severity } from '../domain/severity.ts'
import { type ActiveAlert, rememberActiveAlert } from './active-alerts.ts'
import { forgetAlertNumbers, nameActiveAlert, storeFingerprints } from './active-fingerprints.ts'
import { countAlert } from './history/alert-counts.ts'
import type { Db } from './sqlite/open.ts'
import { listed, query } from './sqlite/query.ts'
import { uuidBytes } from './sqlite/uuid.ts'

export type NewAlert = Omit<ActiveAlert, 'id' | 'incidentId' | 'lastEvent'>

/** `cluster`: the sender's. */
export function insertAlert(db: Db, made: NewAlert, cluster: string): ActiveAlert {
  const { alert } = made
  const id = db.insert(putAlert, {
    uuid: uuidBytes(made.uuid),
    organizationId: made.organizationId,
    serviceId: made.serviceId,
    source: alert.source,
    name: alert.name,
    fingerprint: alert.fingerprint,
    labels: JSON.stringify(alert.labels),
    failure: alert.failure,
    rules: JSON.stringify(alert.rules),
    ...written(alert),
  })
  const active = { ...made, id, incidentId: null, lastEvent: null }
  db.run(putActive, {
    organizationId: made.organizationId,
    serviceId: made.serviceId,
    source: alert.source,
    name: alert.name,
    logicalKey: alert.logicalKey,
    ...waiting(active),
  })
  nameActiveAlert(db, active)
  storeFingerprints(db, active, cluster)
  countAlert(db, { ...made, startsAt: alert.startsAt })
  return active
}

/** Writes what a signal or time has changed; never what a person set, nor who it is. */
export function updateAlert(db: Db, before: ActiveAlert, after: ActiveAlert): void {
  const earlier = db.memory.waiting<Update>('alerts', after.id)
  const isChange = earlier?.isChange || !isMereRepeat(before.alert, after.alert)
  const isMoved = earlier?.isMoved || isChange || before.groupId !== after.groupId || before.dueAt !== after.dueAt
  rememberActiveAlert(db, after)
  db.memory.later('alerts', after.id, { after, isChange, isMoved }, (last) => writeAlert(db, last))
}

/** `isMoved`: a column by which active alerts are found has changed. */
type Update = { readonly after: ActiveAlert; readonly isChange: boolean; readonly isMoved: boolean }

function writeAlert(db: Db, { after, isChange, isMoved }: Update): void {
  const { id, alert } = after
  const { lastSeenAt, occurrences, heardAt } = alert
  if (isChange) db.run(change, { id, ...written(alert) })
  else db.run(repeat, { id, lastSeenAt, occurrences })
  if (isMoved) db.run(wait, waiting(after))
  else db.run(hear, { id, heardAt })
}

/** Gives an alert to another service; its events stay where they were seen. */
export function moveAlert(db: Db, active: ActiveAlert, serviceId: number): ActiveAlert {
  db.run(db.sql.updateTable('alerts').set({ service_id: serviceId }).where('id', '=', active.id))
  db.run(db.sql.updateTable('active_alerts').set({ service_id: serviceId }).where('alert_id', '=', active.id))
  return { ...active, serviceId }
}

/**
 * Deletes alerts with their correlations; events that stay name them no more. The only way in which an alert ceases.
 * How many were deleted.
 */
export function deleteAlerts(db: Db, ids: readonly number[]): number {
  const alerts = { ids: JSON.stringify(ids) }
  forgetAlertNumbers(db, ids)
  db.run(dropLinks, alerts)
  db.run(detachEvents, alerts)
  return db.run(drop, alerts)
}

const dropLinks = query<{ ids: string }>()((builder, hole) =>
  builder.deleteFrom('correlations').where('alert_id', 'in', listed(hole('ids'))),
)
const detachEvents = query<{ ids: string }>()((builder, hole) =>
  builder
    .updateTable('events')
    .set({ alert_id: null })
    .where('alert_id', 'in', listed(hole('ids'))),
)
const drop = query<{ ids: string }>()((builder, hole) =>
  builder.deleteFrom('alerts').where('id', 'in', listed(hole('ids'))),
)

type Written = {
  severity: Severity
  said: string | null
  status: Alert['status']
  resolution: Alert['resolution']
  summary: string
  annotations: string
  links: string
  node: string | null
  evidence: string
  startsAt: number
  endsAt: number | null
  lastSeenAt: number
  occurrences: number
}

function written(alert: Alert): Written {
  const { severity, said, status, resolution, summary, node, startsAt, endsAt, lastSeenAt, occurrences } = alert
  return {
    ...{ severity, said, status, resolution, summary, node, startsAt, endsAt, lastSeenAt, occurrences },
    annotations: JSON.stringify(alert.annotations),
    links: JSON.stringify(alert.links),
    evidence: evidenceText(alert.evidence),
  }
}

/** Most alerts have none, and share it. */
const evidenceText: (evidence: Evidence) => string = recallLast(JSON.stringify)

/** The columns that change, as holes of a query. */
function columns(hole: <Name extends keyof Written>(name: Name) => Written[Name]) {
  return {
    severity: hole('severity'),
    said: hole('said'),
    status: hole('status'),
    resolution: hole('resolution'),
    summary: hole('summary'),
    annotations: hole('annotations'),
    links: hole('links'),
    node: hole('node'),
    evidence: hole('evidence'),
    starts_at: hole('startsAt'),
    ends_at: hole('endsAt'),
    last_seen_at: hole('lastSeenAt'),
    occurrences: hole('occurrences'),
  }
}

type Made = {
  uuid: Buffer
  organizationId: number
  serviceId: number
  source: Source
  name: string
  fingerprint: string
  labels: string
  failure: string | null
  rules: string
}

const putAlert = query<Made & Written>()((sql, hole) =>
  sql.insertInto('alerts').values({
    uuid: hole('uuid'),
    organization_id: hole('organizationId'),
    service_id: hole('serviceId'),
    source: hole('source'),
    name: hole('name'),
    fingerprint: hole('fingerprint'),
    labels: hole('labels'),
    failure: hole('failure'),
    rules: hole('rules'),
    ...columns(hole),
  }),
)
const change = query<Written & { id: number }>({ keepsMemory: true })((sql, hole) =>
  sql.updateTable('alerts').set(columns(hole)).where('id', '=', hole('id')),
)
const repeat = query<{ id: number; lastSeenAt: number; occurrences: number }>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('alerts')
    .set({ last_seen_at: hole('lastSeenAt'), occurrences: hole('occurrences') })
    .where('id', '=', hole('id')),
)

type Place = {
  id: number
  severity: Severity
  heardAt: number
  endedAt: number | null
  groupId: number | null
  dueAt: number
}

function waiting({ id, alert, groupId, dueAt }: ActiveAlert): Place {
  return { id, severity: alert.severity, heardAt: alert.heardAt, endedAt: alert.endedAt, groupId, dueAt }
}

const putActive = query<
  Place & { organizationId: number; serviceId: number; source: Source; name: string; logicalKey: string }
>()((sql, hole) =>
  sql.insertInto('active_alerts').values({
    alert_id: hole('id'),
    organization_id: hole('organizationId'),
    service_id: hole('serviceId'),
    source: hole('source'),
    name: hole('name'),
    severity: hole('severity'),
    logical_key: hole('logicalKey'),
    group_id: hole('groupId'),
    heard_at: hole('heardAt'),
    ended_at: hole('endedAt'),
    due_at: hole('dueAt'),
  }),
)
const hear = query<{ id: number; heardAt: number }>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('active_alerts')
    .set({ heard_at: hole('heardAt') })
    .where('alert_id', '=', hole('id')),
)
const wait = query<Place>({ keepsMemory: true })((sql, hole) =>
  sql
    .updateTable('active_alerts')
    .set({
      severity: hole('severity'),
      group_id: hole('groupId'),
      heard_at: hole('heardAt'),
      ended_at: hole('endedAt'),
      due_at: hole('dueAt'),
    })
    .where('alert_id', '=', hole('id')),
)
