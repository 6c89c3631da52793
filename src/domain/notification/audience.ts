/** Says who would be told about an alert, when, by which rule, and what would stop it. */

import { labelTest, type Matcher } from '../silence/matcher.ts'
import type { ChannelSettings } from './channel.ts'
import { choiceOf, type RuledAlert, type RuledNotification, readsAlerts, sendTimeOf } from './rule.ts'

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

// The receivers of an alert in the sense of Alertmanager: incmon itself, and the channels that hear of it.

/** The receiver that gets every alert: incmon itself. Every Alertmanager has such a receiver. */
export function rootReceiver(channels: readonly Channel[]): string {
  return channels.some(({ name }) => name === 'incmon') ? 'incmon (all alerts)' : 'incmon'
}

/** Returns a function that lists the receivers of an alert: the channels that hear of a new incident, or the root. */
export function receiversOf(
  channels: readonly Channel[],
): (alert: Omit<RuledNotification, 'kind' | 'alerts'>, matched: () => RuledAlert) => readonly string[] {
  const enabled = channels.filter((channel) => channel.enabled)
  const root = [rootReceiver(channels)]
  return (alert, matched) => {
    const names = enabled.flatMap(({ name, settings }) => {
      return sendTimeOf(
        settings.rules,
        { ...alert, kind: 'opened', alerts: readsAlerts(settings) ? [matched()] : [] },
        0,
      ) === null
        ? []
        : name
    })
    return names.length === 0 ? root : names
  }
}

export function receiverNames(channels: readonly Channel[]): readonly string[] {
  return [rootReceiver(channels), ...channels.map(({ name }) => name)]
}

/** Returns a test for the names of receivers. `receiver`: a matcher for the names, or null if every name matches. */
export function receiverTest(receiver: Matcher | null): (name: string) => boolean {
  if (receiver === null) return () => true
  const matches = labelTest([receiver])
  return (name) => matches({ receiver: name })
}
