/** Says how and when the alerts of an incident ended, or when they were last reported. */
import type { Resolution } from '../alert/alert.ts'
import { isLostNode, isMoment } from '../event/lasting.ts'
import { ENDS } from '../event/reason-table.ts'
import type { EntryFact } from '../incident/facts.ts'
import { lastResolution } from '../incident/timeline-entries.ts'
import { distinct, ordered } from '../order.ts'
import {
  formatPeriod,
  formatSeconds,
  formatTime,
  formatTimes,
  incidentName,
  joinNames,
  secondsBetween,
} from '../text.ts'
import type { Sentence } from './document.ts'
import {
  alertRefs,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  isUnreported,
  mergedInto,
  namesOf,
  senderOf,
} from './groups.ts'

/** A sentence, and when that of which it tells was over: in ms UTC. */
export type Told = Sentence & { readonly at: number }

/** Returns one sentence for each way in which alerts ended or were left without an end. */
export function endSentences(facts: GroupedFacts): readonly Told[] {
  // The end of a failed pipeline is not the end of a problem.
  const conditions = facts.alerts.filter(({ source }) => source !== 'ci')
  const events = Map.groupBy(facts.events, ({ source, at }) => (source === 'cluster' ? at : null))
  const known = conditions.map((alert) => ({ ...alert, way: wayOf(alert, events.get(alert.endsAt ?? 0) ?? []) }))
  // An eviction does not recover, so that it matters only if nothing else does.
  const lasting = known.filter(({ way }) => way !== 'moment')
  const inOrder = ordered(lasting.length > 0 ? lasting : known, (one) => [lastAtOf(one), one.name, one.uuid])
  // What ended after the resolution has a sentence of its own.
  const isLater = (one: GroupedFact) => secondsBetween(resolutionAt(facts) ?? lastAtOf(one), lastAtOf(one)) > 0
  const alike = Map.groupBy(inOrder, (one) => `${one.way} ${one.way === 'unreported' ? '' : isLater(one)}`)
  return [...alike.values()].flatMap(apart).flatMap((alike) => {
    const way = alike[0]?.way ?? 'unknown'
    const at = alike.reduce((last, one) => Math.max(last, lastAtOf(one)), 0)
    return { ...(way === 'unreported' ? unreportedSentence(alike, facts) : endSentence(alike, way, facts)), at }
  })
}

/** How many different times have a sentence each. */
const MAX_APART = 3

function apart<Alert extends GroupedFact>(alike: readonly Alert[]): readonly (readonly Alert[])[] {
  const byTime = [...Map.groupBy(alike, (one) => formatTime(lastAtOf(one))).values()]
  return byTime.length <= MAX_APART ? byTime : [alike]
}

const lastAtOf = ({ endsAt, lastSeenAt }: GroupedFact) => endsAt ?? lastSeenAt

const byRef = (all: readonly GroupedFact[]) =>
  new Map<string | null, GroupedFact>(all.map((one) => [`alert/${one.uuid}`, one]))

/** Names the ends after which alerts fired again. Their last ends have sentences of their own. */
export function earlierEnds({ incident, entries, alerts }: GroupedFacts): readonly Told[] {
  const known = byRef(alerts)
  const inOrder = ordered(entries, ({ at }) => [at])
  const lastAgain = new Map(
    inOrder.flatMap(({ kind, code, ref }, index) => (kind === 'alert' && code === 'again' ? [[ref, index]] : [])),
  )
  const ends = inOrder.flatMap(({ kind, code, at, ref }, index) => {
    const alert = kind === 'ended' ? known.get(ref) : undefined
    const isAgain = (lastAgain.get(ref) ?? -1) > index
    return alert && isAgain ? [{ ...alert, at, isGuess: code === 'inferred' || code === 'expired' }] : []
  })
  return [...Map.groupBy(ends, ({ name, isGuess }) => `${isGuess} ${name}`).values()].map((of) => {
    const at = of.reduce((last, one) => Math.max(last, one.at), 0)
    const [often, each] = of.length > 1 ? [`${formatTimes(of.length)} `, ' each time'] : ['', '']
    const [did, again] = of[0]?.isGuess ? ['was last reported', 'was reported'] : ['ended', 'fired']
    const text = `${of[0]?.name} ${did} ${often}${momentsText(of.map((one) => one.at))}, but ${again} again${each}.`
    return { text, refs: [...alertRefs(of), incidentRef(incident)], at }
  })
}

/** Names the alerts whose problem ended because they became milder. */
export function falls({ incident, entries, alerts }: GroupedFacts): readonly Told[] {
  const { until } = incident.critical
  const known = byRef(alerts)
  return entries.flatMap(({ facts, at, ref }) => {
    const alert = known.get(ref)
    if (facts?.code !== 'severity' || facts.from !== 'critical' || !alert || until === null) return []
    if (secondsBetween(at, until) !== 0 || secondsBetween(at, lastAtOf(alert)) === 0) return []
    const text = `${alert.name} changed from critical to ${facts.to} at ${formatTime(at)}.`
    return [{ text, refs: alertRefs([alert]), at }]
  })
}

