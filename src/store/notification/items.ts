/** Reads what a message is about. */

import { phaseOf, problemAt } from '../../domain/incident/problem.ts'
import { cacheByKey } from '../../domain/memoize.ts'
import { MAX_ALERTS } from '../../domain/notification/format.ts'
import type { GroupMember, MessageGroup } from '../../domain/notification/group-words.ts'
import type { MessageKind } from '../../domain/notification/kind.ts'
import type { PlacedService } from '../../domain/notification/names.ts'
import type { MessageAlert, MessageItem } from '../../domain/notification/words.ts'
import type { IncidentGroup } from '../../domain/suspect/group.ts'
import { summaryOf } from '../alert-texts.ts'
import { reportedAt, toDelivery } from '../history/last-report.ts'
import { alertCount, firingAlerts, hasPostmortem } from '../incident/incidents.ts'
import { toProblem } from '../incident/live-incidents.ts'
import { hasSeveralClusters, isAmbiguousName } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { listedUuids } from '../sqlite/query.ts'
import { uuidBytes, uuidFromBytes } from '../sqlite/uuid.ts'
import { listBurning, listGoingOn } from './going-on.ts'
import { hasDelivered, toFacts } from './outbox.ts'
import { conditionName } from './ruled-alerts.ts'

/** In a digest of many incidents, no incident lists its alerts. */
const MAX_INCIDENTS = 20

type Row = {
  readonly kind: MessageKind
  readonly channelId: number
  readonly rowId: number
  readonly uuid: Buffer
  readonly facts: string
}

/** Lists the notifications in a message, oldest first, except those about deleted incidents. */
export function listItems(
  db: Db,
  leaderId: number,
  groupOf: ReadonlyMap<string, IncidentGroup>,
  now: number,
): MessageItem[] {
  const items = db.sql
    .selectFrom('outbox')
    .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select([
      'channel_id as channelId',
      'outbox.kind',
      'outbox.created_at as at',
      'outbox.actor',
      'severity_before as severityBefore',
      'facts',
    ])
    .select([
      'is_digest as isDigest',
      'incidents.id as rowId',
      'incidents.service_id as serviceId',
      'incidents.organization_id as organizationId',
      'incidents.uuid',
      'incidents.number',
      'incidents.title',
    ])
    .select([
      'incidents.severity',
      'incidents.status',
      'origin',
      'started_at as startedAt',
      'resolved_at as resolvedAt',
    ])
    .select([alertCount, firingAlerts, 'problem', 'acknowledged_at as acknowledgedAt'])
    .select(['acknowledged_by as acknowledgedBy', 'touched_at as touchedAt', 'previous'])
    .select(['services.name', 'services.namespace', 'services.cluster'])
    .select(hasPostmortem)
    .select((eb) => {
      const opened = eb.selectFrom('timeline').whereRef('timeline.incident_id', '=', 'incidents.id')
      return opened.where('timeline.kind', '=', 'opened').select('timeline.actor').limit(1).as('declaredBy')
    })
    .where('outbox.leader_id', '=', leaderId)
    .orderBy('outbox.id')
  const rows = db.all(items)
  const alerts = listMessageAlerts(db, rows)
  const organizationId = rows[0]?.organizationId ?? 0
  const isSeveral = hasSeveralClusters(db, organizationId)
  const placed: Placed = (service) => {
    return {
      ...service,
      shownCluster: isSeveral ? service.cluster : '',
      isAmbiguous: isAmbiguousName(db, organizationId, service.name),
    }
  }
  const messageGroupOf = cacheByKey(
    (group: IncidentGroup) => group,
    (group) => messageGroup(db, group, now, placed),
  )
  const over = rows.filter(({ status, problem: stored }) => {
    const problem = toProblem(stored)
    // An incident of `unattributed` is about one alert.
    return status !== 'resolved' && problem.about === null && phaseOf(problem, now) === 'off'
  })
  const goesOn = listGoingOn(db, over, now)
  return rows.map((row) => {
    const { at, actor, severityBefore, name, namespace, cluster, firing_alerts: firingAlerts } = row
    const { number, title, severity, status, origin, startedAt, resolvedAt, alert_count: alertCount } = row
    const { acknowledgedAt, acknowledgedBy, touchedAt } = row
    const previous = row.previous && uuidFromBytes(row.previous)
    const { declaredBy } = row
    const known = { id: uuidFromBytes(row.uuid), hasPostmortem: row.hasPostmortem === 1, previous, declaredBy }
    const times = { startedAt, resolvedAt, acknowledgedAt, acknowledgedBy, touchedAt }
    const state = { number, title, severity, status, origin, alertCount, firingAlerts, problem: toProblem(row.problem) }
    const { names: told, wasWrong, isTakenBack, mergedInto, mergedId, others } = toFacts(row.facts)
    // What has ended in the meantime is not named.
    const going = told.filter((name) => state.problem.firing.includes(name))
    const names = mergedId !== null ? firingIn(db, mergedId) : going.length > 0 ? going : told
    const facts = { names, others, wasWrong, isTakenBack, mergedInto, isDigest: row.isDigest === 1 }
    const found = groupOf.get(known.id)
    const group = found ? messageGroupOf(found) : null
    const kind = kindOf(db, row, rows, group !== null)
    const incident = { ...known, ...times, ...state }
    const service = placed({ name, namespace, cluster })
    const burning = listBurning(db, { ...row, problem: state.problem })
    const [first] = burning.some(({ serviceId }) => serviceId === row.serviceId) ? [] : burning
    return {
      ...(first ? { elsewhere: { service: placed(first.service), since: first.since } } : {}),
      ...{ kind, at },
      actor: kind === row.kind ? actor : null,
      severityBefore,
      ...facts,
      ...{ incident, service },
      alerts: alerts.get(row.rowId) ?? [],
      goesOn: goesOn.get(row.rowId) ?? [],
      group,
    }
  })
}

