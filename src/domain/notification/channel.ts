/** Channels: destinations for messages, and their settings. */
import type { ChannelKind } from './format.ts'
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

/** When a channel sends a message, or why it does not. `only`: the one form in which it wants to hear of an incident. */
type Planned = {
  readonly rowId: number
  readonly dueAt: number | null
  readonly untold: Untold | null
  readonly only: 'opened' | 'group' | null
}

/**
 * Returns for each channel when it sends a notification, and why it does not do so now.
 * @param involved returns whether a channel has already sent a message about the incident. An escalation channel gets
 * updates only about incidents for which `involved` returns true.
 * @param earliest the time before which the notification is not sent
 */
export function recipientsOf(
  channels: readonly { readonly rowId: number; readonly enabled: boolean; readonly settings: ChannelSettings }[],
  notification: RuledNotification,
  involved: (rowId: number) => boolean,
  earliest: number,
): Planned[] {
  return channels.flatMap(({ rowId, enabled, settings }): Planned[] => {
    const { dueAt, only } = planOf(settings.rules, notification, earliest)
    const not = (untold: Untold): Planned => ({ rowId, dueAt: null, untold, only })
    const isNew = notification.kind === 'opened' || notification.kind === 'sender-silent'
    if (!enabled) return isNew ? [not('disabled')] : []
    // The reason is in the timeline once, and not for each later message.
    if (settings.escalateAfter > 0 && !involved(rowId)) return isNew && dueAt !== null ? [not('escalation')] : []
    if (dueAt === null) return [not('rule')]
    return [{ rowId, dueAt, untold: dueAt > earliest ? 'quiet-hours' : null, only }]
  })
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