type Way = 'moment' | 'unreported' | 'unknown' | `when ${string}` | Resolution

const SCALING = /^ScalingReplicaSet Scaled down/

/** An eviction or a killed container has no end. What a pod had on a lost node ends when another pod replaces it. */
function wayOf(alert: GroupedFact, events: GroupedFacts['events']): Way {
  const { source, resolution, name, endsAt } = alert
  if (source === 'cluster' && resolution === 'expired' && isMoment(name)) return 'moment'
  if (source === 'cluster' && resolution === 'reported') {
    const sign = signOf(alert, events)
    if (sign !== null) return `when ${sign}`
  }
  return endsAt === null || isUnreported(alert) ? 'unreported' : (resolution ?? 'unknown')
}

/** Returns what Kubernetes reported of which the end follows; null if it reported the end itself. */
function signOf({ name, objects }: GroupedFact, events: GroupedFacts['events']): string | null {
  const has = (reason: string) => events.some((event) => event.name === reason)
  if (isLostNode(name) && has('Scheduled')) return 'replacement pods were assigned to nodes'
  if (has('Started')) return 'Kubernetes reported the start of a container'
  if (ENDS.get('Pulled')?.has(name) && has('Pulled')) return 'Kubernetes reported that an image was pulled'
  if (has('Completed')) return 'Kubernetes reported that a job completed'
  if (events.some(({ name, text }) => SCALING.test(`${name} ${text}`))) return 'Kubernetes reported a scale-down'
  const isKilled = events.some(({ name, object }) => name === 'Killing' && objects.includes(object))
  return isKilled ? 'Kubernetes reported that a container was stopped' : null
}

function endSentence(ended: readonly GroupedFact[], way: Way, facts: GroupedFacts): Sentence {
  const isOnce = way === 'moment'
  const times = ended.map(({ endsAt, lastSeenAt }) => (isOnce ? lastSeenAt : (endsAt ?? lastSeenAt)))
  const how = isOnce ? '' : `${howText(way, ended, facts.entries)}${afterwardsText(times, facts)}`
  const what = isOnce ? 'last happened' : 'ended'
  return { text: `${namesOf(ended)} ${what} ${momentsText(times)}${how}.`, refs: alertRefs(ended) }
}

/** Returns when the incident was resolved. incmon does so some time after the end of the problem, which it records. */
function resolutionAt({ incident, entries }: GroupedFacts): number | null {
  const { resolvedAt } = incident
  return resolvedAt === null ? null : Math.max(resolvedAt, lastResolution(entries)?.at ?? 0)
}

/** Says how long after the resolution the last of these ends was. */
function afterwardsText(times: readonly number[], facts: GroupedFacts): string {
  const last = times.reduce((a, b) => Math.max(a, b), 0)
  const seconds = secondsBetween(resolutionAt(facts) ?? last, last)
  return seconds > 0 ? `, ${formatSeconds(seconds)} after the incident was resolved` : ''
}

/** Says when alerts were last reported whose end nobody reported before the document was written. */
function unreportedSentence(alerts: readonly GroupedFact[], facts: GroupedFacts): Sentence {
  const was = alerts.length > 1 ? 'were' : 'was'
  const into = mergedInto(facts)
  const isOn = alerts.every(({ endsAt }) => endsAt === null)
  const when = momentsText(alerts.map(lastAtOf))
  const why = isOn ? `no end had been reported by ${formatTime(facts.generatedAt)}` : 'no end was reported'
  const text =
    isOn && into
      ? `For the end of ${namesOf(alerts)}, see ${incidentName(into)}.`
      : `${namesOf(alerts)} ${was} last reported ${when}; ${why}.`
  return { text, refs: [...alertRefs(alerts), ...(isOn ? [into ? into.ref : incidentRef(facts.incident)] : [])] }
}

/** Returns `at …`, or `between … and …` if the times differ. */
function momentsText(times: readonly number[]): string {
  const [from, to] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  return secondsBetween(from, to) === 0 ? `at ${formatTime(from)}` : `between ${formatPeriod(from, to, 'and')}`
}

/** Describes how the ends are known. Names the people who resolved alerts manually, if the timeline does. */
function howText(way: Way, ended: readonly GroupedFact[], entries: readonly EntryFact[]): string {
  const isOne = ended.length === 1
  if (way.startsWith('when ')) return `, ${way}`
  if (way === 'reported') {
    const senders = distinct(ended.map(senderOf))
    return `, as reported by ${joinNames(senders)}`
  }
  if (way !== 'manual') return '; how is not recorded'
  const refs = new Set(ended.map(({ uuid }) => `alert/${uuid}`))
  const people = distinct(
    entries.flatMap(({ kind, ref, actor }) =>
      kind === 'ended' && ref !== null && refs.has(ref) && actor !== null ? actor : [],
    ),
  )
  if (people.length > 0) return `; ${joinNames(people)} resolved ${isOne ? 'it' : 'them'} manually`
  return `; ${isOne ? 'it was' : 'they were'} resolved manually`
}
