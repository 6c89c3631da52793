/** Messages for tests, with overrides. */
import { NO_PROBLEM, type Problem } from '../../src/domain/incident/problem.ts'
import type { MessageAlert, MessageContext, MessageItem } from '../../src/domain/notification/words.ts'

export const NOW = Date.UTC(2026, 2, 14, 14, 6)
const MINUTE = 60_000

export const CONTEXT: MessageContext = {
  now: NOW,
  timeZone: 'UTC',
  resolveAfter: 30 * MINUTE,
  cause: 'Likely cause: failed deploy shop/checkout#4711, started 3 min before the incident.',
  suspects: [{ kind: 'pipeline', ref: 'shop/checkout#4711', serviceId: null, score: 0.9 }],
  url: 'https://incmon.example.com/incidents/i',
  acknowledgeUrl: 'https://incmon.example.com/acknowledge?a=1&b=2',
  acknowledgeUrls: {},
}

/** A problem that has been on for some minutes. */
export function burning(minutes = 4, more: Partial<Problem> = {}): Problem {
  const since = NOW - minutes * MINUTE
  const periods = [{ name: 'Down', from: since, to: null }]
  return { ...NO_PROBLEM, since, periods, firing: ['Down'], had: ['Down'], ...more }
}

/** A problem that was on for some minutes, until a minute ago. */
export function healed(minutes = 4, more: Partial<Problem> = {}): Problem {
  const endedAt = NOW - 2 * MINUTE
  const periods = [{ name: 'Down', from: endedAt - minutes * MINUTE, to: endedAt }]
  return { ...NO_PROBLEM, had: ['Down'], endedAt, knownAt: endedAt, periods, isOver: true, ...more }
}

/** A problem that was on for so long before a break. */
export function withBreak(problem: Problem, ms: number): Problem {
  const from = NOW - 60 * MINUTE
  return { ...problem, periods: [{ name: 'Down', from, to: from + ms }, ...problem.periods] }
}

/** A problem that a silence covered for so long at first. */
export function withSilence(problem: Problem, ms: number): Problem {
  const [first, ...others] = problem.periods
  if (!first) return problem
  const from = first.from - ms
  return {
    ...problem,
    periods: [{ ...first, from }, ...others],
    silenced: [{ name: first.name, from, to: first.from }],
  }
}

export function messageAlert(more: Partial<MessageAlert> = {}): MessageAlert {
  return {
    ...{ id: 'a', source: 'metrics', name: 'Down', severity: 'critical', summary: '', labels: {}, annotations: {} },
    ...{ startsAt: NOW - 4 * MINUTE, endsAt: null, resolution: null, receivedAt: NOW },
    delivery: { interval: null, reportsEnds: false, isRepeated: true },
    condition: more.name ?? 'Down',
    ...more,
  }
}

export function messageItem(
  more: Partial<MessageItem> = {},
  incident: Partial<MessageItem['incident']> = {},
): MessageItem {
  const { problem = burning(), alertCount = 12, status = 'open' } = incident
  const firingAlerts = problem.since !== null && status !== 'resolved' ? alertCount : 0
  return {
    ...{ kind: 'opened', at: NOW, actor: null, severityBefore: null },
    ...{ names: [], wasWrong: false, mergedInto: null, isDigest: false, alerts: [], group: null },
    service: { name: 'checkout', namespace: 'shop', cluster: '' },
    ...more,
    incident: {
      ...{ id: 'i', number: 7, title: 'checkout: CrashLoopBackOff', severity: 'critical', status },
      ...{ alertCount, firingAlerts, origin: 'automatic', previous: null, problem },
      ...{ acknowledgedAt: null, acknowledgedBy: null, touchedAt: null },
      ...{
        startedAt: Math.min(NOW - 4 * MINUTE, ...problem.periods.map(({ from }) => from)),
        resolvedAt: null,
        hasPostmortem: false,
      },
      ...incident,
    },
  }
}
