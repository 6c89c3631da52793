/** Logs failures of repeated work and refused requests: the first of each kind in full, the others as a count. */
import { inspect } from 'node:util'
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'
import type { Log } from './log.ts'

export type Repeated = {
  readonly failed: (error: unknown) => void
  readonly worked: () => void
  /** Logs how often the work failed since its last call, one line for each kind. */
  readonly tell: () => void
}

/**
 * Watches repeated work.
 * @param what a name for the log, for example `the sweep`; failures with the same code or message are one kind
 */
export function watchRepeated(log: Log, what: string): Repeated {
  /** Failures of each kind that are not logged yet. */
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
      // For an error of the file or the disk, the stack trace adds nothing.
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
        // After a period without this kind, the next failure is logged in full. The number of kinds stays small.
        if (more > 0) kinds.set(cause, 0)
        else kinds.delete(cause)
      }
    },
  }
}

/** A refused request. `error` is set for unexpected errors. */
type Refusal = {
  readonly status: number
  readonly route: string
  readonly [more: string]: unknown
}

/**
 * The number of refusals of one kind that are logged in full. A kind is a route with a status. Of unexpected errors,
 * more are logged.
 */
const WHOLE = 1
const WHOLE_FAULTS = 10

export type Refusals = {
  readonly add: (refusal: Refusal) => void
  /** Logs how many further refusals there were since its last call, one line for each kind. */
  readonly tell: () => void
}

/**
 * Creates the log of refusals. The number of kinds is limited, because a refusal has the declared route, not the real
 * path.
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
