import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveSender } from '../../domain/sender/sender.ts'
import { HOUR } from '../../domain/units.ts'
import { scheduleAlerts } from '../../engine/changes/sweep.ts'
import { putGroup, putIncident, putSender, putSilence } from '../../engine/state/apply.ts'
import { ID_TABLES, type IdTable } from '../../engine/state/context.ts'
import type { Journal } from '../../engine/state/journal.ts'
import { putService } from '../../engine/state/services.ts'
import { aliasKey, createOrganizationState, type OrganizationState } from '../../engine/state/state.ts'
import { listSuppressedIncidents, selectIncidents, toLiveIncident } from '../incident/live-incidents.ts'
import { findOrganization } from '../organizations.ts'
import { listUnexpiredSilences } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { loadAlerts } from './load-alerts.ts'

/** The maximum number of incidents that users resolved while alerts fired. */
const MAX_SUPPRESSED = 10_000
/**
 * How long a silence is still loaded after it has ended. An incident can be reopened for half an hour after it was
 * resolved. The rest of the hour allows for clock changes.
 */
const SILENCE_KEPT = HOUR
const LATELY = 48 * HOUR

/** Returns the highest row id in each table whose row ids the engine assigns. */
export function findLastRowIds(db: Db): Record<IdTable, number> {
  const last = (table: IdTable) =>
    db.first(db.sql.selectFrom(table).select((eb) => eb.fn.max<number | null>('id').as('id')))?.id ?? 0
  return Object.fromEntries(ID_TABLES.map((table) => [table, last(table)])) as Record<IdTable, number>
}

/**
 * Loads an organization's live state in steps, so that other work can run in between.
 * @returns null if the organization does not exist
 */
export function* loadOrganization(
  db: Db,
  journal: Journal,
  rowId: number,
  now: number,
): Generator<void, OrganizationState | null> {
  const organization = findOrganization(db, rowId)
  if (!organization) return null
  const state = createOrganizationState(journal, { rowId, plan: organization.plan, settings: organization.settings })
  loadServices(db, state)
  loadSenders(db, state)
  for (const silence of listUnexpiredSilences(db, rowId, now - SILENCE_KEPT)) putSilence(state, silence)
  for (const row of db.all(unresolved, { organizationId: rowId })) putIncident(state, toLiveIncident(row))
  for (const incident of listSuppressedIncidents(db, rowId, MAX_SUPPRESSED)) putIncident(state, incident)
  for (const row of db.all(lately, { organizationId: rowId, since: now - LATELY })) {
    putIncident(state, toLiveIncident(row))
  }
  yield
  yield* loadAlerts(db, state, journal)
  scheduleAlerts(state)
  return state
}

function loadServices(db: Db, state: OrganizationState): void {
  const organizationId = state.rowId
  for (const row of db.all(servicesOf, { organizationId })) putService(state, toLiveService(row))
  for (const alias of db.all(aliasesOf, { organizationId })) state.aliases.set(aliasKey(alias), alias.serviceId)
  for (const { project, serviceId } of db.all(projectsOf, { organizationId })) state.projects.add(project, serviceId)
}

function loadSenders(db: Db, state: OrganizationState): void {
  const organizationId = state.rowId
  for (const row of db.all(sendersOf, { organizationId })) {
    const sender = toLiveSender(row)
    putSender(state, sender)
  }
  for (const group of db.all(groupsOf, { organizationId })) putGroup(state, group)
}

const servicesOf = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['id', 'uuid', 'organization_id', 'cluster', 'namespace', 'name', 'status', 'score', 'health'])
    .select(['healthy_since', 'suppressed', 'last_alert_at', 'last_event_at', 'created_at', 'evaluate_at'])
    .where('organization_id', '=', hole('organizationId')),
)

type ServiceRow = Required<NonNullable<(typeof servicesOf)['row']>>

function toLiveService(row: ServiceRow): LiveService {
  return {
    rowId: row.id,
    id: uuidFromBytes(row.uuid),
    organizationId: row.organization_id,
    cluster: row.cluster,
    namespace: row.namespace,
    name: row.name,
    health: { status: row.status, score: row.score, penalties: JSON.parse(row.health) },
    healthySince: row.healthy_since,
    suppressed: row.suppressed === 1,
    lastAlertAt: row.last_alert_at,
    lastEventAt: row.last_event_at,
    createdAt: row.created_at,
    evaluateAt: row.evaluate_at,
    ...{ endingEventAt: null, changeAt: null, hasOnlyCi: null },
  }
}

const aliasesOf = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('aliases')
    .select(['kind', 'value', 'service_id as serviceId'])
    .where('organization_id', '=', hole('organizationId')),
)
const projectsOf = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('image_projects')
    .select(['project', 'service_id as serviceId'])
    .where('organization_id', '=', hole('organizationId')),
)
const unresolved = query<{ organizationId: number }>()((sql, hole) =>
  selectIncidents(sql).where('resolved_at', 'is', null).where('organization_id', '=', hole('organizationId')),
)
const lately = query<{ organizationId: number; since: number }>()((sql, hole) =>
  selectIncidents(sql).where('resolved_at', '>', hole('since')).where('organization_id', '=', hole('organizationId')),
)
const sendersOf = query<{ organizationId: number }>()((sql, hole) =>
  sql.selectFrom('senders').selectAll().where('organization_id', '=', hole('organizationId')),
)

type SenderRow = NonNullable<(typeof sendersOf)['row']>

function toLiveSender(row: SenderRow): LiveSender {
  return {
    rowId: row.id,
    organizationId: row.organization_id,
    source: row.source,
    cluster: row.cluster,
    receiver: row.receiver,
    tokens: JSON.parse(row.tokens),
    events: row.events,
    rejections: row.rejections,
    lastEventAt: row.last_event_at,
    lastRejectionAt: row.last_rejection_at,
    reportsEnds: row.reports_ends === 1,
    reportsRepeats: row.reports_repeats === 1,
    lag: row.lag === null || row.lag_at === null ? null : { lag: row.lag, lagAt: row.lag_at },
    clock: row.clock === null ? null : JSON.parse(row.clock),
    namesCluster: row.names_cluster === null ? null : row.names_cluster === 1,
    deliveryInterval: { longestGap: row.longest_gap, gaps: row.gaps },
    hours: JSON.parse(row.hours),
    heartbeatAt: row.heartbeat_at,
    heartbeatGap: row.heartbeat_gap,
    heartbeatDueAt: row.heartbeat_due_at,
    beats: JSON.parse(row.heartbeats),
  }
}

const groupsOf = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('groups')
    .innerJoin('senders', 'senders.id', 'groups.sender_id')
    .select(['groups.id as rowId', 'sender_id as senderId', 'key', 'members', 'delivered_at as deliveredAt'])
    .select(['groups.longest_gap as longestGap', 'groups.gaps'])
    .where('senders.organization_id', '=', hole('organizationId')),
)
