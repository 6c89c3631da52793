/** Deletes messages that were sent long ago. */
import { pruneOutbox } from '../store/notification/outbox.ts'
import type { Deps } from './deps.ts'

const KEPT_FOR = 30 * 86_400_000
const PRUNE_STEP = 1_000

/** Deletes some of the messages that were delivered or abandoned more than 30 days ago. */
export function pruneMessages(deps: Deps): void {
  pruneOutbox(deps.db, deps.now() - KEPT_FOR, PRUNE_STEP)
}
