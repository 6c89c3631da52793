/** Answers the inputs of a batch once the batch is on disk. */
import { IncmonError } from '../domain/error.ts'
import type { Batch } from './batch.ts'
import type { Queued } from './queue.ts'
import type { EngineStore } from './store.ts'

export type AnswersDeps = {
  readonly store: Pick<EngineStore, 'sync'>
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly elapsed: () => number
  /**
   * Called once a batch is on disk and its requests have been answered. `milliseconds`: the time since the batch
   * started.
   */
  readonly committed: (inputs: readonly Queued[], batch: Batch, milliseconds: number) => void
  /** Writes the postmortems that are due. Never rejects. */
  readonly writePostmortems: () => Promise<void>
}

const DISK_FAILED = 'the disk failed, and this request may or may not have been stored: send it again'

export function createAnswers({ store, elapsed, committed, writePostmortems }: AnswersDeps) {
  let answered = Promise.resolve()
  /** Resolves once the inputs that wait for a postmortem have been answered. */
  let written = Promise.resolve()
  let diskError: unknown = null

  /** Rejects all inputs and ends the process. After a disk error, there is no way to know what was stored. */
  const stopAfter = (error: unknown, taken: readonly Queued[]) => {
    diskError ??= error
    for (const { reject } of taken) reject(Object.assign(new IncmonError('unavailable', DISK_FAILED), { cause: error }))
    endSoon(error)
  }

  const answer = async (taken: readonly Queued[], batch: Batch, began: number) => {
    try {
      if (diskError !== null) throw diskError
      if (batch.isSaved) await store.sync()
    } catch (error) {
      return stopAfter(error, taken.slice(0, batch.outcomes.length))
    }
    const later: (() => void)[] = []
    batch.outcomes.forEach((result, index) => {
      const give = () => {
        if ('error' in result) taken[index]?.reject(result.error)
        else taken[index]?.resolve(result.outcome as never)
      }
      if (batch.resolving.has(index) && taken[index]?.awaitsPostmortems) later.push(give)
      else give()
    })
    committed(taken, batch, elapsed() - began)
    if (batch.resolving.size === 0) return
    const own = writePostmortems().then(() => {
      for (const give of later) give()
    })
    written = written.then(() => own)
  }

  return {
    /**
     * Starts to sync and answer a saved batch. Resolves when the batch before it is answered, so that only one more batch
     * can be decided and saved while a batch is being synced.
     */
    sync: async (taken: readonly Queued[], batch: Batch, began: number) => {
      await answered
      answered = answer(taken, batch, began)
    },
    stopAfter,
    /** Resolves once the inputs of every saved batch have been answered. */
    settled: async () => {
      await answered
      await written
    },
  }
}

/** Throws an uncaught error once the responses have been sent. The supervisor restarts the process. */
function endSoon(error: unknown): void {
  setTimeout(() => {
    throw error
  }, 100)
}
