/** Derives symptoms from Kubernetes events, and weights them to separate causes from noise. */

import type { Change } from '../correlation/change.ts'
import { beginningOf } from '../event/occurrence.ts'
import { hasCounterpart, isTerminal, judgeReason } from '../event/reason.ts'
import { endsCanary, rolloutOf } from '../event/rollout.ts'
import { templatesOf } from '../service/pod-name.ts'
import { HOUR } from '../units.ts'
import { accusedIn } from './accused.ts'
import { type Components, componentAt } from './component.ts'
import { START } from './searched.ts'
import { ofNamespaces, ofRegistries } from './shared.ts'
import type { SuspectAlert, SuspectEvent, SuspectFacts } from './suspect.ts'
import type { Factor, SymptomEvent } from './symptom.ts'

/** How many starts within how long are too many. An upgrade of a node is followed by one or two. */
const STARTS = 3
const WITHIN = HOUR
/** How much the starts weigh, and what they mean. */
const RESTARTING = [0.5, 'it keeps starting'] as const

/**
 * How specific each kind of failure is. A failure that points to its cause weighs more than a failure that can occur at
 * any start or stop.
 */
const SPECIFIC: Readonly<Record<string, readonly [number, string]>> = {
  image: [0.9, 'the image cannot be pulled'],
  config: [0.9, 'the container cannot be created'],
  memory: [0.9, 'out of memory'],
  crash: [0.85, 'the container crashes'],
  volume: [0.85, 'the volume cannot be mounted'],
  node: [0.85, 'the node has a problem'],
  scheduling: [0.8, 'no node can run the pod'],
  rollout: [0.7, 'pods are missing or not available'],
  job: [0.7, 'a job failed or did not start'],
  network: [0.5, 'the pod network cannot be set up'],
  probe: [0.5, 'a probe fails'],
}
const OTHER = [0.4, 'a warning'] as const
/** The factor for reasons that are only warnings, for example a readiness probe or a cordoned node. */
const MILD = 0.7
/** The doubt that a problem persists is multiplied by this factor for each further event. */
const DOUBT = 0.6
const UNENDED = 0.85
const RECOVERED = 0.25
/**
 * The factor for a condition whose end was not reported by an event. The condition ended because it was no longer
 * repeated; see `lasting.ts`.
 */
const SILENT = 0.5
/**
 * How long pods take to become ready after a scaling, how many probe failures are normal in that time, and how much
 * these failures weigh. A refused or timed-out connection shows that the process is not listening yet, which happens at
 * every start. A process that responds with an error is already listening.
 */
const START_UP = 2 * 60_000
const HICCUPS = 2
const HICCUP = 0.4
const NOT_LISTENING = 0.2
const NO_LISTENER = /connection refused|failed to connect|i\/o timeout/
/** The kubelet reports OOMKilled. The kernel's OOMKilling and SystemOOM are about the node. */
const OOM = new Set(['OOMKilled', 'OOMKilling'])
const WELL_BEFORE = 10 * 60_000
/** A Kubernetes condition that is no longer repeated ends up to 15 minutes after the recovery. */
const RECOVERY = 15 * 60_000

/**
 * Returns one symptom for each combination of component, condition and generalized message. `end`: when the problem ended;
 * null while it is ongoing.
 */
export function eventSightings(facts: SuspectFacts, components: Components, end: number | null): SymptomEvent[] {
  const alerts = new Map(facts.alerts.map((alert) => [alert.id, alert]))
  const groups = new Map<string, Group>()
  for (const event of facts.events) {
    const seen = event.kind === 'change' ? null : groupOf(event, components)
    if (!seen) continue
    const key = JSON.stringify([seen.component, seen.condition, seen.gist, seen.witnesses])
    const known = groups.get(key)
    if (known) known.events.push(event)
    else groups.set(key, { ...seen, events: [event] })
  }
  const sightings = [...groups.values()].filter(isTrouble).map((group) => sightingOf(group, facts, alerts, end))
  return [...ofRegistries(ofNamespaces(sightings, components)), ...emptied(facts, components)]
}

type Group = {
  readonly component: string
  readonly condition: string
  readonly gist: string
  readonly specific: readonly [number, string]
  readonly witnesses: readonly string[]
  readonly events: SuspectEvent[]
}

function isTrouble({ component, condition, events }: Group): boolean {
  return condition !== START || (component.startsWith('node/') && startsAgain(events))
}

