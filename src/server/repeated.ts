/**
 * Logs failures of recurring work, and rejected requests. Logs the first of each kind in full, and only counts all
 * later ones.
 */
import { inspect } from 'node:util'
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'

export type Repeated = {
  readonly failed: (error: unknown) => void
  readonly worked: () => void
  /** Logs how often the work has failed since the last call, one line per kind of failure. */
  readonly tell: () => void
}

/**
 * Watches recurring work. Failures with the same code or message are of the same kind.
 * @param what a name for the log, for example `the sweep`
 */
export function watchRepeated(log: Log, what: string): Repeated {
  /** The number of failures of each kind that have not been logged. */
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
      // For a file or disk error, the stack trace adds nothing.
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
        // If no failure of this kind occurs before the next call, the next failure is logged in full.
        if (more > 0) kinds.set(cause, 0)
        else kinds.delete(cause)
      }
    },
  }
}

/** A rejected request. `error` is set if the error was unexpected. */
type Refusal = { readonly status: number; readonly route: string; readonly [more: string]: unknown }

/**
 * How many rejections of each kind are logged in full. A kind is a route with a status. Unexpected errors have a higher
 * limit.
 */
const WHOLE = 1
const WHOLE_FAULTS = 10

export type Refusals = {
  readonly add: (refusal: Refusal) => void
  /** Logs how many more rejections have occurred since the last call, one line per kind. */
  readonly tell: () => void
}

/**
 * Creates the log of rejections. The number of kinds is limited, because the declared route is used instead of the
 * actual path.
 */
export function createRefusals(log: Log): Refusals {
  const kinds = new Map<string, { readonly status: number; readonly route: string; times: number }>()
  return {
    add: (refusal) => {
      const { status, route } = refusal
      const key = `${status} ${route}`
      const kind = kinds.get(key) ?? { status, route, times: 0 }
      kinds.set(key, kind)
      kind.times += 1
      if (kind.times > wholeOf(status)) return
      if ('error' in refusal) log.error(refusal, 'failed')
      else log.warn(refusal, 'refused')
    },
    tell: () => {
      for (const { status, route, times } of kinds.values()) {
        const more = times - wholeOf(status)
        if (more > 0) log.warn({ status, route, times: more }, 'refused again')
      }
      kinds.clear()
    },
  }
}

function wholeOf(status: number): number {
  return status === 500 ? WHOLE_FAULTS : WHOLE
}