/** Returns the critical conditions that fire in the incident into which another one was merged. */
function firingIn(db: Db, uuid: string): readonly string[] {
  const into = db.sql.selectFrom('incidents').select('problem').where('uuid', '=', uuidBytes(uuid))
  return toProblem(db.first(into)?.problem ?? '{}').firing
}

/** Returns the kind of a message. The first message of a channel about an incident says what the incident is. */
function kindOf(
  db: Db,
  { kind, channelId, rowId, uuid, facts }: Row,
  rows: readonly Pick<Row, 'kind' | 'rowId'>[],
  hasGroup: boolean,
): MessageKind {
  // The other incidents of the group may have been resolved in the meantime.
  if (kind === 'group') return hasGroup ? 'group' : 'opened'
  if ((kind !== 'worse' && kind !== 'again') || toFacts(facts).only === kind) return kind
  const before: readonly MessageKind[] = kind === 'worse' ? ['opened', 'group', 'again'] : ['opened', 'group']
  const isAnnounced = rows.some((one) => one.rowId === rowId && before.includes(one.kind))
  return isAnnounced || hasDelivered(db, channelId, uuidFromBytes(uuid)) ? kind : 'opened'
}

type Place = Pick<PlacedService, 'name' | 'namespace' | 'cluster'>
type Placed = (service: Place) => PlacedService

function messageGroup(
  db: Db,
  { leader, cause, members }: IncidentGroup,
  now: number,
  placed: Placed,
): MessageGroup | null {
  const rows = db.sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.uuid', 'number', 'title', 'severity', 'incidents.status', 'started_at as startedAt'])
    .select(['acknowledged_by as acknowledgedBy', 'problem', 'services.name', 'namespace', 'cluster'])
    .select(['incidents.id as rowId', 'service_id as serviceId'])
    .where(
      'incidents.uuid',
      'in',
      members.map((id) => uuidBytes(id)),
    )
    .orderBy('incidents.id')
  const incidents = db.all(rows).map((row): GroupMember => {
    const { uuid, problem, name, namespace, cluster, rowId, serviceId, ...incident } = row
    const service = placed({ name, namespace, cluster })
    const known = toProblem(problem)
    const all = listBurning(db, { rowId, serviceId, problem: known })
    const burning = all.map((one) => placed(one.service))
    const phase = phaseOf(known, now)
    const first = { service: burning[0] ?? service, since: all[0]?.since ?? known.since ?? incident.startedAt }
    const state = { problem: problemAt(known, now), isFiring: phase === 'on', isSilenced: phase === 'muted' }
    return {
      id: uuidFromBytes(uuid),
      ...incident,
      ...state,
      service,
      first,
      ...(burning.length > 0 ? { burning } : {}),
    }
  })
  const first = incidents.find(({ id }) => id === leader)
  return first ? { leader: first, cause, incidents } : null
}

