/** Timeline rows about messages: who was told, when and through which channel, and why somebody was not told. */
import { sortRows, type TimelineRow } from '../incident/timeline-rows.ts'
import { ordered } from '../order.ts'
import { formatTime, joinNames } from '../text.ts'
import { MINUTE } from '../units.ts'
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
  /** The first line without the age of the problem; null if none was stored. */
  readonly titleWithoutAge?: string | null
  /** Whether the message was a digest, whose first line can be about another incident. */
  readonly isDigest?: boolean
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
  failing: 'the receiver fails and gets it later',
  escalation: 'the channel gets only incidents that nobody acknowledges in time',
  disabled: 'the channel is disabled',
  deleted: 'the incident was deleted',
  known: 'an earlier message had said so',
}

/** What a channel's own settings keep from it is no news, unless nobody was told. */
const BY_OWN_RULE: ReadonlySet<Untold> = new Set(['rule', 'escalation', 'known', 'disabled', 'failing'])

/** Messages to several channels within this time, with the same text apart from its age, are one row. */
const TOGETHER = MINUTE

type Moment = {
  readonly kind: 'message' | 'not-told'
  readonly at: number
  readonly channel: string
  readonly before: string
  readonly after: string
  /** `after` without the age of the problem. */
  readonly ageless: string
}

/** Who was told about an incident, and who was not, with the reason. Times are Unix times in milliseconds. */
export type WhoWasTold = {
  readonly hasChannel: boolean
  readonly told: readonly string[]
  /** When somebody was told last; null if nobody was. */
  readonly lastAt: number | null
  /** Channels whose message is queued. `dueAt`: null if it is part of the next digest. */
  readonly waiting: readonly { readonly name: string; readonly dueAt: number | null }[]
  /** `since`: when the channel began to fail; null if it does not. */
  readonly notTold: readonly { readonly name: string; readonly why: string; readonly since: number | null }[]
}

/** What a channel got about an incident. */
export type ChannelState = {
  readonly name: string
  readonly enabled: boolean
  readonly failing: string | null
  readonly failingSince: number | null
  readonly toldAt: number | null
  readonly dueAt: number | null
  /** Whether the message could not be sent. */
  readonly failed: boolean
  readonly reason: Untold | null
}

const SHORT: Readonly<Record<Untold, string>> = {
  over: 'it was over',
  resolved: 'it was resolved',
  changed: 'it had changed',
  silence: 'silence',
  acknowledged: 'acknowledged before',
  unknown: 'not told before',
  rule: 'rule',
  'quiet-hours': 'quiet hours',
  failing: 'failing',
  escalation: 'only if nobody acknowledges',
  disabled: 'disabled',
  deleted: 'deleted',
  known: 'got the all-clear',
}

/** Sorts channels by whether they were told about an incident. `now`: a later time is shown, an earlier one is the next digest. */
export function whoWasTold(channels: readonly ChannelState[], now: number): WhoWasTold {
  const untold = channels.filter(({ toldAt }) => toldAt === null)
  const isWaiting = ({ dueAt, failing }: ChannelState) => dueAt !== null && failing === null
  return {
    hasChannel: channels.length > 0,
    told: channels.flatMap(({ name, toldAt }) => (toldAt === null ? [] : [name])),
    lastAt: channels.reduce<number | null>(
      (last, { toldAt }) => (toldAt === null ? last : Math.max(last ?? 0, toldAt)),
      null,
    ),
    waiting: untold
      .filter(isWaiting)
      .map(({ name, dueAt }) => ({ name, dueAt: dueAt !== null && dueAt > now ? dueAt : null })),
    notTold: untold.flatMap((one) => {
      const why = isWaiting(one) ? null : whyNot(one)
      return why === null ? [] : [{ name: one.name, why, since: why === FAILING ? one.failingSince : null }]
    }),
  }
}

const FAILING = 'failing'

/** Returns why a channel was not told; null if nothing is known, such as for a channel that was added later. */
function whyNot({ enabled, failing, dueAt, failed, reason }: ChannelState): string | null {
  if (failing !== null && (dueAt !== null || failed)) return FAILING
  if (failed) return 'could not be sent'
  return reason !== null ? SHORT[reason] : enabled ? null : 'disabled'
}

