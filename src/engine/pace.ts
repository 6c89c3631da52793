/** Decides how long the queue gathers inputs before a batch, and how many inputs a batch takes. */
import { setImmediate } from 'node:timers/promises'

/**
 * How long a batch should take, in milliseconds. In an alert storm, every batch rewrites the same index pages, so a
 * longer batch writes fewer pages per alert. A read waits for at most one batch.
 */
const BATCH_MS = 40
/** After a shorter batch, the queue does not gather: few inputs are waiting, and gathering would only delay them. */
const LONG_MS = 8
/**
 * The maximum time for gathering: `GATHER_SHARE` of the last batch's duration. Node accepts one connection per turn of
 * its event loop, so without this wait a burst of new connections would need many batches.
 */
const GATHER_SHARE = 1 / 4
/**
 * Before a batch, the queue waits for at least one event loop turn per millisecond of the last batch's duration. This
 * minimum is limited to `GATHER_TURNS`.
 */
const GATHER_TURNS = 50
/** A batch is assumed to take at most this many times as long as its decisions. */
const MAX_SAVING = 8

type Pace = {
  /**
   * Keeps waiting while each turn of the event loop adds inputs, because inputs in the same commit share written pages.
   * The wait grows with the load. Otherwise, new connections would wait for seconds behind existing ones.
   */
  readonly gather: (waiting: () => number) => Promise<void>
  /** Starts measuring a batch. */
  readonly begin: () => {
    readonly began: number
    /** Returns whether the batch has enough inputs. Called after each decision. */
    readonly isEnough: () => boolean
    /** Called when the batch is saved. */
    readonly saved: () => void
  }
}

/** @param elapsed returns the time of a monotonic clock in milliseconds */
export function createPace(elapsed: () => number): Pace {
  let lastMs = 0
  /** The ratio of the last batch's total duration to the duration of its decisions. */
  let wholeByDecided = 1
  return {
    gather: async (waiting) => {
      const least = Math.min(GATHER_TURNS, lastMs)
      const until = elapsed() + lastMs * GATHER_SHARE
      let before = 0
      for (let turn = 1; ; turn += 1) {
        await setImmediate()
        const count = waiting()
        if (count < 2 || lastMs < LONG_MS) return
        if (turn >= least && (count === before || elapsed() > until)) return
        before = count
      }
    },
    begin: () => {
      const began = elapsed()
      let decidedMs = 0
      return {
        began,
        isEnough: () => {
          decidedMs = elapsed() - began
          return decidedMs * wholeByDecided > BATCH_MS
        },
        saved: () => {
          lastMs = elapsed() - began
          wholeByDecided = Math.min(MAX_SAVING, lastMs / Math.max(decidedMs, lastMs / MAX_SAVING))
        },
      }
    },
  }
}
