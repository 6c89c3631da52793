/** The summary, impact and detection sections. */

import { firstSymptom } from '../alert/first-symptom.ts'
import { senderName } from '../event/event.ts'
import type { EntryFact, IncidentFact } from '../incident/facts.ts'
import { distinct } from '../order.ts'
import { subjectName } from '../sender/sender-name.ts'
import { SEVERITIES, type Severity } from '../severity.ts'
import {
  countOf,
  formatCount,
  formatSeconds,
  formatTime,
  formatTimes,
  joinNames,
  LISTED,
  quoted,
  secondsBetween,
} from '../text.ts'
import { endOf, happenedSentences, problemSeconds } from './critical.ts'
import type { Postmortem, Sentence } from './document.ts'
import { alertRefs, type GroupedFact, type GroupedFacts, incidentRef, namesOf } from './groups.ts'
import { wasClockSetBack } from './metrics.ts'
import { fixSentence } from './resolution.ts'

/** Writes the summary: what happened and when, the first symptom, the most likely cause, and the probable fix. */
export function summaryOf(facts: GroupedFacts, suspicion: Sentence): Postmortem['summary'] {
  const { incident, alerts, entries } = facts
  const ref = incidentRef(incident)
  const first = firstSymptom(alerts)
  const reopened = entries.filter(({ kind }) => kind === 'reopened').length
  const sentences: Sentence[] = [...happenedSentences(facts)]
  if (first) {
    const text = first.firstText ?? first.summary
    const quote = text === first.name ? '' : `: ${quoted(text)}`
    sentences.push({ text: `The first symptom was ${first.name}${quote}.`, refs: alertRefs([first]) })
  } else sentences.push({ text: 'No alert was recorded for this incident.', refs: [ref] })
  const returns = entries.filter(isReturn).length
  if (returns > 0) sentences.push({ text: `The problem came back ${formatTimes(returns)}.`, refs: [ref] })
  sentences.push(suspicion, ...groupSentences(facts), ...fixSentence(facts))
  if (reopened > 0) sentences.push({ text: `The incident was reopened ${formatTimes(reopened)}.`, refs: [ref] })
  return { sentences, addition: null }
}

export function impactOf(facts: GroupedFacts): Postmortem['impact'] {
  const { incident, alerts, lowestScore } = facts
  const { startedAt } = incident
  const end = endOf(facts)
  const objects = distinct(alerts.flatMap((alert) => alert.objects))
  const onNode = facts.onNode.flatMap((one) => withPrefix(one.objects, 'Pod/'))
  const pods = distinct([
    ...withPrefix(objects, 'Pod/'),
    ...alerts.flatMap(({ labels }) => labels.pod ?? []),
    ...onNode,
  ])
  const nodes = distinct([...withPrefix(objects, 'Node/'), ...alerts.flatMap((alert) => alert.nodes)])
  const count = (severity: Severity) => alerts.filter((alert) => alert.severity === severity).length
  return {
    from: new Date(startedAt).toISOString(),
    to: end === null ? null : new Date(end).toISOString(),
    seconds: problemSeconds(facts),
    pods,
    nodes,
    lowestScore,
    alerts: { critical: count('critical'), error: count('error'), warning: count('warning'), info: count('info') },
    sentences: impactSentences(facts, { pods, nodes }),
    customers: null,
  }
}

function impactSentences(
  facts: GroupedFacts,
  { pods, nodes }: { pods: readonly string[]; nodes: readonly string[] },
): readonly Sentence[] {
  const { incident, alerts, lowestScore } = facts
  const ref = incidentRef(incident)
  const seen = alerts.length > 0 ? alertRefs(alerts) : [ref]
  const score = lowestScore === null ? 'not recorded' : `${lowestScore} of 100`
  const onPods = [...alertRefs(alerts.filter(hasPod)), ...facts.onNode.map((one) => one.ref)]
  return [
    { text: `Services: ${joinNames(servicesOf(facts))}.`, refs: [ref] },
    ...meanwhileSentences(facts),
    { text: `Pods: ${touched(pods)}.`, refs: pods.length > 0 ? onPods : seen },
    { text: `Nodes: ${touched(nodes)}.`, refs: nodes.length > 0 ? alertRefs(alerts.filter(hasNode)) : seen },
    ...onNodeSentences(facts),
    ...(incident.cause === 'silence'
      ? []
      : [{ text: `Lowest health score of ${subjectName(incident.service)}: ${score}.`, refs: [ref] }]),
    { text: `${alertsText(alerts)}.`, refs: seen },
  ]
}

