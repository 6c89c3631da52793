/** Finds when the senders of an incident's alerts sent no heartbeat. */
import type { AlertFact, Unheard } from '../../domain/incident/facts.ts'
import { endOf } from '../../domain/incident/lasted.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { PROMETHEUS } from '../../domain/sender/sender.ts'
import { senderService, subjectName } from '../../domain/sender/sender-name.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { toProblem } from './live-incidents.ts'

const MAX_SILENCES = 100
const MAX_ALERTS = 1_000

const silences = query<{ organizationId: number; from: number; until: number }>()((sql, hole) =>
  sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select(['incidents.uuid', 'incidents.problem', 'started_at as from', 'resolved_at as resolvedAt'])
    .select(['services.cluster', 'services.namespace', 'services.name'])
    .where('incidents.organization_id', '=', hole('organizationId'))
    .where('incidents.created_at', '>=', hole('from'))
    .where('incidents.created_at', '<=', hole('until'))
    .where('cause', '=', 'silence')
    .orderBy('incidents.created_at')
    .limit(MAX_SILENCES),
)

/** The alerts that may have a silent sender. Those without a group come from Prometheus, if they say when they expire. */
const repeated = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .leftJoin('groups', 'groups.id', 'alerts.group_id')
    .leftJoin('senders', 'senders.id', 'groups.sender_id')
    .select(['alerts.uuid', 'alerts.source', 'alerts.cluster', 'senders.receiver', 'alerts.last_seen_at as lastSeenAt'])
    .select(['ends_at as endsAt', 'resolution'])
    .where('incident_id', '=', hole('incidentId'))
    .where((alert) => alert.or([alert('group_id', 'is not', null), alert('expires_at', 'is not', null)]))
    .limit(MAX_ALERTS),
)

/**
 * Returns the alerts whose sender sent no heartbeat after it had last reported them, with the period known at `now`. An
 * incident records each such period; one for only a part of a sender's heartbeats does not count.
 */
export function withUnheard<Alert extends Pick<AlertFact, 'uuid'>>(
  db: Db,
  { rowId, organizationId, startedAt }: LiveIncident,
  alerts: Alert[],
  now: number,
): (Alert & { readonly unheard?: Unheard })[] {
  const silent = db
    .all(silences, { organizationId, from: startedAt, until: now })
    .map(({ problem, ...one }) => ({ ...one, problem: toProblem(problem) }))
    .filter(({ problem }) => problem.had.length === 0)
  if (silent.length === 0) return alerts
  const found = new Map(
    db.all(repeated, { incidentId: rowId }).flatMap(({ uuid, source, cluster, receiver, lastSeenAt, ...alert }) => {
      // What was reported as ended before the silence needed no heartbeat.
      const until = alert.resolution === 'reported' ? (alert.endsAt ?? now) : now
      const name = senderService({ source, receiver: receiver ?? PROMETHEUS })
      const own = silent.find(
        (one) =>
          one.name === name && one.cluster === cluster && (endOf(one, now) ?? now) > lastSeenAt && one.from < until,
      )
      if (!own) return []
      const end = endOf(own, now)
      const to = end !== null && end <= now ? end : null
      const unheard = { ref: `incident/${uuidFromBytes(own.uuid)}`, sender: subjectName(own), from: own.from, to }
      return [[uuidFromBytes(uuid), unheard] as const]
    }),
  )
  return alerts.map((alert) => {
    const unheard = found.get(alert.uuid)
    return unheard ? { ...alert, unheard } : alert
  })
}
