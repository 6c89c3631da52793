/** Domain objects for tests: signals, alerts, conditions and situations, all with overrides. */
import { type Alert, absorb, belongsTo, open, type Signal } from '../../src/domain/alert/alert.ts'
import { settle } from '../../src/domain/alert/ending.ts'
import { NO_EVIDENCE } from '../../src/domain/alert/evidence.ts'
import { type Fingerprint, fingerprintsOf, withStart } from '../../src/domain/alert/fingerprints.ts'
import { type ReceivedEvent, withReceivedEvents } from '../../src/domain/alert/late-events.ts'
import { digest } from '../../src/domain/event/fingerprint.ts'
import type { HealthCondition } from '../../src/domain/health/health.ts'
import { healthOf } from '../../src/domain/health/health.ts'
import { NO_PROBLEM } from '../../src/domain/incident/problem.ts'
import type { CurrentIncident, Situation, SituationAlert } from '../../src/domain/incident/situation.ts'

/** A Saturday in March on which all tests take place. */
export const NOON = Date.UTC(2026, 2, 14, 12)
export const SECOND = 1_000
export const MINUTE = 60_000
export const HOUR = 3_600_000
export const DAY = 86_400_000

const COMMON = {
  said: null,
  summary: 'cart is ill',
  labels: {},
  annotations: {},
  links: {},
  failure: null,
  node: null,
  rules: { service: { by: 'label', label: 'deployment' }, severity: 'label severity', identity: 'fingerprint' },
  startsAt: NOON,
  endsAt: null,
  expiry: null,
  at: NOON,
  sighting: null,
} as const

/** Returns HighLatency, firing since noon. */
export function firing(more: Partial<Signal> = {}): Signal {
  const fingerprint = more.fingerprint ?? 'f1'
  const identity = { name: 'HighLatency', fingerprint, logicalKey: 'latency', severity: 'warning' } as const
  return { ...COMMON, status: 'firing', source: 'metrics', ...identity, at: more.startsAt ?? NOON, ...more }
}

/** Returns HighLatency, which started at noon and ended at `endsAt`. */
export function resolved(endsAt: number, more: Partial<Signal> = {}): Signal {
  return firing({ status: 'resolved', endsAt, ...more, at: endsAt })
}

/** Returns a crash loop of one of cart's pods, seen at `at`. */
export function sighted(at: number, object = 'cart-7d9f5b6c8-aaaaa', more: Partial<Signal> & { count?: number } = {}) {
  const { count = 1, ...rest } = more
  const identity = { name: 'BackOff (restarting)', fingerprint: 'c1', logicalKey: 'c1', failure: 'crash' } as const
  const sighting = { object, count, escalates: true }
  const judged = { ...COMMON, ...identity, severity: 'error', status: 'firing', source: 'cluster' } as const
  return { ...judged, startsAt: at, at, sighting, ...rest } satisfies Signal
}

/** Returns a pod of cart that cannot be scheduled, seen at `at`. */
export function pending(at: number, object: string, more: Partial<Signal> & { count?: number } = {}): Signal {
  const identity = { name: 'FailedScheduling', fingerprint: 'p1', logicalKey: 'p1', failure: 'scheduling' } as const
  return sighted(at, object, { ...identity, ...more })
}

/** Returns the failure of team/cart's pipeline on main at `at`. */
export function failedPipeline(at: number, more: Partial<Signal> = {}): Signal {
  const fingerprint = digest('team/cart', 'main')
  const identity = { name: 'PipelineFailed', fingerprint, logicalKey: fingerprint } as const
  const labels = { project: 'team/cart', ref: 'main' }
  return firing({ source: 'ci', ...identity, labels, startsAt: at, at, ...more })
}

export function succeededPipeline(at: number): Signal {
  return failedPipeline(at, { status: 'resolved', endsAt: at })
}

/** Returns a Normal event about a pod. */
export function info(name: string, at: number, object: string, kind = 'Pod'): ReceivedEvent {
  return { kind: 'info', name, object: `${kind}/${object}`, text: '', at }
}

export function scheduled(at: number, object: string): ReceivedEvent {
  return info('Scheduled', at, object)
}

/** Returns the event of the cart Deployment scaling up the ReplicaSet with this hash. */
export function rollout(at: number, hash: string): ReceivedEvent {
  const text = `Scaled up replica set cart-${hash} to 3`
  return { kind: 'change', name: 'ScalingReplicaSet', object: 'Deployment/cart', text, at }
}

/** The alerts of one condition. */
export type Held = { readonly alert: Alert; readonly fingerprints: readonly Fingerprint[] }

