/** The tally of a replay: what was answered so far. */
import { detailOf, objectIn } from '../answer.ts'
import type { Recorded } from './recording.ts'

/** Items: events, or alerts of a notification. `rejected`: those that were sent and not accepted. */
export type Tally = {
  sent: number
  readonly statuses: Record<string, number>
  accepted: number
  rejected: number
  /** The first refusal, in words. */
  refusal: string | null
}

/** Adds one answer. */
export function count(tally: Tally, request: Recorded, status: number, text: string): void {
  tally.sent += 1
  tally.statuses[status] = (tally.statuses[status] ?? 0) + 1
  const answer = status === 200 ? answerOf(text) : null
  if (!answer) {
    tally.rejected += itemsOf(request.body)
    tally.refusal ??= `line ${request.line} was answered ${status}: ${detailOf(text)}`
    return
  }
  const { eventId, eventIds, rejected = [] } = answer
  tally.accepted += eventIds?.length ?? (eventId ? 1 : 0)
  tally.rejected += rejected.length
  const [worst] = rejected
  if (worst) tally.refusal ??= `line ${request.line}: item ${worst.index} was rejected: ${worst.error}`
}

type Accepted = {
  readonly received: true
  readonly eventId?: string | null
  readonly eventIds?: readonly string[]
  readonly rejected?: readonly { readonly index: number; readonly error: string }[]
}

/** Null for what incmon does not answer, such as a proxy's page. */
function answerOf(text: string): Accepted | null {
  const answer = objectIn(text)
  return answer?.received === true ? (answer as Accepted) : null
}

function itemsOf(body: unknown): number {
  const { alerts } = (body ?? {}) as { alerts?: unknown }
  return Array.isArray(alerts) ? alerts.length : 1
}
