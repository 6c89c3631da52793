/** Counts the answers of a replay. */
import { detailOf, parseObject } from '../answer.ts'
import type { RecordedRequest } from './recording.ts'

/** `accepted` and `rejected` count items: events, or the alerts of a notification. */
export type Tally = {
  sent: number
  readonly statuses: Record<string, number>
  accepted: number
  rejected: number
  /** The message of the first refusal. */
  refusal: string | null
}

/** Adds one answer. */
export function countAnswer(tally: Tally, request: RecordedRequest, status: number, text: string): void {
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
  const [first] = rejected
  if (first) tally.refusal ??= `line ${request.line}: item ${first.index} was rejected: ${first.error}`
}

type Accepted = {
  readonly received: true
  readonly eventId?: string | null
  readonly eventIds?: readonly string[]
  readonly rejected?: readonly { readonly index: number; readonly error: string }[]
}

/** Returns null for answers of other programs, such as the page of a proxy. */
function answerOf(text: string): Accepted | null {
  const answer = parseObject(text)
  return answer?.received === true ? (answer as Accepted) : null
}

function itemsOf(body: unknown): number {
  const { alerts } = (body ?? {}) as { alerts?: unknown }
  return Array.isArray(alerts) ? alerts.length : 1
}
