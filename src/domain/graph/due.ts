/** When the graph of an incident is fetched: when the incident opens, while it is open, and after its end. */
import { DAY, MINUTE } from '../units.ts'

/** Times are in ms UTC. `tries`: the number of failed requests since the last success. */
export type GraphState = {
  readonly createdAt: number
  readonly resolvedAt: number | null
  readonly askedAt: number | null
  readonly tries: number
}

/** Older incidents get no graph, because an installation can have thousands of them. */
export const MAX_AGE = DAY
const AGAIN = 5 * MINUTE
const RETRY_AFTER = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const
/** How long after the end the last graph is fetched, so that the graph shows the recovery. */
const TAIL = 2 * MINUTE

export function isGraphDue({ createdAt, resolvedAt, askedAt, tries }: GraphState, now: number): boolean {
  if (askedAt === null) return now - createdAt < MAX_AGE
  if (tries > 0) {
    const wait = RETRY_AFTER[tries - 1]
    return wait !== undefined && now - askedAt >= wait
  }
  if (resolvedAt !== null) return askedAt < resolvedAt + TAIL && now >= resolvedAt + TAIL
  return now - createdAt < MAX_AGE && now - askedAt >= AGAIN
}

/** Returns the end of the period that the graph shows. */
export function graphEnd({ resolvedAt }: Pick<GraphState, 'resolvedAt'>, now: number): number {
  return resolvedAt === null ? now : Math.min(now, resolvedAt + TAIL)
}
