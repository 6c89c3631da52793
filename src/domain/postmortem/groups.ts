/** Groups similar alerts in a postmortem: each group has one name with ×N, and one record as its evidence. */
import { isGuessed } from '../alert/doubt.ts'
import { firstSymptom } from '../alert/first-symptom.ts'
import { groupForIncident } from '../alert/groups.ts'
import { senderName } from '../event/event.ts'
import type { AlertFact, ChangeFact, IncidentFact, PostmortemFacts, Unheard } from '../incident/facts.ts'
import { endedByMerge, firingAt, lastResolution } from '../incident/timeline-entries.ts'
import { distinct, ordered } from '../order.ts'
import { nameInCluster } from '../sender/sender-name.ts'
import { SEVERITIES } from '../severity.ts'
import { countOf, formatCount, formatPeriod, formatTime, incidentName, joinNames, quoted, timesOf } from '../text.ts'
import { MINUTE } from '../units.ts'
import type { Sentence } from './document.ts'

/** An alert and the record that represents the alert's group. The record is the group's earliest alert. */
export type GroupedFact = AlertFact & { readonly ref: string }

/** Postmortem facts with alerts sorted by start. `fixes`: the changes that probably fixed the problem; see `fixesOf`. */
export type GroupedFacts = Omit<PostmortemFacts, 'alerts'> & {
  readonly alerts: readonly GroupedFact[]
  readonly fixes: readonly ChangeFact[]
}

/**
 * Returns the alerts sorted by start, each with the record that represents its group. A name of several words has quotes,
 * because it is part of sentences. Kubernetes has one word.
 */
export function groupFacts(alerts: readonly AlertFact[]): readonly GroupedFact[] {
  const inOrder = ordered(alerts, ({ startsAt, uuid }) => [startsAt, uuid])
  const groups = [...groupForIncident(inOrder).values()]
  const firsts = new Map(groups.flatMap((group) => group.map((alert) => [alert, group[0]] as const)))
  return inOrder.map((alert) => {
    const { name, source, summary, firstText = summary } = alert
    const shown = (text: string) => (source !== 'cluster' && text === name && name.includes(' ') ? quoted(name) : text)
    const texts = { name: shown(name), summary: shown(summary), firstText: shown(firstText) }
    return { ...alert, ...texts, ref: `alert/${(firsts.get(alert) ?? alert).uuid}` }
  })
}

export function incidentRef({ uuid }: Pick<IncidentFact, 'uuid'>): string {
  return `incident/${uuid}`
}

/** Returns the records that represent these alerts' groups, without duplicates. */
export function alertRefs(alerts: readonly GroupedFact[]): readonly string[] {
  return [...new Set(alerts.map(({ ref }) => ref))]
}

/** Returns the name of a person for the start of a sentence. A login keeps its small letter. */
export function personFirst(who: string): string {
  return who === 'a user' ? 'A user' : who
}

/** Formats the alerts' names with counts: `OOMKilled and HighErrorRate ×440`. */
export function namesOf(alerts: readonly Pick<GroupedFact, 'name'>[]): string {
  const byName = Map.groupBy(alerts, ({ name }) => name)
  return joinNames([...byName].map(([name, { length }]) => `${name}${timesOf(length)}`))
}

/**
 * Returns text such as `Alerts of this incident: 1 critical, 440 warnings (OOMKilled and HighErrorRate ×440)`. In the
 * score, an alert can count as more severe, for example if an event confirms the alert.
 */
export function alertsText(alerts: readonly GroupedFact[]): string {
  const counts = SEVERITIES.flatMap((severity) => {
    const count = alerts.filter((alert) => alert.severity === severity).length
    const noun = severity === 'error' || severity === 'warning'
    return count === 0 ? [] : [noun ? countOf(count, severity) : `${formatCount(count)} ${severity}`]
  })
  const inOrder = SEVERITIES.flatMap((severity) => alerts.filter((alert) => alert.severity === severity))
  return `Alerts of this incident: ${counts.join(', ')} (${namesOf(inOrder)})`
}

