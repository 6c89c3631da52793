/** The firing fingerprints of Alertmanager and Grafana, which are the alerts of Alertmanager's API. */
import type { LiveSilence } from '../../domain/silence/live-silence.ts'
import { listIncidentGroups } from '../incident/groups.ts'
import { listRecipients } from '../notification/channels.ts'
import { listSilencesSince } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidAsText, uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'

/** Labels, annotations and links are JSON, because most of them are only passed on. Times are in ms UTC. */
export type FiringFingerprint = NonNullable<(typeof firing)['row']>

export type FiringView = {
  readonly fingerprints: readonly FiringFingerprint[]
  /** The silences of each silenced alert, by the row id of the alert, except those that compare only labels. */
  readonly silences: ReadonlyMap<number, readonly string[]>
  /** The silences that compare only labels. */
  readonly labelSilences: readonly LiveSilence[]
  /** The firing alerts of nodes, which may explain other alerts. */
  readonly nodeAlerts: readonly NodeAlert[]
  /** The incident that explains each incident with a common cause, by row id. */
  readonly leaders: ReadonlyMap<number, number>
  readonly channels: ReturnType<typeof listRecipients>
}

type NodeAlert = {
  readonly cluster: string
  readonly service: string
  readonly fingerprint: string
  readonly startsAt: number
}

/** Lists the firing fingerprints of an organization in ascending order. */
export function listFiringFingerprints(db: Db, organizationId: number, now: number): FiringView {
  return {
    fingerprints: db.all(firing, { organizationId, now }).sort(byFingerprint),
    silences: listActiveSilences(db, organizationId),
    labelSilences: listSilencesSince(db, organizationId, now).filter(({ labelsOnly }) => labelsOnly),
    leaders: listLeaders(db, organizationId),
    nodeAlerts: db.all(alertsOfNodes, { organizationId }).sort(byFingerprint),
    channels: listRecipients(db, organizationId),
  }
}

function byFingerprint(one: { readonly fingerprint: string }, other: { readonly fingerprint: string }): number {
  return one.fingerprint < other.fingerprint ? -1 : 1
}

const firing = query<{ organizationId: number; now: number }>()((builder, hole) =>
  builder
    .selectFrom('alerts as a')
    .innerJoin('services as s', 's.id', 'a.service_id')
    .leftJoin('alert_fingerprints as f', 'f.alert_id', 'a.id')
    .select([
      'a.id',
      'a.incident_id as incidentId',
      'a.source',
      'a.name',
      'a.failure',
      'a.node',
      'a.labels',
      'a.annotations',
      'a.links',
    ])
    .select(['a.status', 'a.ends_at as endsAt', 'a.last_seen_at as lastSeenAt', 'f.labels as patch', 'f.generator'])
    .select(['s.cluster', 's.namespace', 's.name as service'])
    .select((eb) => [
      eb.fn.coalesce('f.fingerprint', 'a.fingerprint').as('fingerprint'),
      eb.fn.coalesce('f.severity', 'a.severity').as('severity'),
      eb.fn.coalesce('f.started_at', 'a.starts_at').as('startsAt'),
      eb.fn.coalesce('f.seen_at', 'a.last_seen_at').as('updatedAt'),
      'f.expires_at as expiresAt',
    ])
    .select((eb) => uuidAsText(eb.ref('s.uuid')).as('serviceId'))
    .where('a.organization_id', '=', hole('organizationId'))
    .where('a.settled_at', 'is', null)
    .where('a.status', '=', 'firing')
    .where('a.source', 'in', ['metrics', 'dashboard'])
    .where((eb) => eb.or([eb('f.ended', 'is', null), eb('f.ended', '=', 0)]))
    .where((eb) => eb.or([eb('f.expires_at', 'is', null), eb('f.expires_at', '>', hole('now'))])),
)

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
