/** The pruner: all organizations in turn, then the space that became free, one short step at a time. */

import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { isHeld } from '../../store/sqlite/fault.ts'
import { giveBackSpace } from '../../store/sqlite/vacuum.ts'
import type { Deps } from '../deps.ts'
import { type Progress, prune, type Survey, survey, type Tally } from './prune.ts'

export type Told = {
  /** Once a day for each organization where more than half would go. */
  readonly waits: (organization: OrganizationRecord, found: Survey) => void
  /** The organization is tried again in the next round. */
  readonly failed: (organization: OrganizationRecord, error: unknown) => void
}

/**
 * Each `next` takes a few milliseconds; done when nothing is left to do for now.
 * @throws what says that another process holds the file: that is no fault of an organization, and what was done stays
 */
export function* pruneAll(deps: Deps, tell: Told): Generator<unknown, void> {
  for (const organization of listOrganizations(deps.db)) {
    try {
      const outcome = yield* prune(deps, organization)
      if (outcome.waits && outcome.isNews) tell.waits(organization, outcome.waits)
    } catch (error) {
      if (isHeld(error)) throw error
      tell.failed(organization, error)
    }
  }
  while (giveBackSpace(deps.db)) yield
}

/** What a person sees of a pruning: how far a pass has come, what would be deleted, and what was. */
export type Seen =
  | { readonly progress: Progress & { readonly organization: string } }
  | { readonly survey: Survey & { readonly organization: string } }
  | {
      readonly outcome: {
        readonly organization: string
        readonly deleted: Tally
        /** More than half would go, so nothing was deleted. */
        readonly waits: Survey | null
      }
    }

const NOTHING: Tally = { events: 0, alerts: 0, incidents: 0, pipelines: 0, images: 0, rejections: 0 }

/** Prunes these organizations because a person asked, or only surveys them. Each `next` takes a few milliseconds. */
export function* pruneByHand(
  deps: Deps,
  organizations: readonly OrganizationRecord[],
  { dryRun, approved }: { readonly dryRun: boolean; readonly approved: boolean },
): Generator<Seen, void> {
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

function* named<Result>(steps: Generator<Progress, Result>, organization: string): Generator<Seen, Result> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    yield { progress: { organization, ...step.value } }
  }
}

/**
 * Returns one line for a person: what waits for their yes.
 * @param command what they run to give it
 */
export function toldWait(name: string, { events, alerts }: Survey, command = 'incmon prune --yes'): string {
  return `${name}: ${events.due} of ${events.total} events and ${alerts.due} of ${alerts.total} alerts are older than their limit; more than half at once is not deleted by itself: look at the clock and at the limits in GET /api/organization, then run ${command}`
}
