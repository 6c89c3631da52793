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
  /** When the next attempt is due. */
  readonly dueAt: number
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
  const next = `, next attempt at ${formatTime(dueAt)}`
  return {
    before: `message “${kind}” waits for `,
    after: detail === null ? `, due at ${formatTime(dueAt)}` : why + next,
  }
}
