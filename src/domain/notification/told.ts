/** Timeline rows about messages: who was told, when and through which channel, and why somebody was not told. */
import { sortRows, type TimelineRow } from '../incident/timeline-rows.ts'
import { formatTime, joinNames } from '../text.ts'
import type { MessageKind } from './kind.ts'
import type { MessageStatus } from './schedule.ts'
import type { Untold } from './truth.ts'

/** A message about an incident. Times are Unix times in milliseconds. */
export type Told = {
  readonly kind: MessageKind
  readonly channel: string
  readonly status: MessageStatus
  /** When the message was delivered or given up, or when it was queued. */
  readonly at: number
  /** When the next attempt is due; null if the message is part of the next digest. */
  readonly dueAt: number | null
  /** Why the last attempt failed; null if none did. */
  readonly detail: string | null
  /** The first line of the message as it was sent; null if it was not sent. */
  readonly title: string | null
}

/** A message that a channel did not get. */
export type NotTold = {
  readonly kind: MessageKind
  readonly channel: string
  readonly at: number
  readonly reason: Untold
}

const REASONS: Readonly<Record<Untold, string>> = {
  over: 'the problem was over',
  resolved: 'the incident was resolved',
  changed: 'the incident had changed in the meantime',
  silence: 'a silence covers all alerts of the problem',
  acknowledged: 'somebody had acknowledged the incident',
  unknown: 'nobody had been told that the problem was on',
  rule: 'no rule of the channel matches',
  'quiet-hours': 'the channel has quiet hours and gets it later',
  escalation: 'the channel gets only incidents that nobody acknowledges in time',
  disabled: 'the channel is disabled',
  deleted: 'the incident was deleted',
}

/** Returns a row for each message, with all channels that got it in the same second. */
export function toldRows(
  timeline: readonly TimelineRow[],
  incidentId: string,
  told: readonly Told[],
  notTold: readonly NotTold[],
): readonly TimelineRow[] {
  const moments = [
    ...told.map((one) => ({ kind: 'message', at: one.at, channel: one.channel, ...toldText(one) })),
    ...notTold.map(({ kind, at, channel, reason }) => {
      return { kind: 'not-told', at, channel, before: `message “${kind}” not sent to `, after: `: ${REASONS[reason]}` }
    }),
  ]
  if (moments.length === 0) return timeline
  const groups = Map.groupBy(moments, ({ kind, at, before, after }) =>
    JSON.stringify([kind, Math.floor(at / 1000), before, after]),
  )
  const rows = [...groups.values()].flatMap((of): TimelineRow[] => {
    const [first] = of
    if (!first) return []
    const { kind, at, before, after } = first
    const text = `${before}${joinNames([...new Set(of.map(({ channel }) => channel))])}${after}`
    const common = { actor: null, source: null, ref: `incident/${incidentId}`, code: null }
    return [{ at, until: at, kind, text, ...common, count: 1, seen: 1 }]
  })
  return sortRows([...timeline, ...rows])
}

function toldText({ kind, status, dueAt, detail, title }: Told): { readonly before: string; readonly after: string } {
  const said = title === null ? '' : `: ${title}`
  if (status === 'delivered') return { before: `message “${kind}” sent to `, after: said }
  const why = detail === null ? '' : `: ${detail}`
  if (status === 'failed') return { before: `message “${kind}” could not be sent to `, after: why }
  const before = `message “${kind}” waits for `
  if (dueAt === null) return { before, after: ', in the next digest' }
  return {
    before,
    after: detail === null ? `, due at ${formatTime(dueAt)}` : `${why}, next attempt at ${formatTime(dueAt)}`,
  }
}

type Waiting = {
  readonly leaderId: number | null
  /** Why the channel's last attempt failed; null if it did not. */
  readonly failing: string | null
  readonly dueAt: number
  readonly nextAt: number | null
}

/**
 * Returns when and why a pending notification waits behind a message that could not be sent, or null if it does not:
 * such a notification waits for the next attempt of that message.
 */
export function behindFailure({ leaderId, failing, dueAt, nextAt }: Waiting) {
  return leaderId === null && failing !== null ? { dueAt: Math.max(dueAt, nextAt ?? 0), detail: failing } : null
}
