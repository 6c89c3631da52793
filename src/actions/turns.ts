/** Shares the time of the main thread, so that the server answers requests in between. */
import { setImmediate } from 'node:timers/promises'

/** Returns a function that resolves when it is the caller's turn: one caller in each round of the event loop. */
export function createTurns(): () => Promise<void> {
  let turns = Promise.resolve()
  return () => {
    turns = turns.then(() => setImmediate())
    return turns
  }
}