/** Returns a row for each message, with all channels that got the same within a minute. */
export function toldRows(
  timeline: readonly TimelineRow[],
  incidentId: string,
  told: readonly Told[],
  notTold: readonly NotTold[],
): readonly TimelineRow[] {
  const isToldKind = new Set(told.map(({ kind }) => kind))
  const withheld = notTold.filter(({ kind, reason }) => !BY_OWN_RULE.has(reason) || !isToldKind.has(kind))
  const moments: readonly Moment[] = [
    ...messagesOf(told).map(([one, ...more]) => {
      const kinds = [...new Set([one, ...more].map(({ kind }) => kind))].reverse()
      return { kind: 'message' as const, at: one.at, channel: one.channel, ...toldText(one, kinds) }
    }),
    ...withheld.map(({ kind, at, channel, reason }) => {
      const [before, after] = [`message “${kind}” not sent to `, `: ${REASONS[reason]}`]
      return { kind: 'not-told' as const, at, channel, before, after, ageless: after }
    }),
  ]
  return moments.length === 0 ? timeline : sortRows([...timeline, ...grouped(moments).map(rowOf(incidentId))])
}

/** Returns what was sent, newest first. A digest is one message, although it has several kinds of news of an incident. */
function messagesOf(told: readonly Told[]): readonly (readonly [Told, ...Told[]])[] {
  const keyOf = ({ status, channel, at, title, kind }: Told, index: number) =>
    status === 'delivered' && title !== null ? `${channel} ${at} ${title}` : `${index} ${kind}`
  const byMessage = [
    ...Map.groupBy(
      told.map((one, index) => ({ one, key: keyOf(one, index) })),
      ({ key }) => key,
    ).values(),
  ]
  return byMessage.flatMap(([first, ...more]) => (first ? [[first.one, ...more.map(({ one }) => one)]] : []))
}

function grouped(moments: readonly Moment[]): readonly (readonly [Moment, ...Moment[]])[] {
  const newest = new Map<string, [Moment, ...Moment[]]>()
  return ordered(moments, ({ at, channel }) => [at, channel]).flatMap((one) => {
    const key = JSON.stringify([one.kind, one.before, one.ageless])
    const known = newest.get(key)
    if (known && one.at - known[0].at < TOGETHER && !known.some((other) => isAnother(one, other))) {
      known.push(one)
      return []
    }
    const group: [Moment, ...Moment[]] = [one]
    newest.set(key, group)
    return [group]
  })
}

/** A channel's next message has its own row. What is part of the same digest, or was not sent, has none. */
function isAnother(one: Moment, other: Moment): boolean {
  return one.kind === 'message' && one.channel === other.channel && one.at !== other.at
}

function rowOf(incidentId: string) {
  return (of: readonly [Moment, ...Moment[]]): TimelineRow => {
    const [{ kind, at, before, after, ageless }] = of
    const said = of.every((one) => one.after === after) ? after : ageless
    const text = `${before}${joinNames([...new Set(of.map(({ channel }) => channel))])}${said}`
    const common = { actor: null, source: null, ref: `incident/${incidentId}`, code: null }
    return { at, until: at, kind, text, ...common, count: 1, seen: 1 }
  }
}

function toldText(told: Told, kinds: readonly MessageKind[]): Pick<Moment, 'before' | 'after' | 'ageless'> {
  if (told.status !== 'delivered') {
    const [before, after] = unsentText(told)
    return { before, after, ageless: after }
  }
  const { title, titleWithoutAge, isDigest } = told
  const saidOf = (line: string | null) => (line === null ? '' : isDigest ? ', in a digest' : `: ${line}`)
  const before = `message ${joinNames(kinds.map((one) => `“${one}”`))} sent to `
  return { before, after: saidOf(title), ageless: saidOf(titleWithoutAge ?? title) }
}

function unsentText({ kind, status, dueAt, detail }: Told): readonly [before: string, after: string] {
  const why = detail === null ? '' : `: ${detail}`
  if (status === 'failed') return [`message “${kind}” could not be sent to `, why]
  const before = `message “${kind}” waits for `
  if (dueAt === null) return [before, ', in the next digest']
  return [before, detail === null ? `, due at ${formatTime(dueAt)}` : `${why}, next attempt at ${formatTime(dueAt)}`]
}

type Waiting = {
  readonly leaderId: number | null
  /** Why the channel's last attempt failed; null if it did not. */
  readonly failing: string | null
  readonly dueAt: number
  readonly nextAt: number | null
}

/**
 * Returns when and why a pending notification waits for a receiver that fails, or null if the receiver does not fail. All
 * messages wait for the channel's next attempt: if it succeeds, they are sent at once.
 */
export function behindFailure({ leaderId, failing, dueAt, nextAt }: Waiting) {
  if (failing === null) return null
  return { dueAt: leaderId === null ? Math.max(dueAt, nextAt ?? 0) : (nextAt ?? dueAt), detail: failing }
}