/** Returns the alert opened by a first signal, which by default is received immediately. */
export function opened(signal: Signal, receivedAt = signal.at): Held {
  const alert = open(signal, receivedAt)
  const fingerprints =
    signal.status === 'firing' ? withStart([], signal, receivedAt, false) : fingerprintsOf(alert, null)
  return { alert, fingerprints }
}

export function alertOf(more: Partial<Alert> = {}): Alert {
  return { ...open(firing(), NOON), ...more }
}

export function condition(more: Partial<HealthCondition> = {}): HealthCondition {
  const { source, name, severity, status, resolution, failure, startsAt, endsAt, lastSeenAt } = alertOf()
  const times = { startsAt, endsAt, lastSeenAt, ...more }
  const seen = more.source === 'cluster' ? [[times.lastSeenAt, 'cart-7d9f5b6c8-aaaaa', times.startsAt, 1] as const] : []
  const known = { receivedAt: times.lastSeenAt, evidence: { ...NO_EVIDENCE, seen } }
  return { uuid: more.name ?? 'a1', source, name, severity, status, resolution, failure, ...known, ...times }
}

/** Returns a crash loop that is reported by events with the severity `error`. */
export function crashing(more: Partial<HealthCondition> = {}): HealthCondition {
  const what = { source: 'cluster', name: 'BackOff (restarting)', severity: 'error', failure: 'crash' } as const
  return condition({ uuid: 'crash', ...what, ...more })
}

export function situationAlert(more: Partial<SituationAlert> = {}): SituationAlert {
  const base = condition(more)
  const own = {
    since: base.startsAt,
    onset: base.startsAt,
    freed: null,
    begunAt: base.startsAt,
    wasSilenced: false,
    summary: '',
    inIncident: false,
    hasIncident: more.inIncident ?? false,
    isLeft: false,
  }
  return { ...base, ...own, ...more }
}

/** Returns the cart service with these alerts at noon and the resulting health. */
export function situation(alerts: readonly SituationAlert[], more: Partial<Situation> = {}): Situation {
  const now = more.now ?? NOON
  const health = healthOf(alerts, now)
  const settings = { opens: true, resolveAfter: 30 * MINUTE, serviceName: 'cart', suppressed: false, about: null }
  const ended = alerts.flatMap(({ name, endsAt }) => (endsAt === null ? [] : [{ name, endsAt, isGuess: false }]))
  const past = { explained: new Set<string>(), current: null, last: null, elsewhere: [], muted: [], ended, joins: true }
  return { now, ...settings, ...past, critical: health.critical, alerts, candidates: alerts, ...more }
}

export function incident(more: Partial<CurrentIncident> = {}): CurrentIncident {
  const problem = { ...NO_PROBLEM, alarmedAt: NOON }
  const state = { status: 'open', severity: 'critical', origin: 'automatic', cause: 'service' } as const
  return { ...state, createdAt: NOON, touchedAt: null, problem, ...more }
}

/** Returns a service's alerts after these items, all received at the same time: the write path without a store. */
export function foldItems(items: readonly (Signal | ReceivedEvent)[], receivedAt: number): Alert[] {
  const held: Held[] = []
  const received: ReceivedEvent[] = []
  for (const item of items) {
    if ('kind' in item) receive(held, received, item, receivedAt)
    else take(held, received, item, receivedAt)
  }
  return held.map(({ alert }) => alert)
}

const CONTEXT = { delivery: null, metricsFiring: false, repeats: true }

function receive(held: Held[], received: ReceivedEvent[], event: ReceivedEvent, now: number): void {
  received.push(event)
  for (const [index, { alert, fingerprints }] of held.entries()) {
    if (alert.source !== 'cluster' || alert.status !== 'firing') continue
    held[index] = { alert: settle(withReceivedEvents(alert, [event]), CONTEXT, now).alert, fingerprints }
  }
}

function take(held: Held[], received: readonly ReceivedEvent[], signal: Signal, now: number): void {
  const index = held.findLastIndex(
    ({ alert, fingerprints }) =>
      alert.source === signal.source &&
      (alert.logicalKey === signal.logicalKey || fingerprints.some((one) => one.fingerprint === signal.fingerprint)),
  )
  const known = held[index]
  const belongs = known && belongsTo(known.alert, signal)
  if (!belongs && signal.source === 'ci' && signal.status === 'resolved') return
  const { alert, fingerprints } = belongs ? absorb(known.alert, known.fingerprints, signal, now) : opened(signal, now)
  const since = signal.sighting || signal.source === 'ci' ? received.filter(({ at }) => at >= signal.at) : []
  const after = { alert: settle(withReceivedEvents(alert, since), CONTEXT, now).alert, fingerprints }
  if (belongs) held[index] = after
  else held.push(after)
}
