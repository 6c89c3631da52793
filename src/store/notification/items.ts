/** Reads what a message is about. */
import type { MessageItem } from '../../domain/notification/words.ts'
import { firingAlerts } from '../incident/incidents.ts'
import { toProblem } from '../incident/live-incidents.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { listMessageAlerts } from './message-alerts.ts'
import { listMessageGroups } from './message-groups.ts'
import { toFacts } from './outbox.ts'

/** Lists the notifications in a message, oldest first, except those about deleted incidents. */
export function listItems(db: Db, leaderId: number, now: number): MessageItem[] {
  const items = db.sql
    .selectFrom('outbox')
    .innerJoin('incidents', 'incidents.id', 'outbox.incident_id')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .leftJoin('postmortems', 'postmortems.incident_id', 'incidents.id')
    .select(['outbox.kind', 'outbox.created_at as at', 'outbox.actor', 'severity_before as severityBefore', 'facts'])
    .select('outbox.organization_id as organizationId')
    .select(['is_digest as isDigest', 'incidents.id as rowId', 'incidents.uuid', 'incidents.number', 'incidents.title'])
    .select([
      'incidents.severity',
      'incidents.status',
      'origin',
      'started_at as startedAt',
      'resolved_at as resolvedAt',
    ])
    .select(['alert_count as alertCount', firingAlerts, 'problem', 'acknowledged_at as acknowledgedAt'])
    .select(['acknowledged_by as acknowledgedBy', 'touched_at as touchedAt', 'previous'])
    .select(['services.name', 'services.namespace', 'services.cluster', 'postmortems.id as document'])
    .where('outbox.leader_id', '=', leaderId)
    .orderBy('outbox.id')
  const rows = db.all(items)
  const alerts = listMessageAlerts(db, [...new Set(rows.map(({ rowId }) => rowId))])
  const ids = rows.map(({ uuid }) => uuidFromBytes(uuid))
  const groups = listMessageGroups(db, rows[0]?.organizationId ?? 0, ids, now)
  return rows.map((row) => {
    const { at, actor, severityBefore, name, namespace, cluster, firing_alerts: firingAlerts } = row
    const { number, title, severity, status, origin, startedAt, resolvedAt, alertCount } = row
    const { acknowledgedAt, acknowledgedBy, touchedAt } = row
    const previous = row.previous && uuidFromBytes(row.previous)
    const known = { id: uuidFromBytes(row.uuid), hasPostmortem: row.document !== null, previous }
    const times = { startedAt, resolvedAt, acknowledgedAt, acknowledgedBy, touchedAt }
    const state = { number, title, severity, status, origin, alertCount, firingAlerts, problem: toProblem(row.problem) }
    const { names, wasWrong, mergedInto } = toFacts(row.facts)
    // What has ended in the meantime is not named.
    const going = names.filter((name) => state.problem.firing.includes(name))
    const facts = { names: going.length > 0 ? going : names, wasWrong, mergedInto, isDigest: row.isDigest === 1 }
    const group = groups.get(known.id) ?? null
    // The other incidents of the group may have been resolved in the meantime.
    const kind = row.kind === 'group' && group === null ? 'opened' : row.kind
    const incident = { ...known, ...times, ...state }
    const service = { name, namespace, cluster }
    return { kind, at, actor, severityBefore, ...facts, incident, service, alerts: alerts.get(row.rowId) ?? [], group }
  })
}
