/** Work that is done again and again, in the log: a failure once and then counted, and that it works again. */
import { inspect } from 'node:util'
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'

export type Repeated = {
  readonly failed: (error: unknown) => void
  readonly worked: () => void
  /** Logs how often it failed since the last time, one line for each kind; to be called now and then. */
  readonly tell: () => void
}

/** @param what the work, as in `the sweep`; failures of one code, or without one of one message, are of one kind */
export function watchRepeated(log: Log, what: string): Repeated {
  /** How often each kind was not told yet. */
  const kinds = new Map<string, number>()
  let times = 0
  return {
    failed: (error) => {
      const kind = errorCode(error)
      const before = kinds.get(kind)
      kinds.set(kind, before === undefined ? 0 : before + 1)
      times += 1
      if (before !== undefined) return
      const remedy = remedyOf(kind)
      // Of a fault of the file or the disk no place in the program says more.
      log.error(remedy ? { cause: String(error), remedy } : { cause: inspect(error) }, `${what} failed`)
    },
    worked: () => {
      if (times > 0) log.info({ times }, `${what} works again`)
      times = 0
      kinds.clear()
    },
    tell: () => {
      for (const [cause, more] of kinds) {
        if (more > 0) log.error({ cause, times: more }, `${what} failed again`)
        // What did not come back is told whole when it does: the kinds are no more than fit between two tellings.
        if (more > 0) kinds.set(cause, 0)
        else kinds.delete(cause)
      }
    },
  }
}
