/** Deletes expired records that are not referenced, step by step. */
import { isTooMuch } from '../../domain/retention.ts'
import type { OrganizationRecord } from '../../store/organizations.ts'
import { findPendingPrune, type PendingPrune, storePendingPrune } from '../../store/retention/pruning.ts'
import type { Deps } from '../deps.ts'
import { imageStep, incidentStep, pipelineStep, rejectionStep, stateStep } from './records.ts'
import { alertStep, eventStep, type Pass, spanStep, type Tally } from './steps.ts'
import { countDue, isMoreThanHalf, type Progress, type Survey, startPass, survey } from './survey.ts'

/**
 * `waits`: not null if nothing was deleted because more than half of the records have expired. `isLogDue`: whether to
 * log this outcome; true once a day.
 */
export type PruneOutcome =
  | { readonly waits: null; readonly tally: Tally }
  | { readonly waits: Survey; readonly isLogDue: boolean }

const DAY = 86_400_000

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
  const steps = [
    ...[incidentStep(), spanStep, eventStep('events'), eventStep('again'), alertStep],
    ...[pipelineStep(), rejectionStep, imageStep(), stateStep],
  ]
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