/** Returns the program that sent the alert. Prometheus, vmalert and other rulers can send alerts without Alertmanager. */
export function senderOf({ source, isDirect }: Pick<AlertFact, 'source' | 'isDirect'>): string {
  return isDirect ? 'Prometheus' : senderName(source)
}

/** Returns the first alert. A pipeline that failed after a person had declared the incident is no sign of its problem. */
export function firstSign({ alerts, incident }: GroupedFacts): GroupedFact | undefined {
  const first = firstSymptom(alerts)
  return first?.source === 'ci' && signalOf(first, incident) === 'alert' ? undefined : first
}

/** Says that an incident has no first sign. */
export function noSignText({ alerts }: GroupedFacts): string {
  return alerts.length === 0
    ? 'No alert was recorded for this incident.'
    : 'All alerts of this incident are about pipelines.'
}

/** Returns the names of the services, starting with the incident's own. */
export function servicesOf({ incident, services }: GroupedFacts): readonly string[] {
  const own = nameInCluster(incident.service)
  return [own, ...distinct(services.map(nameInCluster)).filter((name) => name !== own)]
}

/** Returns what the first alert was to those who found the problem: no signal if a person had declared it before. */
export function signalOf({ startsAt }: GroupedFact, { origin, createdAt }: IncidentFact): 'alert' | 'signal' {
  return origin === 'manual' && startsAt > createdAt ? 'alert' : 'signal'
}

/** Returns the incidents that were merged into this one, or the one that it was merged into. */
function mergedWith({ merged = [], entries }: GroupedFacts, isInto: (at: number) => boolean) {
  const refs = new Set(entries.flatMap(({ kind, ref, at }) => (kind === 'merged' && isInto(at) ? (ref ?? []) : [])))
  return merged.filter(({ ref }) => refs.has(ref))
}

/** Returns the incidents that were merged into this one. */
export function mergedIn(facts: GroupedFacts): NonNullable<PostmortemFacts['merged']> {
  return mergedWith(facts, (at) => at !== facts.incident.resolvedAt)
}

/** Returns the merged incident whose acknowledgement counts for this one; undefined if its own counts. */
export function takenFrom(facts: GroupedFacts): ReturnType<typeof mergedIn>[number] | undefined {
  const { entries } = facts
  const isMove = ({ kind, code }: GroupedFacts['entries'][number]) => kind === 'status' && code !== 'resolved'
  const took = entries.find(
    (one) => one.kind === 'merged' && entries.some((move) => isMove(move) && move.at === one.at),
  )
  return mergedIn(facts).find(({ ref }) => ref === took?.ref)
}

/** Returns the incident that this one was merged into; undefined if it was not. */
export function mergedInto(facts: GroupedFacts): NonNullable<PostmortemFacts['merged']>[number] | undefined {
  return mergedWith(facts, (at) => at === facts.incident.resolvedAt)[0]
}

/** Names the incident that this one was merged into. */
export function intoText(facts: GroupedFacts): string {
  const into = mergedInto(facts)
  return into ? incidentName(into) : 'another incident'
}

/** Returns the record of the incident that this one was merged into, if it was. */
export function intoRefs(facts: GroupedFacts): readonly string[] {
  return [mergedInto(facts)].flatMap((into) => into?.ref ?? [])
}

/** Returns the alerts that were firing when the incident was resolved, even if they have ended since. */
export function firingWhenResolved({
  incident,
  alerts,
}: Pick<GroupedFacts, 'incident' | 'alerts'>): readonly GroupedFact[] {
  return incident.resolvedAt === null ? [] : firingAt(alerts, incident.resolvedAt)
}

/** Kubernetes repeats what goes on, but seldom reports an end. */
const isOpenEnded = ({ source, endsAt }: GroupedFact) => source === 'cluster' && endsAt === null

/** Returns whether nothing had been reported for a minute or longer when the incident was resolved, and no end either. */
export function isSilentlyFiring(facts: Pick<GroupedFacts, 'incident' | 'alerts'>): boolean {
  const firing = firingWhenResolved(facts)
  const until = (facts.incident.resolvedAt ?? 0) - MINUTE
  return firing.length > 0 && firing.every((one) => isOpenEnded(one) && one.lastSeenAt <= until)
}

