/** Channels: destinations for messages, and their settings. */
import { type Rule, type RuledNotification, sendTimeOf } from './rule.ts'
import type { Reminders } from './schedule.ts'

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

export const DEFAULT_CHANNEL: ChannelSettings = {
  rules: [],
  timeZone: 'UTC',
  remindAfter: 10,
  remindEvery: 30,
  escalateAfter: 0,
}

export type Recipient = { readonly rowId: number; readonly enabled: boolean; readonly settings: ChannelSettings }

/**
 * Returns the channels that get a notification, and when to send it to each.
 * @param involved returns whether a channel has already sent a message about the incident. An escalation channel gets
 * updates only about incidents for which `involved` returns true.
 */
export function recipientsOf(
  channels: readonly Recipient[],
  notification: RuledNotification,
  involved: (rowId: number) => boolean,
  now: number,
): { readonly rowId: number; readonly dueAt: number }[] {
  return channels.flatMap(({ rowId, enabled, settings }) => {
    if (!enabled || (settings.escalateAfter > 0 && !involved(rowId))) return []
    const dueAt = sendTimeOf(settings.rules, notification, now)
    return dueAt === null ? [] : [{ rowId, dueAt }]
  })
}
