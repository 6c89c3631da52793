/** Prunes all organizations in short steps, then returns free space to the disk. */

import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { isBusy } from '../../store/sqlite/fault.ts'
import { giveBackSpace } from '../../store/sqlite/space.ts'
import type { Deps } from '../deps.ts'
import { prune } from './prune.ts'
import type { Tally } from './steps.ts'
import { type Progress, type Survey, survey } from './survey.ts'

export type PruneWatcher = {
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

/** Describes in one line which records await confirmation. @param command the command that confirms */
export function confirmationText(name: string, { events, alerts }: Survey, command = 'incmon prune --yes'): string {
  return `${name}: ${events.due} of ${events.total} events and ${alerts.due} of ${alerts.total} alerts have expired; incmon does not delete more than half of the records without confirmation: check the clock and the retention settings in GET /api/organization, then run ${command}`
}
