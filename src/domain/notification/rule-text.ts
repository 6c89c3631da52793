/** Says in short words which messages a channel gets, and when. The list of channels and the command line show it. */
import { formatMatchers } from '../silence/matcher.ts'
import type { ChannelSettings } from './channel.ts'
import type { NotificationKind } from './kind.ts'
import type { Rule } from './rule.ts'

/** The kinds of messages in words. */
export const NEWS: Readonly<Record<NotificationKind, string>> = {
  opened: 'opened',
  group: 'common cause',
  worse: 'got worse',
  again: 'critical again',
  flapping: 'flapping',
  'sender-silent': 'sender silent',
  recovered: 'recovered',
  resolved: 'resolved',
  reopened: 'reopened by a user',
  severity: 'severity raised',
  acknowledged: 'acknowledged',
  reminder: 'reminders',
  escalation: 'escalations',
  'still-firing': 'still firing after the resolution',
}

/** Returns a short description of each rule. */
export function rulesText(rules: readonly Rule[]): readonly string[] {
  return rules.length === 0 ? ['all changes to all incidents, at any time'] : rules.map(ruleText)
}

function ruleText({ events, minSeverity, services, namespaces, matchers, quietHours }: Rule): string {
  const changes =
    events === undefined
      ? 'all changes'
      : events.length === 0
        ? 'no changes'
        : events.map((one) => NEWS[one]).join(', ')
  const severity =
    minSeverity === undefined ? '' : minSeverity === 'critical' ? 'critical only' : `${minSeverity} or worse`
  const of = [
    services ? `of ${services.join(', ')}` : '',
    namespaces ? `in ${namespaces.join(', ')}` : '',
    matchers ? `with ${formatMatchers(matchers)}` : '',
  ].filter((text) => text !== '')
  const quiet = quietHours
    ? `quiet ${quietHours.from}–${quietHours.to} ${quietHours.timeZone}${daysText(quietHours.weekdays)}`
    : ''
  return [[changes, ...of].join(' '), severity, quiet].filter((text) => text !== '').join('; ')
}

function daysText(weekdays: readonly string[] | undefined): string {
  return weekdays === undefined ? '' : ` (${weekdays.map((day) => day.slice(0, 3)).join(', ')})`
}

/** Describes the reminders for an unacknowledged incident; '' if there are none. */
export function remindersText({
  remindAfter,
  remindEvery,
  escalateAfter,
}: Pick<ChannelSettings, 'remindAfter' | 'remindEvery' | 'escalateAfter'>): string {
  const escalation = escalateAfter === 0 ? '' : `only after ${escalateAfter} min without acknowledgement`
  const first = remindAfter === 0 ? '' : `reminder after ${remindAfter} min`
  const every = remindAfter === 0 || remindEvery === 0 ? '' : `then every ${remindEvery} min`
  return [escalation, first, every].filter((text) => text !== '').join(', ')
}
