/** The receivers of an alert in the sense of Alertmanager: incmon itself, and the channels that hear of it. */
import { labelTest, type Matcher } from '../silence/matcher.ts'
import type { ChannelSettings } from './channel.ts'
import { hasMatchers, type RuledAlert, type RuledNotification, sendTimeOf } from './rule.ts'

type Channel = { readonly name: string; readonly enabled: boolean; readonly settings: ChannelSettings }

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
        { ...alert, kind: 'opened', alerts: hasMatchers(settings) ? [matched()] : [] },
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
