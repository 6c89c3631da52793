/** Spreads work over the turns of the event loop, so that new connections and health checks come in between. */

/** The number of turns in a row that only accept connections. After them, the waiting work goes on. */
const MOST_ACCEPTING = 100

export function createTurns() {
  const waiting: (() => void)[] = []
  let [isAccepting, accepting] = [false, 0]
  const turn = () => {
    accepting = isAccepting && accepting < MOST_ACCEPTING ? accepting + 1 : 0
    isAccepting = false
    const work = accepting === 0 ? waiting.shift() : undefined
    if (waiting.length > 0) setImmediate(turn)
    work?.()
  }
  return {
    /** Does the work in one of the next turns, alone, and in the order of the calls. */
    later: (work: () => void) => {
      if (waiting.push(work) === 1) setImmediate(turn)
    },
    /** Tells that a connection was accepted in this turn. Node accepts one per turn, so others may be waiting. */
    accepted: () => {
      isAccepting = true
    },
  }
}

/** Of the event loop of this thread. */
export const TURNS = createTurns()
