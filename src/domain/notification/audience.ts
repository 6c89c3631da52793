/** Says who would be told about an alert, when, by which rule, and what would stop it. */
import type { ChannelSettings } from './channel.ts'
import { choiceOf, type RuledNotification } from './rule.ts'

type Channel = { readonly name: string; readonly enabled: boolean; readonly settings: ChannelSettings }

export type Listener = {
  readonly channel: string
  /** When the channel gets the message, in Unix milliseconds; null for never. */
  readonly at: number | null
  /** The number of the deciding rule, counted from 1; null if the channel has no rules or none matches. */
  readonly rule: number | null
  readonly why: 'disabled' | 'no-rule-matches' | 'quiet-hours' | 'escalation' | 'at-once'
}

/** Returns for each channel whether and when it gets a message. */
export function audienceOf(channels: readonly Channel[], notification: RuledNotification, now: number): Listener[] {
  return channels.map(({ name, enabled, settings }): Listener => {
    if (!enabled) return { channel: name, at: null, rule: null, why: 'disabled' }
    const isEscalation = settings.escalateAfter > 0
    const kind = isEscalation ? 'escalation' : notification.kind
    const earliest = now + settings.escalateAfter * 60_000
    const { dueAt, rule } = choiceOf(settings.rules, { ...notification, kind }, earliest)
    const number = rule === null ? null : rule + 1
    if (dueAt === null) return { channel: name, at: null, rule: null, why: 'no-rule-matches' }
    if (dueAt > earliest) return { channel: name, at: dueAt, rule: number, why: 'quiet-hours' }
    return { channel: name, at: dueAt, rule: number, why: isEscalation ? 'escalation' : 'at-once' }
  })
}
