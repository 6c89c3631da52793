/** The pruner: prunes all organizations, then returns free space to the disk, in short steps. */

import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { isBusy } from '../../store/sqlite/fault.ts'
import { giveBackSpace } from '../../store/sqlite/vacuum.ts'
import type { Deps } from '../deps.ts'
import { type Progress, prune, type Survey, survey, type Tally } from './prune.ts'

export type PruneWatcher = {
  /** Called once a day for each organization with more than half of its records expired. */
  readonly waits: (organization: OrganizationRecord, found: Survey) => void
  /** Called if pruning an organization fails. The organization is tried again in the next round. */
  readonly failed: (organization: OrganizationRecord, error: unknown) => void
}

/**
 * Prunes all organizations. Each `next` takes a few milliseconds.
 * @throws the error of SQLite if another process locked the database; finished steps stay
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

/** The output for a person: progress, the records to delete, and the deleted records. */
export type PruneOutput =
  | { readonly progress: Progress & { readonly organization: string } }
  | { readonly survey: Survey & { readonly organization: string } }
  | {
      readonly outcome: {
        readonly organization: string
        readonly deleted: Tally
        /** More than half are expired, so nothing was deleted. */
        readonly waits: Survey | null
      }
    }

const NOTHING: Tally = { events: 0, alerts: 0, incidents: 0, pipelines: 0, images: 0, rejections: 0 }

/** Prunes these organizations for a person, or only surveys them. Each `next` takes a few milliseconds. */
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

/** Returns one line for a person: the records that a person must confirm. @param command the command that confirms */
export function confirmationText(name: string, { events, alerts }: Survey, command = 'incmon prune --yes'): string {
  return `${name}: ${events.due} of ${events.total} events and ${alerts.due} of ${alerts.total} alerts are older than their limit; more than half is never deleted automatically: check the clock and the limits in GET /api/organization, then run ${command}`
}