type About = Pick<Row, 'rowId' | 'facts'> & { readonly serviceId: number }

/** Lists the alerts of incidents, by the incident's row id: firing ones first, then those that are news, by severity and start. */
function listMessageAlerts(db: Db, rows: readonly About[]): ReadonlyMap<number, MessageAlert[]> {
  const incidents = Map.groupBy(rows, ({ rowId }) => rowId)
  return new Map(incidents.size > MAX_INCIDENTS ? [] : [...incidents].map(([id, all]) => [id, alertsOf(db, id, all)]))
}

function alertsOf(db: Db, incidentId: number, about: readonly About[]): MessageAlert[] {
  const news = about.flatMap(({ facts }) => toFacts(facts).others)
  const fresh = listedUuids(JSON.stringify(news))
  const ownServiceId = about[0]?.serviceId ?? 0
  const rows = db.sql
    .selectFrom('alerts')
    .leftJoin('groups', 'groups.id', 'alerts.group_id')
    .leftJoin('senders', 'senders.id', 'groups.sender_id')
    .select(['alerts.id', 'alerts.uuid', 'alerts.source', 'name', 'service_id as serviceId', 'severity', 'summary'])
    .select(['labels', 'annotations'])
    .select(['starts_at as startsAt', 'ends_at as endsAt', reportedAt.as('receivedAt')])
    .select('last_seen_at as lastSeenAt')
    .select(['groups.longest_gap as ownGap', 'groups.gaps as ownGaps'])
    .select(['senders.longest_gap as senderGap', 'senders.gaps as senderGaps', 'reports_ends as reportsEnds'])
    .select(['alerts.expires_at as expiresAt', 'resolution'])
    .where('incident_id', '=', incidentId)
    .where('alerts.source', '!=', 'ci')
    .orderBy((eb) => eb.case().when('ends_at', 'is', null).then(0).else(1).end())
    .orderBy((eb) => eb.case().when('alerts.uuid', 'in', fresh).then(0).else(1).end())
    .orderBy((eb) => eb.case('severity').when('critical').then(0).when('error').then(1).else(2).end())
    .orderBy('starts_at')
    .orderBy('alerts.id')
    .limit(MAX_ALERTS + news.length)
  return db.all(rows).map((row) => {
    const { uuid, source, name, severity, summary, labels, annotations, startsAt, endsAt, resolution } = row
    const { receivedAt, lastSeenAt } = row
    const texts = { labels: JSON.parse(labels), annotations: JSON.parse(annotations) }
    const critical = { alertId: row.id, severity: 'critical' } as const
    return {
      id: uuidFromBytes(uuid),
      source,
      name,
      condition: conditionName(db, name, row.serviceId, ownServiceId),
      severity,
      summary,
      ...(endsAt === null || severity === 'critical'
        ? {}
        : { criticalSummary: db.first(summaryOf, critical)?.text ?? null }),
      ...texts,
      startsAt,
      endsAt,
      resolution,
      resolvedBy: resolution === 'manual' ? resolverOf(db, incidentId, uuidFromBytes(uuid)) : undefined,
      ...{ receivedAt, lastSeenAt },
      delivery: toDelivery(row),
    }
  })
}

/** Returns who resolved an alert, from the timeline of its incident. */
function resolverOf(db: Db, incidentId: number, alertId: string): string | undefined {
  const ends = db.sql.selectFrom('timeline').where('incident_id', '=', incidentId).where('kind', '=', 'ended')
  const last = ends.where('ref', '=', `alert/${alertId}`).orderBy('id', 'desc').limit(1)
  return db.first(last.select('actor'))?.actor ?? undefined
}
