/**
 * Deletes expired records that are not referenced, in steps of a few milliseconds. Then returns free space to the disk.
 */

import { isIncidentDue, isTooMuch } from '../../domain/retention.ts'
import { DAY } from '../../domain/units.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import {
  deleteImages,
  deleteRejections,
  dismantleIncident,
  listIncidentsByAge,
  listServicesWithImages,
} from '../../store/retention/expired-records.ts'
import { findPendingPrune, type PendingPrune, storePendingPrune } from '../../store/retention/pruning.ts'
import { deleteStates } from '../../store/service/states.ts'
import { isBusy } from '../../store/sqlite/fault.ts'
import { giveBackSpace } from '../../store/sqlite/space.ts'
import type { Deps } from '../deps.ts'
import { alertStep, eventStep, FIRST, type Pass, pipelineStep, type Step, type Tally } from './steps.ts'
import { countDue, isMoreThanHalf, type Progress, type Survey, startPass, survey } from './survey.ts'

type PruneWatcher = {
  /** Called once a day for each organization in which more than half of the records have expired. */
  readonly waits: (organization: OrganizationRecord, found: Survey) => void
  /** Called if pruning an organization fails. The next round retries the organization. */
  readonly failed: (organization: OrganizationRecord, error: unknown) => void
}

/**
 * Prunes all organizations. Each call to `next` takes a few milliseconds.
 * @throws the error from SQLite if another process has locked the database; completed steps are kept
 */
export function* pruneAll(deps: Deps, tell: PruneWatcher): Generator<unknown, void> {
  for (const organization of listOrganizations(deps.db)) {
    try {
      const outcome = yield* prune(deps, organization)
      if (outcome.waits && outcome.isLogDue) tell.waits(organization, outcome.waits)
    } catch (error) {
      if (isBusy(error)) throw error
      tell.failed(organization, error)
    }
  }
  while (giveBackSpace(deps.db)) yield
}

/** The output of the `prune` command: progress, the records to delete, and the deleted records. */
export type PruneOutput =
  | { readonly progress: Progress & { readonly organization: string } }
  | { readonly survey: Survey & { readonly organization: string } }
  | {
      readonly outcome: {
        readonly organization: string
        readonly deleted: Tally
        /** Not null if nothing was deleted because more than half of the records have expired. */
        readonly waits: Survey | null
      }
    }

const NOTHING: Tally = { events: 0, alerts: 0, incidents: 0, pipelines: 0, images: 0, rejections: 0 }

/** Prunes or surveys organizations for the `prune` command. Each call to `next` takes a few milliseconds. */
export function* pruneByHand(
  deps: Deps,
  organizations: readonly OrganizationRecord[],
  { dryRun, approved }: { readonly dryRun: boolean; readonly approved: boolean },
): Generator<PruneOutput, void> {
  for (const organization of organizations) {
    const { name } = organization
    if (dryRun) yield { survey: { organization: name, ...(yield* named(survey(deps, organization), name)) } }
    else {
      const done = yield* named(prune(deps, organization, { approved }), name)
      yield { outcome: { organization: name, deleted: done.waits ? NOTHING : done.tally, waits: done.waits } }
    }
  }
  if (dryRun) return
  const progress = { organization: 'free space', done: 0, of: 0 }
  while (giveBackSpace(deps.db)) yield { progress }
}

function* named<Result>(steps: Generator<Progress, Result>, organization: string): Generator<PruneOutput, Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield { progress: { organization, ...step.value } }
  }
}

/**
 * `waits`: not null if nothing was deleted because more than half of the records have expired. `isLogDue`: whether to
 * log this outcome; true once a day.
 */
export type PruneOutcome =
  | { readonly waits: null; readonly tally: Tally }
  | { readonly waits: Survey; readonly isLogDue: boolean }

/**
 * Prunes one organization. Each call to `next` runs one step, which takes a few milliseconds. A crash between steps is
 * harmless. Unless `approved`, deletes nothing if more than half of the events or alerts have expired.
 * @param options.rows overrides the number of rows per step, for tests
 */