/** Returns whether a component of a node started too often. `events`: its starts, unordered. */
function startsAgain(events: readonly Pick<SuspectEvent, 'at'>[]): boolean {
  const times = [...new Set(events.map(({ at }) => at))].sort((a, b) => a - b)
  return times.some((at, index) => (times[index + STARTS - 1] ?? Number.POSITIVE_INFINITY) <= at + WITHIN)
}

function groupOf(event: SuspectEvent, components: Components): Omit<Group, 'events'> | null {
  const [kind = '', name = ''] = event.object.split(/\/(.*)/)
  const own = kind === 'Node' ? `node/${name}` : event.service === null ? null : componentAt(components, event.service)
  if (own === null) return null
  const { group, failure, severity } = judgeReason({ reason: event.name, message: event.text, type: null, kind })
  const [value, meaning] = event.name === START ? RESTARTING : (SPECIFIC[failure ?? 'other'] ?? OTHER)
  const specific = [severity === 'warning' ? value * MILD : value, meaning] as const
  const service = event.service === null ? undefined : components.byId.get(event.service)
  const accused = service === undefined || failure === 'image' ? null : accusedIn(components, service, event.text)
  const gist = `${group} ${gistOf(event.text, service?.name ?? name)}${accused === null ? '' : ' by a caller'}`
  return { component: accused ?? own, condition: group, gist, specific, witnesses: accused === null ? [] : [own] }
}

/** Strips names, numbers and hashes from a message, so that pods with the same problem have the same text. */
function gistOf(text: string, name: string): string {
  const shared = name === '' ? text : text.replaceAll(name, '')
  return shared
    .replace(/"[^"]*"|\S*\d\S*/g, '')
    .replace(/[^A-Za-z]+/g, ' ')
    .trim()
    .toLowerCase()
}

function sightingOf(
  group: Group,
  facts: SuspectFacts,
  alerts: ReadonlyMap<string, SuspectAlert>,
  end: number | null,
): SymptomEvent {
  const [subject = group.component] = group.witnesses
  const starts = facts.events.filter((event) => event.kind === 'change' && event.service === subject)
  const { events, specific, ...same } = group
  const sorted = [...events].sort((a, b) => b.at - a.at || (a.id < b.id ? -1 : 1))
  const spans = events.map((event) => [beginningOf(event), event.at] as const)
  const lastAt = Math.max(...events.map(({ at }) => at))
  const alert = sorted.map(({ alertId }) => (alertId === null ? undefined : alerts.get(alertId))).find(Boolean)
  const text = sorted[0]?.text ?? ''
  const seen = countOf(events)
  return {
    ...same,
    text,
    startsAt: Math.min(...spans.map(([startsAt]) => startsAt)),
    lastAt,
    spans,
    factors: [
      { code: 'failure', value: specific[0], text: specific[1] },
      persistence(same.condition, seen, lastAt, { alert, end }),
      ...startUp({ condition: same.condition, text, seen, at: lastAt }, starts),
    ],
    node: alert?.node ?? null,
    isMemory: OOM.has(same.condition),
    templates: templatesOf(events.map(({ object }) => object)),
    isFiring: alert !== undefined && alert.endsAt === null,
    evidence: sorted.slice(0, 3).map(({ id }) => ({ eventId: id })),
    seen,
    seenBefore: Math.min(seen, Math.round(seenBefore(events, facts.incident.startedAt - WELL_BEFORE))),
  }
}

/**
 * Returns the total number of occurrences. For equal events, uses the sender's count or the number of events, whichever
 * is higher.
 */
function countOf(events: readonly SuspectEvent[]): number {
  const same = Map.groupBy(events, ({ object, text }) => JSON.stringify([object, text]))
  return [...same.values()].reduce((sum, repeats) => {
    const times = new Set(repeats.map(({ at }) => at)).size
    return sum + repeats.reduce((most, { count }) => Math.max(most, count), times)
  }, 0)
}

/** Returns the number of occurrences before `end`, assuming that an event's repeats are evenly spaced. */
function seenBefore(events: readonly SuspectEvent[], end: number): number {
  const earlier = events.filter((event) => beginningOf(event) < end)
  return countOf(
    earlier.map((event) => {
      const from = beginningOf(event)
      const share = event.at <= end ? 1 : (end - from) / (event.at - from)
      return { ...event, count: Math.max(1, Math.round(event.count * share)) }
    }),
  )
}