/**
 * Returns text such as `Alerts by their own severity: 1 critical, 440 warning (OOMKilled and HighErrorRate ×440)`. In
 * the score, an alert can count as more severe, for example if an event confirms the alert.
 */
function alertsText(alerts: readonly GroupedFact[]): string {
  if (alerts.length === 0) return 'Alerts of this incident: none'
  const counts = SEVERITIES.flatMap((severity) => {
    const count = alerts.filter((alert) => alert.severity === severity).length
    return count === 0 ? [] : [`${formatCount(count)} ${severity}`]
  })
  const inOrder = SEVERITIES.flatMap((severity) => alerts.filter((alert) => alert.severity === severity))
  return `Alerts by their own severity: ${counts.join(', ')} (${namesOf(inOrder)})`
}

function touched(names: readonly string[]): string {
  return names.length === 0 ? 'none recorded' : `${formatCount(names.length)} (${joinNames(names)})`
}

const hasPod = ({ labels, objects }: GroupedFact) =>
  labels.pod !== undefined || objects.some((object) => object.startsWith('Pod/'))
const hasNode = ({ nodes, objects }: GroupedFact) => nodes.length > 0 || objects.some((one) => one.startsWith('Node/'))

function withPrefix(objects: readonly string[], prefix: string): readonly string[] {
  return objects.filter((object) => object.startsWith(prefix)).map((object) => object.slice(prefix.length))
}

/** Returns the names of the services, starting with the incident's own. */
export function servicesOf({ incident, services }: GroupedFacts): readonly string[] {
  const own = subjectName(incident.service)
  return [own, ...distinct(services.map(subjectName)).filter((name) => name !== own)]
}

export function detectionOf({ incident, alerts, entries }: GroupedFacts): Postmortem['detection'] {
  const ref = incidentRef(incident)
  const first = firstSymptom(alerts)
  const opener = entries.find(({ kind }) => kind === 'opened')?.actor ?? null
  const by = incident.origin === 'automatic' ? 'incmon' : opener
  const openedAt = formatTime(incident.createdAt)
  const older = first !== undefined && secondsBetween(first.startsAt, incident.startedAt) > 0
  const sentences: Sentence[] = [
    first
      ? {
          text: `First signal: ${first.name} from ${senderName(first.source)} at ${formatTime(first.startsAt)}.`,
          refs: alertRefs([first]),
        }
      : { text: 'First signal: none recorded.', refs: [ref] },
    ...(older && isEvidence(incident) ? [olderSentence(incident)] : []),
    {
      text:
        by === null ? `The incident was opened manually at ${openedAt}.` : `${by} opened the incident at ${openedAt}.`,
      refs: [ref],
    },
    { text: acknowledgedText(incident, entries), refs: [ref] },
    ...(hasLapsed(incident, entries)
      ? [{ text: 'This acknowledgement lapsed when the problem came back.', refs: [ref] }]
      : []),
    ...(wasClockSetBack(incident) ? [clockSentence(incident)] : []),
  ]
  return {
    firstSignal: first ? { ref: first.ref, source: first.source, at: new Date(first.startsAt).toISOString() } : null,
    openedBy: incident.origin === 'automatic' ? 'machine' : 'person',
    sentences,
  }
}

/** Returns whether the start of the incident is the time of the evidence that opened it. */
function isEvidence({ origin, startedAt, createdAt }: IncidentFact): boolean {
  return startedAt < createdAt || (startedAt === createdAt && origin === 'automatic')
}

