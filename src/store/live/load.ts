import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveSender } from '../../domain/sender/sender.ts'
import type { AliasRef } from '../../domain/service/service.ts'
import { HOUR } from '../../domain/units.ts'
import { scheduleAlerts } from '../../engine/changes/sweep.ts'
import { putGroup, putIncident, putSender, putSilence } from '../../engine/state/apply.ts'
import { ID_TABLES, type IdTable } from '../../engine/state/context.ts'
import type { Journal } from '../../engine/state/journal.ts'
import { putAlias, putService } from '../../engine/state/services.ts'
import { createOrganizationState, type OrganizationState } from '../../engine/state/state.ts'
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
  for (const alias of db.all(aliasesOf, { organizationId })) putAlias(state, alias.serviceId, alias as AliasRef)
  for (const { project, serviceId } of db.all(projectsOf, { organizationId })) state.projects.add(project, serviceId)
}

function loadSenders(db: Db, state: OrganizationState): void {
  const organizationId = state.rowId
  for (const row of db.all(sendersOf, { organizationId })) putSender(state, toLiveSender(row))
  for (const group of db.all(groupsOf, { organizationId })) putGroup(state, group)
}

const servicesOf = query<{ organizationId: number }>()((sql, hole) =>
  sql
    .selectFrom('services')
    .select(['id as rowId', 'uuid', 'organization_id as organizationId', 'cluster', 'namespace', 'name'])
    .select(['status', 'score', 'health', 'healthy_since as healthySince', 'suppressed'])
    .select(['last_alert_at as lastAlertAt', 'last_event_at as lastEventAt'])
    .select(['created_at as createdAt', 'evaluate_at as evaluateAt'])
    .where('organization_id', '=', hole('organizationId')),
)

type ServiceRow = Required<NonNullable<(typeof servicesOf)['row']>>

function toLiveService({ uuid, status, score, health, suppressed, ...row }: ServiceRow): LiveService {
  return {
    ...row,
    id: uuidFromBytes(uuid),
    health: { status, score, penalties: JSON.parse(health) },
    suppressed: suppressed === 1,
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
  sql
    .selectFrom('senders')
    .select(['id as rowId', 'organization_id as organizationId', 'source', 'cluster', 'receiver', 'tokens', 'events'])
    .select(['rejections', 'last_event_at as lastEventAt', 'last_rejection_at as lastRejectionAt'])
    .select(['reports_ends as reportsEnds', 'reports_repeats as reportsRepeats', 'names_cluster as namesCluster'])
    .select(['lag', 'lag_at as lagAt', 'clock', 'hours', 'longest_gap as longestGap', 'gaps', 'heartbeats'])
    .select(['heartbeat_at as heartbeatAt', 'heartbeat_gap as heartbeatGap', 'heartbeat_due_at as heartbeatDueAt'])
    .where('organization_id', '=', hole('organizationId')),
)

type SenderRow = NonNullable<(typeof sendersOf)['row']>

function toLiveSender({ lag, lagAt, longestGap, gaps, heartbeats, ...row }: SenderRow): LiveSender {
  return {
    ...row,
    tokens: JSON.parse(row.tokens),
    reportsEnds: row.reportsEnds === 1,
    reportsRepeats: row.reportsRepeats === 1,
    lag: lag === null || lagAt === null ? null : { lag, lagAt },
    clock: row.clock === null ? null : JSON.parse(row.clock),
    namesCluster: row.namesCluster === null ? null : row.namesCluster === 1,
    deliveryInterval: { longestGap, gaps },
    hours: JSON.parse(row.hours),
    beats: JSON.parse(heartbeats),
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
