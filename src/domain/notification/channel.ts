/** Channels: destinations for messages, and their settings. */
import type { ChannelKind } from './format.ts'
import { CALM, type NotificationKind, OVER } from './kind.ts'
import { type Rule, type RuledNotification, sendTimeOf } from './rule.ts'
import type { Reminders } from './schedule.ts'
import type { Untold } from './truth.ts'

export type ChannelSettings = Reminders & {
  readonly rules: readonly Rule[]
  /** The time zone for times in messages. */
  readonly timeZone: string
  /**
   * The channel gets only incidents that are still unacknowledged after this many minutes. If the value is 0, the
   * channel gets all incidents immediately.
   */
  readonly escalateAfter: number
}

/** A channel as people see it. */
export type Channel = {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
  /** The URL or mail address, with secrets replaced. */
  readonly target: string
  readonly enabled: boolean
  readonly settings: ChannelSettings
  /** Why the last attempt failed; null if it succeeded. */
  readonly failing: string | null
  readonly failingSince: number | null
  readonly deliveredAt: number | null
}

export const DEFAULT_CHANNEL: ChannelSettings = {
  rules: [],
  timeZone: 'UTC',
  remindAfter: 10,
  remindEvery: 30,
  escalateAfter: 0,
}

/** When a channel sends a message, or why it does not. `only`: the one form in which it wants to hear of the incident. */
type Planned = {
  readonly rowId: number
  readonly kind: NotificationKind
  readonly dueAt: number | null
  readonly untold: Untold | null
  readonly only: NotificationKind | null
}

/** What makes an incident known to a channel that was not told of it, because its rules did not match before. */
const FIRST: ReadonlySet<NotificationKind> = new Set(['worse', 'again', 'severity'])

/**
 * Returns for each channel when it sends a notification, and why it does not do so now. For a channel that was not told
 * of the incident, it is new. A channel that was told hears the end, even if its rules do not match any more.
 * @param knows whether the channels were told of the incident. An escalation channel gets updates only of these.
 * @param at when a channel that was not told of the incident gets the notification at the earliest
 * @param toldAt when the others do
 */
export function recipientsOf(
  channels: readonly { readonly rowId: number; readonly enabled: boolean; readonly settings: ChannelSettings }[],
  notification: RuledNotification,
  knows: boolean,
  at: number,
  toldAt = at,
): Planned[] {
  const { kind } = notification
  const isNew = kind === 'opened' || kind === 'sender-silent'
  return channels.flatMap(({ rowId, enabled, settings: { rules, escalateAfter } }): Planned[] => {
    const not = (untold: Untold): Planned[] => [{ rowId, kind, dueAt: null, untold, only: null }]
    if (!enabled) return knows || isNew || wantsOnlyEnd(rules, notification) ? not('disabled') : []
    const earliest = isNew ? at : toldAt
    const ruled = planOf(knows && OVER.has(kind) ? rulesOfTold(rules, notification) : rules, notification, earliest)
    // Who was told that it is critical hears that it is less severe now.
    const isLess = knows && kind === 'severity' && ruled.dueAt === null
    const own = isLess ? planOf(rules, { ...notification, severity: 'critical' }, earliest) : ruled
    // The reason is in the timeline once, and not for each later message.
    if (escalateAfter > 0 && !knows) return isNew && own.dueAt !== null ? not('escalation') : []
    const opened = isNew ? own : planOf(rules, { ...notification, kind: 'opened' }, at)
    const isFirst = !knows && !isNew && opened.dueAt !== null && opened.only !== 'group'
    if (isFirst && CALM.has(kind)) return []
    const first = isFirst && FIRST.has(kind) ? { ...opened, kind: 'opened' as const, from: at } : null
    // Rules that leave out the opening get no message of its kind.
    const later = { ...own, only: opened.dueAt === null ? kind : own.only, kind, from: earliest }
    const { dueAt, only, from, kind: as } = first ?? later
    if (dueAt === null) return not('rule')
    return [{ rowId, kind: as, dueAt, untold: dueAt > from ? 'quiet-hours' : null, only }]
  })
}

/** Returns whether rules want to hear an end, but not the opening. */
function wantsOnlyEnd(rules: readonly Rule[], notification: RuledNotification): boolean {
  const wants = (kind: NotificationKind) => sendTimeOf(rules, { ...notification, kind }, 0) !== null
  return OVER.has(notification.kind) && wants(notification.kind) && !wants('opened')
}

/**
 * Returns the rules that decide about an incident that the channel was told of: those that match it. If none does any
 * more, it does not matter which incidents a rule is about.
 */
function rulesOfTold(rules: readonly Rule[], notification: RuledNotification): readonly Rule[] {
  const matching = rules.filter((rule) => sendTimeOf([{ ...rule, events: undefined }], notification, 0) !== null)
  return matching.length > 0 ? matching : rules.map(({ events, quietHours }) => ({ events, quietHours }))
}

/** A new incident is announced alone or, if it has a cause in common with others, in the message about the group. */
function planOf(rules: readonly Rule[], notification: RuledNotification, earliest: number) {
  const alone = sendTimeOf(rules, notification, earliest)
  if (notification.kind !== 'opened') return { dueAt: alone, only: null }
  const grouped = sendTimeOf(rules, { ...notification, kind: 'group' }, earliest)
  if (alone === null) return { dueAt: grouped, only: grouped === null ? null : ('group' as const) }
  return {
    dueAt: grouped === null ? alone : Math.min(alone, grouped),
    only: grouped === null ? ('opened' as const) : null,
  }
}
