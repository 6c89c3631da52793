/** Reads what the grouping of incidents needs: the incidents, their first alerts, and services in trouble. */
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { criticalOf } from '../../domain/incident/periods.ts'
import { wordsOf } from '../../domain/suspect/accused.ts'
import {
  type IncidentGroup,
  incidentGroupsOf,
  LEAST_MEMBERS,
  type OpenIncident,
  TOGETHER,
} from '../../domain/suspect/group.ts'
import { LIKELY } from '../../domain/suspect/likely-cause.ts'
import { DAY } from '../../domain/units.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { toProblem } from './live-incidents.ts'

/** In a larger storm, only the newest incidents are grouped. */
const MAX_INCIDENTS = 500
const MAX_UNWELL = 1_000

/** Lists the groups of unresolved incidents with a common cause. */
export function listIncidentGroups(db: Db, organizationId: number): readonly IncidentGroup[] {
  return groupsOf(db, organizationId, db.all(unresolved, { organizationId }), true)
}

/**
 * Returns the group of an incident whose problem ended at `until`, from the incidents that were unresolved with it; null
 * if it had none. `others`: the other incidents of the group, earliest first.
 */
export function findGroupUntil(db: Db, { id, organizationId, startedAt, cause }: LiveIncident, until: number) {
  if (cause !== 'service') return null
  const rows = db.all(together, { organizationId, from: startedAt - DAY, since: startedAt, until: until + TOGETHER })
  const group = groupsOf(db, organizationId, rows).find(({ members }) => members.includes(id))
  if (!group) return null
  const known = new Map(rows.map((row) => [uuidFromBytes(row.uuid), row]))
  const others = group.members.flatMap((member) => {
    const row = member === id ? undefined : known.get(member)
    if (!row) return []
    const { number, title, createdAt, namespace, name } = row
    return {
      ref: `incident/${member}`,
      number,
      title,
      createdAt,
      startedAt: row.startedAt,
      service: { namespace, name },
    }
  })
  const leader = group.isLedByCause ? `incident/${group.leader}` : null
  return { cause: group.cause, leader, others }
}

type Row = OpenIncident['service'] &
  Pick<OpenIncident, 'createdAt' | 'startedAt'> & { rowId: number; uuid: Buffer; problem: string }

/**
 * @param now whether only what fires counts, or what fired last if nothing does: what has ended before explains no more of
 * an incident
 */
function groupsOf(db: Db, organizationId: number, rows: readonly Row[], now = false): readonly IncidentGroup[] {
  if (rows.length < LEAST_MEMBERS) return []
  const alerts = rows.map(({ rowId, problem }) => {
    const first = db.all(firstAlerts, { incidentId: rowId })
    if (!now) return first
    const firing = first.filter(({ endsAt, severity }) => endsAt === null && severity !== 'info')
    const since = firing.length > 0 ? 0 : (criticalOf(toProblem(problem)).at(-1)?.from ?? 0)
    const last = firing.length > 0 ? firing : first.filter(({ endsAt }) => endsAt !== null && endsAt >= since)
    return last.length > 0 ? last : first
  })
  const changes = likelyChanges(
    db,
    alerts.flat().map((alert) => alert.rowId),
  )
  const incidents = rows.map((row, index): OpenIncident => {
    const { uuid, createdAt, startedAt, cluster, namespace, name } = row
    const own = alerts[index] ?? []
    return {
      ...{ id: uuidFromBytes(uuid), createdAt, startedAt, service: { cluster, namespace, name } },
      alerts: own.map(({ summary, annotations, labels, node }) => {
        return { text: wordsOf(summary, JSON.parse(annotations)), labels: JSON.parse(labels), node }
      }),
      change: own.flatMap((alert) => changes.get(alert.rowId) ?? [])[0] ?? null,
    }
  })
  const services = [...db.all(inTrouble, { organizationId }), ...incidents.map(({ service }) => service)]
  const places = new Map(services.map((one) => [JSON.stringify([one.cluster, one.namespace, one.name]), one]))
  return incidentGroupsOf(
    incidents,
    Map.groupBy(places.values(), ({ name }) => name.toLowerCase()),
  )
}

/** Returns the group of each grouped incident, by the id of the incident. */
export function findGroups(db: Db, organizationId: number): ReadonlyMap<string, IncidentGroup> {
  const groups = listIncidentGroups(db, organizationId)
  return new Map(groups.flatMap((group) => group.members.map((id) => [id, group] as const)))
}
export function findGroup(db: Db, organizationId: number, id: string): IncidentGroup | undefined {
  return findGroups(db, organizationId).get(id)
}

const unresolved = query<{ organizationId: number }>()((sql, hole) =>
  incidentsWithService(sql)
    .where('incidents.organization_id', '=', hole('organizationId'))
    .where('resolved_at', 'is', null)
    .orderBy('incidents.id', 'desc'),
)

const together = query<{ organizationId: number; from: number; since: number; until: number }>()((sql, hole) =>
  incidentsWithService(sql)
    .where('incidents.organization_id', '=', hole('organizationId'))
    .where('incidents.created_at', '>=', hole('from'))
    .where('incidents.created_at', '<=', hole('until'))
    .where((eb) => eb.or([eb('resolved_at', 'is', null), eb('resolved_at', '>=', hole('since'))]))
    .orderBy('incidents.created_at', 'desc'),
)

function incidentsWithService(sql: Db['sql']) {
  return sql
    .selectFrom('incidents')
    .innerJoin('services', 'services.id', 'incidents.service_id')
    .select([
      'incidents.id as rowId',
      'incidents.uuid',
      'incidents.number',
      'incidents.title',
      'incidents.created_at as createdAt',
      'incidents.problem',
    ])
    .select(['started_at as startedAt', 'services.cluster', 'services.namespace', 'services.name'])
    .where('cause', '=', 'service')
    .limit(MAX_INCIDENTS)
}

/** The index on the incident returns firing alerts first, so no storm is read. */
const firstAlerts = query<{ incidentId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select(['id as rowId', 'summary', 'annotations', 'labels', 'node', 'ends_at as endsAt', 'severity'])
    .where('incident_id', '=', hole('incidentId'))
    .orderBy('ends_at')
    .limit(8),
)

const inTrouble = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['cluster', 'namespace', 'name'])
    .where('organization_id', '=', hole('organizationId'))
    .where('status', 'in', ['critical', 'degraded'])
    .limit(MAX_UNWELL),
)

/** Returns the change that is likely to have caused each alert, by the row id of the alert. */
function likelyChanges(db: Db, alertIds: readonly number[]): ReadonlyMap<number, string> {
  const links = db.sql
    .selectFrom('correlations')
    .select(['alert_id as alertId', 'change_ref as ref'])
    .where('alert_id', 'in', listed(JSON.stringify(alertIds)))
    .where((eb) => eb.or([eb('verdict', '=', 'confirmed'), eb('score', '>=', LIKELY)]))
    .where((eb) => eb.or([eb('verdict', 'is', null), eb('verdict', '=', 'confirmed')]))
    .orderBy((eb) => eb.case().when('verdict', '=', 'confirmed').then(1).else(0).end())
    .orderBy('score')
    .orderBy('id', 'desc')
  // The last entry of an alert wins: the confirmed one, or the strongest.
  return new Map(db.all(links).map(({ alertId, ref }) => [alertId, ref]))
}
