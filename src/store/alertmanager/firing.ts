/** The firing fingerprints of Alertmanager and Grafana, which are the alerts of Alertmanager's API. */
import type { ExpressionBuilder, Nullable } from 'kysely'
import { listIncidentGroups } from '../incident/groups.ts'
import { listRecipients } from '../notification/channels.ts'
import { listAllOtherNames } from '../service/services.ts'
import { listSilencesSince } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import type { Schema } from '../sqlite/schema/schema.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'

/** Labels, annotations and links are JSON, because most of them are only passed on. Times are in ms UTC. */
export type FiringFingerprint = NonNullable<(typeof firing)['row']>
export type Place = {
  readonly serviceId: string
  readonly cluster: string
  readonly namespace: string
  readonly service: string
  readonly aliases?: readonly string[] | undefined
}

/** Returns the firing fingerprints of an organization, and what explains or mutes them. */
export function findFiringView(db: Db, organizationId: number, now: number) {
  return {
    /** Reads the firing fingerprints, in any order, without keeping them in memory. */
    fingerprints: () => db.each(firing, { organizationId, now }),
    /** The silences of each silenced alert, by the row id of the alert, except those that compare only labels. */
    silences: listActiveSilences(db, organizationId),
    labelSilences: listSilencesSince(db, organizationId, now).filter(({ labelsOnly }) => labelsOnly),
    /** The incident that explains each incident with a common cause, by row id. */
    leaders: listLeaders(db, organizationId),
    /** The firing alerts of nodes, which may explain other alerts. */
    nodeAlerts: db.all(alertsOfNodes, { organizationId }).sort(byFingerprint),
    channels: listRecipients(db, organizationId),
    /** The services by row id. Joining them to each of thousands of alerts would be slow. */
    places: listPlaces(db, organizationId),
  }
}

export function byFingerprint(one: { readonly fingerprint: string }, other: { readonly fingerprint: string }): number {
  return one.fingerprint < other.fingerprint ? -1 : 1
}

const firing = query<{ organizationId: number; now: number }>()((builder, hole) =>
  builder
    .selectFrom('alerts as a')
    .leftJoin('alert_fingerprints as f', 'f.alert_id', 'a.id')
    .select([
      'a.id',
      'a.service_id as serviceRowId',
      'a.incident_id as incidentId',
      'a.source',
      'a.name',
      'a.failure',
      'a.node',
      'a.labels',
      'a.annotations',
      'a.links',
    ])
    .select(['a.last_seen_at as lastSeenAt', 'f.labels as patch', 'f.generator'])
    .select((eb) => [
      eb.fn.coalesce('f.fingerprint', 'a.fingerprint').as('fingerprint'),
      eb.fn.coalesce('f.severity', 'a.severity').as('severity'),
      eb.fn.coalesce('f.started_at', 'a.starts_at').as('startsAt'),
      eb.fn.coalesce('f.seen_at', 'a.last_seen_at').as('updatedAt'),
      expiryOf(eb).as('expiresAt'),
    ])
    .where('a.organization_id', '=', hole('organizationId'))
    .where('a.settled_at', 'is', null)
    .where('a.status', '=', 'firing')
    .where('a.source', 'in', ['metrics', 'dashboard'])
    .where((eb) => eb.or([eb('f.ended', 'is', null), eb('f.ended', '=', 0)]))
    .where((eb) => eb.or([eb(expiryOf(eb), 'is', null), eb(expiryOf(eb), '>', hole('now'))])),
)

/** The end of a fingerprint with a row of its own, or of the only fingerprint of an alert. */
function expiryOf(
  eb: ExpressionBuilder<Schema & { a: Schema['alerts']; f: Nullable<Schema['alert_fingerprints']> }, 'a' | 'f'>,
) {
  return eb.case().when('f.alert_id', 'is', null).then(eb.ref('a.expires_at')).else(eb.ref('f.expires_at')).end()
}

const alertsOfNodes = query<{ organizationId: number }>()((builder, hole) =>
  builder
    .selectFrom('services as s')
    .innerJoin('alerts as a', 'a.service_id', 's.id')
    .select(['s.cluster', 's.name as service', 'a.fingerprint', 'a.starts_at as startsAt'])
    .where('s.organization_id', '=', hole('organizationId'))
    .where('s.namespace', '=', '')
    .where('s.name', '>=', 'node/')
    .where('s.name', '<', 'node0')
    .where('a.settled_at', 'is', null)
    .where('a.status', '=', 'firing')
    .where('a.severity', 'in', ['critical', 'error']),
)

function listPlaces(db: Db, organizationId: number): ReadonlyMap<number, Place> {
  const rows = db.sql.selectFrom('services').select(['id', 'uuid', 'cluster', 'namespace', 'name'])
  const otherNames = listAllOtherNames(db, organizationId)
  return new Map(
    db.all(rows.where('organization_id', '=', organizationId)).map(({ id, uuid, name, ...place }) => {
      return [id, { ...place, service: name, serviceId: uuidFromBytes(uuid), aliases: otherNames.get(id) }]
    }),
  )
}

/** A group without an incident of its cause is led by its earliest incident, which explains nothing. */
function listLeaders(db: Db, organizationId: number): ReadonlyMap<number, number> {
  const groups = listIncidentGroups(db, organizationId).filter(({ isLedByCause }) => isLedByCause)
  if (groups.length === 0) return new Map()
  const ids = groups.flatMap(({ members }) => members.map(uuidBytes))
  const rows = db.all(db.sql.selectFrom('incidents').select(['id', 'uuid']).where('uuid', 'in', ids))
  const rowIds = new Map(rows.map(({ id, uuid }) => [uuidFromBytes(uuid), id]))
  return new Map(
    groups.flatMap(({ leader, members }) => {
      const leading = rowIds.get(leader) ?? 0
      return members.flatMap((id) => (id === leader ? [] : [[rowIds.get(id) ?? 0, leading] as const]))
    }),
  )
}

function listActiveSilences(db: Db, organizationId: number): ReadonlyMap<number, readonly string[]> {
  const rows = db.all(
    db.sql
      .selectFrom('silences')
      .innerJoin('silenced_alerts', 'silenced_alerts.silence_id', 'silences.id')
      .innerJoin('alerts', 'alerts.id', 'silenced_alerts.alert_id')
      .select(['alerts.id', 'silences.uuid'])
      .where('silences.organization_id', '=', organizationId)
      .where('silences.labels_only', '=', 0)
      .where('alerts.settled_at', 'is', null)
      .where('alerts.status', '=', 'firing'),
  )
  const byAlert = Map.groupBy(rows, ({ id }) => id)
  return new Map([...byAlert].map(([id, of]) => [id, of.map(({ uuid }) => uuidFromBytes(uuid)).sort()]))
}
