/** The pruner: all organizations in turn, then the space that became free, one short step at a time. */

import { listOrganizations, type OrganizationRecord } from '../store/organizations.ts'
import { isHeld } from '../store/sqlite/fault.ts'
import { giveBackSpace } from '../store/sqlite/vacuum.ts'
import type { Deps } from './deps.ts'
import { prune, type Survey } from './prune.ts'

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

/** One line for a person. */
export function toldWait({ name }: OrganizationRecord, { events, alerts }: Survey): string {
  return `${name}: ${events.due} of ${events.total} events and ${alerts.due} of ${alerts.total} alerts are older than their limit; more than half at once is not deleted by itself: look at the clock and at the limits in GET /api/organization, then run incmon prune --yes`
}