/**
 * A single warning may be temporary. A final failure, a repeated condition, or a condition with no reported end is more
 * likely to persist. A condition that ended together with the problem persisted as long as it could.
 */
function persistence(
  condition: string,
  seen: number,
  lastAt: number,
  { alert, end }: { readonly alert: SuspectAlert | undefined; readonly end: number | null },
): Factor {
  const repeated = 1 - DOUBT ** seen
  const lasting = hasCounterpart(condition) ? Math.max(UNENDED, repeated) : repeated
  // Other messages of the same alert count elsewhere, too.
  const times = seen === 1 ? 'seen once' : 'seen repeatedly'
  if (isTerminal(condition)) return { code: 'final', value: 1, text: 'Kubernetes will not retry' }
  const isOver = alert !== undefined && alert.endsAt !== null && alert.endsAt >= lastAt
  const isEarly = isOver && hasEndedEarly(alert, end)
  if (isOver && alert.resolution === 'reported')
    return { code: 'recovered', value: isEarly ? RECOVERED : lasting, text: `${times}, then recovered` }
  if (isOver && alert.resolution === 'expired')
    return { code: 'silent', value: isEarly ? Math.min(SILENT, repeated) : lasting, text: times }
  if (hasCounterpart(condition)) return { code: 'not_ended', value: lasting, text: `${times}, no recovery reported` }
  return { code: 'repeated', value: repeated, text: times }
}

type Probe = Pick<SymptomEvent, 'condition' | 'text' | 'seen'> & { readonly at: number }

/** Probes often fail once or twice before a new pod is ready. */
function startUp({ condition, text, seen, at }: Probe, starts: readonly SuspectEvent[]): Factor[] {
  const isProbe = condition.startsWith('Unhealthy') || condition === 'ProbeError'
  const isStarting = starts.some((start) => at >= start.at - START_UP && at <= start.at + START_UP)
  if (!isProbe || !isStarting || seen > HICCUPS) return []
  const value = NO_LISTENER.test(text) ? NOT_LISTENING : HICCUP
  return [{ code: 'start_up', value, text: 'the pods had just started' }]
}

const ZERO = 0.7

/** A Deployment whose ReplicaSets are all scaled to zero serves no traffic, but no event warns about it. */
function emptied(facts: SuspectFacts, components: Components): SymptomEvent[] {
  const changes = facts.events.filter(({ kind, service }) => kind === 'change' && service !== null)
  const inOrder = changes.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))
  return [...Map.groupBy(inOrder, ({ service }) => service ?? '')].flatMap(([service, events]) => {
    const component = componentAt(components, service)
    const sets = new Map<string, { to: number; event: SuspectEvent }>()
    for (const event of events) {
      const scaled = rolloutOf(event.text)
      if (scaled) sets.set(scaled.hash, { to: scaled.to, event })
    }
    const newest = [...sets.values()].sort((a, b) => b.event.at - a.event.at)[0]
    if (component === null || !newest || [...sets.values()].some(({ to }) => to > 0)) return []
    // A new ReplicaSet was taken back, and the old one serves.
    const isBack = ({ kind, eventId, ...one }: Change) =>
      kind === 'rollout' && eventId === newest.event.id && !('emptied' in one)
    if (facts.changes.some(isBack) || endsCanary(newest.event, events)) return []
    return [emptySighting(component, newest.event)]
  })
}

function emptySighting(component: string, event: SuspectEvent): SymptomEvent {
  return {
    component,
    witnesses: [],
    condition: 'scaled to zero',
    gist: 'scaled to zero',
    text: event.text,
    startsAt: event.at,
    lastAt: event.at,
    spans: [[event.at, event.at]],
    factors: [{ code: 'failure', value: ZERO, text: 'no replicas are left' }],
    node: null,
    isMemory: false,
    templates: [],
    isFiring: false,
    evidence: [{ eventId: event.id }],
    seen: 1,
    seenBefore: 0,
  }
}

/**
 * Returns whether an alert ended well before the problem did. Most of the alerts about a problem end one after another
 * when the problem ends, so the end of such an alert says nothing about the cause. `end`: when the problem ended; null
 * while it is ongoing.
 */
export function hasEndedEarly({ endsAt }: SuspectAlert, end: number | null): boolean {
  return endsAt !== null && (end === null || endsAt < end - RECOVERY)
}
