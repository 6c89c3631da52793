/** Keeps the list of a whole cluster from leaving much memory behind. */
import { setFlagsFromString } from 'node:v8'
import type { Db } from '../store/sqlite/open.ts'
import { limitCache } from '../store/sqlite/space.ts'

/** In milliseconds. V8 collects about ten seconds after the last large allocations. */
const COLLECTING = 20_000

/**
 * `begin` is to be called before and after a list, and `stop` before the database is closed. V8 keeps for minutes what
 * nobody needs, because it prefers speed. For twenty seconds, it prefers memory, and collects in steps of some
 * milliseconds; a collection on demand would block for longer.
 */
export function createCollecting(db: Db) {
  let timer: NodeJS.Timeout | undefined
  let unlimit: (() => void) | null = null
  const end = () => {
    setFlagsFromString('--no-optimize-for-size')
    unlimit?.()
    unlimit = null
  }
  return {
    begin: () => {
      setFlagsFromString('--optimize-for-size')
      unlimit ??= limitCache(db)
      clearTimeout(timer)
      timer = setTimeout(end, COLLECTING).unref()
    },
    stop: () => clearTimeout(timer),
  }
}
