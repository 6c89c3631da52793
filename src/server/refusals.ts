/**
 * Logs refused requests: the first of each kind in full, the others as a count, so that a storm does not fill the disk.
 */
import type { Log } from './log.ts'

/** A refused request. `error` is set for unexpected errors. */
type Refusal = {
  readonly status: number
  readonly route: string
  readonly [more: string]: unknown
}

/** Number of log lines in full per kind, where a kind is a route with a status. Unexpected errors get more lines. */
const WHOLE = 1
const WHOLE_FAULTS = 10

export type Refusals = {
  readonly add: (refusal: Refusal) => void
  /** Logs how many more there were since its last call, one line for each kind. */
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