/**
 * Returns whether what fired at the resolution can have ended: Kubernetes seldom reports an end, and one that is reported
 * after a merge is not told here any more.
 */
export function isEndUnknown(facts: GroupedFacts): boolean {
  const isMerged = endedByMerge(facts.entries, facts.incident.resolvedAt)
  return firingWhenResolved(facts).every((one) => isOpenEnded(one) || (isMerged && one.endsAt === null))
}

/** Returns `while QueueFull was still firing`; '' if no alert was firing when the incident was resolved. */
export function whileFiring(facts: GroupedFacts, lead = 'while '): string {
  const firing = firingWhenResolved(facts)
  if (firing.length === 0) return ''
  return isEndUnknown(facts)
    ? `${lead}no end of ${namesOf(firing)} had been reported`
    : `${lead}${namesOf(firing)} ${firing.length === 1 ? 'was' : 'were'} still firing`
}

/** Returns whether nobody reported the end of an alert although it may be over: its sender was silent, or left it out. */
export function isUnreported({ resolution, endsAt, unheard }: AlertFact): boolean {
  return endsAt === null ? unheard !== undefined : isGuessed(resolution)
}

/** Returns when the senders of alerts sent no heartbeat while these fired, as far as they reported. */
export function silentSenders({ alerts }: Pick<GroupedFacts, 'alerts'>): readonly Unheard[] {
  return [...new Map(alerts.flatMap(({ unheard }) => (unheard ? [[unheard.ref, unheard]] : []))).values()]
}

/** Returns who resolved an incident although its sender was still silent; null if the heartbeat was back. */
export function resolvedSilentBy({ incident, entries }: Pick<GroupedFacts, 'incident' | 'entries'>): string | null {
  const { cause, resolvedAt, critical } = incident
  const isBack = critical.until !== null && critical.until <= (resolvedAt ?? 0)
  return cause !== 'silence' || resolvedAt === null || isBack ? null : (lastResolution(entries)?.actor ?? null)
}

export function unheardSentences(facts: Pick<GroupedFacts, 'alerts'>): readonly Sentence[] {
  return silentSenders(facts).map(({ ref, sender, from, to }) => {
    const when = to === null ? `after ${formatTime(from)}` : `from ${formatPeriod(from, to)}`
    return { text: `The sender ${sender} sent no heartbeat ${when}.`, refs: [ref] }
  })
}

/** Says who was told, or that nobody was. */
export function toldSentences(facts: GroupedFacts): readonly Sentence[] {
  const { incident, told } = facts
  if (!told || told.firstAt === null) return [untoldSentence(facts) ?? []].flat()
  const first = told.names.length > 1 ? 'the first of them' : 'first'
  const text = `Told: ${joinNames(told.names)}, ${first} at ${formatTime(told.firstAt)}.`
  return [{ text, refs: [incidentRef(incident)] }]
}

/** Says that nobody was told, if so. What waits in a queue is not known to arrive. */
export function untoldSentence({ incident, told, generatedAt }: GroupedFacts): Sentence | null {
  if (!told || told.firstAt !== null) return null
  const { hasChannel, quiet = [] } = told
  const why = quiet.length === 0 ? '' : `; ${joinNames(quiet)} had quiet hours`
  const text = hasChannel
    ? `No channel had got a message about the incident by ${formatTime(generatedAt)}${why}.`
    : 'There is no notification channel.'
  return { text, refs: [incidentRef(incident)] }
}

/** After how many milliseconds a report is late. */
const LATE = 5 * MINUTE

/** Says when the first report arrived if it did so late, for example because the network was down. */
export function lateSentences({ arrival }: GroupedFacts, first: GroupedFact | undefined): readonly Sentence[] {
  if (!first || !arrival || arrival.receivedAt - arrival.at < LATE) return []
  const text = `The first report of ${first.name} arrived only at ${formatTime(arrival.receivedAt)}.`
  return [{ text, refs: alertRefs([first]) }]
}
