/** Silences: created, changed and ended by people, and applied to the alerts of a service. */
import { IncmonError } from '../domain/error.ts'
import { type Matcher, matchersFault } from '../domain/silence/matcher.ts'
import { nextChangeOf, type Schedule, scheduleFault, silencesOf, statusOf } from '../domain/silence/silence.ts'
import type { ConditionRow } from '../store/conditions.ts'
import { listDueServices } from '../store/service-evaluations.ts'
import type { ServiceRow } from '../store/service-rows.ts'
import {
  findSilence,
  hasEqualSilence,
  insertSilence,
  listCompiledSilences,
  listDueSilences,
  listLabelsOfAlerts,
  listSilencesOfAlerts,
  makeServicesDue,
  replaceSilencesOfAlert,
  type SilenceRecord,
  scheduleSilence,
  updateSilence,
} from '../store/silences.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { inTransaction } from './transaction.ts'

export type WantedSilence = {
  readonly matchers: readonly Matcher[]
  readonly startsAt: number
  readonly endsAt: number
  readonly schedule: Schedule | null
  readonly comment: string
}

/** Evaluated at once when a silence changes; the sweep evaluates the others within seconds. */
const AT_ONCE = 50

/**
 * Creates a silence and returns its UUID.
 * @throws IncmonError `invalid` if a matcher, the period or the schedule cannot be used
 */
export function createSilence(deps: Deps, organizationId: number, wanted: WantedSilence, actor: string): string {
  const now = deps.now()
  refuseFaults(wanted, now)
  const id = deps.newId()
  inTransaction(deps, (inside) => {
    const changesAt = nextChangeOf(wanted, now)
    insertSilence(deps.db, organizationId, { ...wanted, id, createdBy: actor, createdAt: now, changesAt })
    evaluateAffected(inside, organizationId, now)
  })
  return id
}

export type SilenceChange = { readonly [Name in keyof WantedSilence]?: WantedSilence[Name] | undefined } & {
  /** The revision that the caller has seen. Without it the change applies to whatever the silence is now. */
  readonly revision?: number | undefined
}

/**
 * Changes a silence that has not expired.
 * @throws IncmonError `not-found`; `conflict` if it has expired or somebody else has changed it; `invalid`
 */
export function changeSilence(deps: Deps, organizationId: number, id: string, change: SilenceChange): void {
  const now = deps.now()
  inTransaction(deps, (inside) => {
    const before = requireSilence(deps, organizationId, id)
    if (statusOf(before, now) === 'expired') {
      throw new IncmonError('conflict', 'this silence has expired: create a new one')
    }
    if (change.revision !== undefined && change.revision !== before.revision) {
      throw new IncmonError('conflict', 'somebody else has changed this silence: read it again, then change it')
    }
    const { revision, ...fields } = change
    const named = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
    const after: WantedSilence = { ...before, ...named }
    refuseFaults(after, now)
    updateSilence(deps.db, before, { ...after, changesAt: nextChangeOf(after, now) })
    evaluateAffected(inside, organizationId, now)
  })
}

/**
 * Ends a silence now. A silence that has ended stays as it is.
 * @throws IncmonError `not-found`
 */
export function expireSilence(deps: Deps, organizationId: number, id: string): void {
  const now = deps.now()
  inTransaction(deps, (inside) => {
    const before = requireSilence(deps, organizationId, id)
    if (statusOf(before, now) === 'expired') return
    updateSilence(deps.db, before, { ...before, endsAt: now, changesAt: null })
    evaluateAffected(inside, organizationId, now)
  })
}

/** Creates the silences that are not there yet, and returns how many it created and how many were there or have ended. */
export function importSilences(
  deps: Deps,
  organizationId: number,
  silences: readonly (WantedSilence & { readonly createdBy: string })[],
): { readonly created: number; readonly skipped: number } {
  const now = deps.now()
  return inTransaction(deps, (inside) => {
    const isNew = (one: WantedSilence) => one.endsAt > now && !hasEqualSilence(deps.db, organizationId, one)
    let created = 0
    for (const wanted of silences) {
      if (!isNew(wanted)) continue
      refuseFaults(wanted, now)
      const own = { id: deps.newId(), createdAt: now, changesAt: nextChangeOf(wanted, now) }
      insertSilence(deps.db, organizationId, { ...wanted, ...own })
      created += 1
    }
    if (created > 0) evaluateAffected(inside, organizationId, now)
    return { created, skipped: silences.length - created }
  })
}

/** Makes the services due whose alerts a silence begins or stops to silence now. Inside the sweep's transaction. */
export function applyDueSilences(deps: Deps, now: number, limit: number): void {
  const due = listDueSilences(deps.db, now, limit)
  for (const silence of due) scheduleSilence(deps.db, silence.rowId, nextChangeOf(silence, now))
  for (const organizationId of new Set(due.map((silence) => silence.organizationId))) {
    makeServicesDue(deps.db, organizationId, now)
  }
}

/** Whether any silence of the organization applies now: then an alert is not judged by its siblings. */
export function hasActiveSilence(deps: Deps, organizationId: number, now: number): boolean {
  const silences = listCompiledSilences(deps.db, organizationId, now)
  return silences.some((silence) => statusOf(silence, now) === 'active')
}

/** Stores which of the alerts of a service are silenced now, and returns the others. Inside the caller's transaction. */
export function withoutSilenced(
  deps: Deps,
  service: ServiceRow,
  conditions: readonly ConditionRow[],
  now: number,
): readonly ConditionRow[] {
  const silences = listCompiledSilences(deps.db, service.organizationId, now)
  if (silences.length === 0) return conditions
  const { namespace, cluster } = service
  const place = { service: service.name, namespace, cluster }
  const active = silences.filter((silence) => statusOf(silence, now) === 'active' && silence.mayMatch(place))
  const before = listSilencesOfAlerts(deps.db, service.id)
  if (active.length === 0 && before.size === 0) return conditions
  const labels = active.length === 0 ? null : listLabelsOfAlerts(deps.db, service.id)
  return conditions.filter((condition) => {
    const { id, source, severity, status, name } = condition
    const silencedBy = before.get(id) ?? []
    const alert = { ...place, source, severity, alertname: name, labels: labels?.get(id) ?? {} }
    const after = silencesOf({ ...alert, status, silencedBy }, active)
    replaceSilencesOfAlert(deps.db, id, silencedBy, after)
    return after.length === 0
  })
}

function evaluateAffected(deps: Deps, organizationId: number, now: number): void {
  makeServicesDue(deps.db, organizationId, now)
  for (const serviceId of listDueServices(deps.db, now, AT_ONCE)) evaluate(deps, serviceId, now)
}

function refuseFaults({ matchers, startsAt, endsAt, schedule }: WantedSilence, now: number): void {
  const unusable = matchersFault(matchers)
  if (unusable !== null) throw invalid('matchers', unusable)
  if (endsAt <= now) throw invalid('endsAt', 'lies in the past; send a later time')
  if (endsAt <= startsAt) throw invalid('endsAt', 'must be later than startsAt')
  const fault = schedule && scheduleFault(schedule)
  if (fault) throw invalid(`schedule.${fault.path}`, fault.message)
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', `body: ${path}: ${message}`, [{ path, message }])
}

function requireSilence(deps: Deps, organizationId: number, id: string): SilenceRecord {
  const silence = findSilence(deps.db, organizationId, id)
  if (!silence) throw new IncmonError('not-found', 'no such silence in this organization; GET /api/silences lists them')
  return silence
}