function clockSentence(incident: IncidentFact): Sentence {
  const { createdAt, acknowledgedAt, resolvedAt } = incident
  const earliest = Math.min(acknowledgedAt ?? createdAt, resolvedAt ?? createdAt)
  const deed = earliest === resolvedAt ? 'resolution' : 'acknowledgement'
  const text = `The ${deed} is ${formatSeconds(secondsBetween(earliest, createdAt))} earlier than the opening. The clock was probably set back during the incident, so the times contradict each other.`
  return { text, refs: [incidentRef(incident)] }
}

function olderSentence(incident: IncidentFact): Sentence {
  const text = `That alert is older than the incident: the evidence that opened the incident is from ${formatTime(incident.startedAt)}.`
  return { text, refs: [incidentRef(incident)] }
}

/** Names the other incidents that opened during this one. A common cause is not implied. */
function meanwhileSentences({ meanwhile = [] }: GroupedFacts): readonly Sentence[] {
  if (meanwhile.length === 0) return []
  const text = `Other incidents that opened during this one: ${joinNames(meanwhile.map(({ title }) => quoted(title)))}.`
  return [{ text, refs: meanwhile.slice(0, LISTED).map(({ ref }) => ref) }]
}

/** Names the services that followed this incident, or the incident that it followed. */
function groupSentences({ incident, group }: GroupedFacts): readonly Sentence[] {
  const [first] = group?.others ?? []
  if (!group || !first) return []
  const { cause, leader, others } = group
  const count = countOf(others.length, 'other incident')
  if (leader === incidentRef(incident)) {
    const names = joinNames(distinct(others.map(({ service }) => subjectName(service))))
    const began = `${subjectName(first.service)} was the first of them, at ${formatTime(first.startedAt)}`
    const text = `${count} probably followed from this one: ${names}; ${began}.`
    return [{ text, refs: others.slice(0, LISTED).map(({ ref }) => ref) }]
  }
  const led = others.find(({ ref }) => ref === leader)
  const by = led ? `, incident ${quoted(led.title)}` : ''
  const text = `This incident and ${count} probably have the same cause: ${cause}${by}.`
  return [{ text, refs: [led?.ref ?? incidentRef(incident)] }]
}

/** Names what ran on the node of the incident. The node's own alerts do not name it. */
function onNodeSentences({ incident, onNode }: GroupedFacts): readonly Sentence[] {
  if (onNode.length === 0) return []
  const services = distinct(onNode.map(({ service }) => service))
  const on = incident.service.name.replace('node/', '')
  const text = `Services with alerts about pods on ${on}: ${joinNames(services)}.`
  return [{ text, refs: onNode.map(({ ref }) => ref) }]
}

/** Returns whether the problem came back after the first acknowledgement, so that nobody was on the incident any more. */
function hasLapsed({ hasLapsed, acknowledgedAt }: IncidentFact, entries: readonly EntryFact[]): boolean {
  return hasLapsed === true && entries.some((entry) => isReturn(entry) && entry.at > (acknowledgedAt ?? 0))
}

/** Returns whether the problem came back by itself. */
function isReturn({ kind, code, actor }: EntryFact): boolean {
  return kind === 'status' && code === 'open' && actor === null
}

function acknowledgedText(incident: IncidentFact, entries: readonly EntryFact[]): string {
  const { acknowledgedAt, acknowledgedBy, resolvedAt } = incident
  const ending = entries.find(({ at, kind, actor, code }) => {
    return kind === 'status' && at === resolvedAt && actor !== null && code === 'resolved'
  })
  if (acknowledgedAt === null) {
    // Only the incident that was merged into another one is resolved at that time.
    if (ending && entries.some(({ kind, at }) => kind === 'merged' && at === resolvedAt))
      return `No acknowledgement was recorded before ${ending.actor} merged the incident.`
    return ending
      ? `${ending.actor} resolved the incident without acknowledging it first at ${formatTime(ending.at)}.`
      : 'No acknowledgement was recorded.'
  }
  const entry = entries.find(({ at, kind, actor }) => kind === 'status' && at === acknowledgedAt && actor !== null)
  const actor = entry?.actor ?? acknowledgedBy
  const at = formatTime(acknowledgedAt)
  return actor === null ? `The incident was acknowledged at ${at}.` : `${actor} acknowledged the incident at ${at}.`
}