export function* prune(
  deps: Deps,
  organization: OrganizationRecord,
  { approved = false, rows }: { readonly approved?: boolean; readonly rows?: Pass['rows'] } = {},
): Generator<Progress, PruneOutcome> {
  const pass = startPass(deps, organization, rows)
  const due = { events: yield* countDue(pass, 'events'), alerts: yield* countDue(pass, 'alerts') }
  const isSuspicious =
    (yield* isMoreThanHalf(pass, 'events', due.events)) || (yield* isMoreThanHalf(pass, 'alerts', due.alerts))
  // Some of these records are referenced and will be kept. Only a check of each row shows how many rows would be
  // deleted.
  if (isSuspicious && !approved) {
    const found = yield* survey(deps, organization)
    if (isTooMuch(found.events) || isTooMuch(found.alerts)) return wait(deps, organization, found)
  }
  if (findPendingPrune(deps.db, organization.rowId)) setPending(deps, organization, null)
  return { waits: null, tally: yield* takeSteps(deps, pass, due.events + due.alerts) }
}

function wait(deps: Deps, organization: OrganizationRecord, found: Survey): PruneOutcome {
  const now = deps.now()
  const before = findPendingPrune(deps.db, organization.rowId)
  const isLogDue = before === null || now - before.toldAt >= DAY || now < before.toldAt
  const { events, alerts } = found
  setPending(deps, organization, {
    since: before?.since ?? now,
    toldAt: isLogDue ? now : before.toldAt,
    events,
    alerts,
  })
  return { waits: found, isLogDue }
}

/** Stores the deletion that awaits confirmation; null if there is none. */
function setPending(deps: Deps, { rowId, id }: OrganizationRecord, pending: PendingPrune | null): void {
  storePendingPrune(deps.db, rowId, pending)
  deps.announce({ kind: 'organization', id, organizationId: rowId })
}

function* takeSteps({ db }: Deps, pass: Pass, of: number): Generator<Progress, Tally> {
  // Each step removes references to the records that later steps delete.
  const steps = [incidentStep(), alertStep(), pipelineStep(), eventStep(), rejectionStep, imageStep(), stateStep]
  const tally = { events: 0, alerts: 0, incidents: 0, pipelines: 0, images: 0, rejections: 0 }
  for (const step of steps) {
    let more = true
    while (more) {
      more = db.transaction(() => step(pass, tally))
      const done = tally.events + tally.alerts
      yield { done, of: Math.max(of, done) }
    }
  }
  return tally
}

/** Describes in one line which records await confirmation. @param command the command that confirms */
export function confirmationText(name: string, { events, alerts }: Survey, command = 'incmon prune --yes'): string {
  return `${name}: ${events.due} of ${events.total} events and ${alerts.due} of ${alerts.total} alerts have expired; incmon does not delete more than half of the records without confirmation: check the clock and the retention settings in GET /api/organization, then run ${command}`
}

/** Deletes expired incidents in small steps. */
function incidentStep(): Step {
  let after = FIRST
  return ({ db, organizationId, cutoffs, rows }, tally) => {
    const found = listIncidentsByAge(db, { organizationId, ...after, until: cutoffs.alerts, limit: rows.records })
    const due = found.find((incident) => isIncidentDue(incident, cutoffs))
    if (due) {
      tally.incidents += Number(dismantleIncident(db, due.id, rows.records))
      return true
    }
    const last = found.at(-1)
    if (last) after = { at: last.createdAt, id: last.id }
    return found.length === rows.records
  }
}

const rejectionStep: Step = ({ db, organizationId, cutoffs, rows }, tally) => {
  const deleted = deleteRejections(db, organizationId, cutoffs.events, rows.records)
  tally.rejections += deleted
  return deleted === rows.records
}

function imageStep(): Step {
  const servicesAStep = 20
  let after = 0
  return ({ db, organizationId, cutoffs }, tally) => {
    const services = listServicesWithImages(db, organizationId, after, servicesAStep)
    for (const id of services) tally.images += deleteImages(db, id, cutoffs.alerts)
    after = services.at(-1) ?? after
    return services.length === servicesAStep
  }
}

/** Deletes service states older than the alert retention period. There are few states, so no cursor is needed. */
const stateStep: Step = ({ db, organizationId, cutoffs }) => {
  deleteStates(db, organizationId, cutoffs.alerts)
  return false
}
