/**
 * Writes the postmortems that are due. The commit that resolves an incident marks its postmortem as due, so a crash loses
 * none: the next start writes the rest. A thread generates each postmortem from the saved records, which can take a
 * second for a large incident.
 */
import type { Notice } from '../domain/notice.ts'
import type { EngineStore } from './store.ts'

type PostmortemsDeps = {
  readonly store: Pick<EngineStore, 'duePostmortems' | 'writePostmortem' | 'faultOf'>
  readonly now: () => number
  readonly newId: () => string
  readonly announce: (notice: Notice) => void
}

const RETRY_MS = 60_000
/** The same if the store failed: the disk may have room again, or another process may have released its lock. */
const RETRY_STORE_MS = 2_000

/** Writes one postmortem at a time, because two resolutions of an incident have to get revisions in order. */
export function createPostmortems({ store, now, newId, announce }: PostmortemsDeps) {
  let last = Promise.resolve()
  let failed: { readonly error: unknown; readonly retryAt: number } | null = null

  const writeAll = async () => {
    failed = null
    for (const { rowId, notice } of store.duePostmortems()) {
      try {
        await store.writePostmortem(rowId, newId)
        announce(notice)
      } catch (error) {
        const isOfStore = store.faultOf(error) !== null
        failed ??= { error, retryAt: now() + (isOfStore ? RETRY_STORE_MS : RETRY_MS) }
        // The others would fail, too.
        if (isOfStore) return
      }
    }
  }

  /** Resolves when every postmortem that is due now has been written or has failed. */
  const write = () => {
    last = last.then(writeAll)
    return last
  }

  return {
    write,
    /**
     * Tries the failed ones again, unless they have just failed.
     * @throws the error of the first one that fails again
     */
    retry: async () => {
      if (failed === null || now() < failed.retryAt) return
      await write()
      if (failed !== null) throw (failed as { readonly error: unknown }).error
    },
  }
}
