/** Refusals in the log: the first of a kind whole, the others counted, so that a storm of them fills no disk. */
import type { Log } from './log.ts'

/** A refused request, and what else the log should say of it; `error` is what we did not foresee. */
export type Refusal = {
  readonly status: number
  readonly route: string
  readonly [more: string]: unknown
}

/** Of each kind, a route with a status, so many are logged whole; faults of ours differ more often than they repeat. */
const WHOLE = 1
const WHOLE_FAULTS = 10

export type Refusals = {
  readonly add: (refusal: Refusal) => void
  /** Logs how many more there were since the last time, one line for each kind; to be called now and then. */
  readonly tell: () => void
}

/** There are no more kinds than routes × statuses: a refusal names its route as it is declared, not as it was asked for. */
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
