/** The summary, impact and detection sections. */

import { firstSymptom } from '../alert/first-symptom.ts'
import { senderName } from '../event/event.ts'
import { distinct } from '../order.ts'
import { SEVERITIES, type Severity, STATES } from '../severity.ts'
import {
  formatCount,
  formatPeriod,
  formatSeconds,
  formatTime,
  formatTimes,
  joinNames,
  quoted,
  secondsBetween,
  serviceName,
  stillFiringText,
} from '../text.ts'
import type { Postmortem, Sentence } from './document.ts'
import type { EntryFact, IncidentFact } from './facts.ts'
import { alertRefs, type GroupedFact, type GroupedFacts, incidentRef, namesOf, stillFiring } from './groups.ts'
import { wasClockSetBack } from './metrics.ts'
import { endOf, fixSentence, resolvedLater } from './resolution.ts'

/** Writes the summary: what happened and when, the first symptom, the most likely cause, and the probable fix. */
export function summaryOf(facts: GroupedFacts, suspicion: Sentence): Postmortem['summary'] {
  const { incident, alerts, entries } = facts
  const ref = incidentRef(incident)
  const name = serviceName(incident.service)
  const what =
    incident.cause === 'silence' ? `The source ${name} sent nothing` : `${name} ${STATES[incident.severity].was}`
  const first = firstSymptom(alerts)
  const reopened = entries.filter(({ kind }) => kind === 'reopened').length
  const sentences: Sentence[] = [{ text: `${what} ${windowText(facts)}.`, refs: [ref] }]
  if (stillFiring(alerts).length > 0) sentences.splice(0, 1, ...startSentences(facts, what))
  if (first) {
    const quote = first.summary === first.name ? '' : `: ${quoted(first.summary)}`
    sentences.push({ text: `The first symptom was ${first.name}${quote}.`, refs: alertRefs([first]) })
  } else sentences.push({ text: 'No alert was recorded for this incident.', refs: [ref] })
  sentences.push(suspicion, ...fixSentence(facts))
  if (reopened > 0) sentences.push({ text: `The incident was reopened ${formatTimes(reopened)}.`, refs: [ref] })
  return { sentences, addition: null }
}

/** Writes the first sentences for an incident with alerts that are still firing. */
function startSentences({ incident, alerts }: GroupedFacts, what: string): readonly Sentence[] {
  const { startedAt, resolvedAt } = incident
  const refs = [incidentRef(incident)]
  const start = what.endsWith('was critical')
    ? `${what.replace(/was critical$/, 'became critical')} at ${formatTime(startedAt)}.`
    : `${what} from ${formatTime(startedAt)} on.`
  const when = resolvedAt === null ? 'this was written' : `it was resolved at ${formatTime(resolvedAt)}`
  const firing = `When ${when}, ${stillFiringText(stillFiring(alerts).length)}.`
  return [
    { text: start, refs },
    { text: firing, refs },
  ]
}

function windowText(facts: GroupedFacts): string {
  const { startedAt, resolvedAt } = facts.incident
  const end = endOf(facts)
  const firing = stillFiring(facts.alerts).length
  if (firing > 0) {
    const when = resolvedAt === null ? 'this was written' : `the incident was resolved at ${formatTime(resolvedAt)}`
    return `from ${formatTime(startedAt)} on; ${stillFiringText(firing)} when ${when}`
  }
  if (end === null) return `from ${formatTime(startedAt)} on; no resolution was recorded`
  const seconds = secondsBetween(startedAt, end)
  const window = `from ${formatPeriod(startedAt, end)}`
  if (wasClockSetBack(facts.incident)) return `${window}, but the clock was probably set back during the incident`
  const later = resolvedLater(facts)
  const resolved = later === 0 ? '' : `; the incident was resolved ${formatSeconds(later)} later`
  return seconds < 0
    ? `${window}, but the end is before the start, so one of the times is wrong`
    : `${window} (${formatSeconds(seconds)})${resolved}`
}

export function impactOf(facts: GroupedFacts): Postmortem['impact'] {
  const { incident, alerts, lowestScore } = facts
  const { startedAt } = incident
  const end = endOf(facts)
  const objects = distinct(alerts.flatMap((alert) => alert.objects))
  const pods = distinct([...withPrefix(objects, 'Pod/'), ...alerts.flatMap(({ labels }) => labels.pod ?? [])])
  const nodes = distinct([...withPrefix(objects, 'Node/'), ...alerts.flatMap(({ node }) => node ?? [])])
  const count = (severity: Severity) => alerts.filter((alert) => alert.severity === severity).length
  return {
    from: new Date(startedAt).toISOString(),
    to: end === null ? null : new Date(end).toISOString(),
    seconds: end === null || end < startedAt || wasClockSetBack(incident) ? null : secondsBetween(startedAt, end),
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
  const onPods = alertRefs(alerts.filter(hasPod))
  return [
    { text: `Period: ${windowText(facts)}.`, refs: [ref] },
    { text: `Services: ${joinNames(servicesOf(facts))}.`, refs: [ref] },
    { text: `Pods: ${touched(pods)}.`, refs: pods.length > 0 ? onPods : seen },
    { text: `Nodes: ${touched(nodes)}.`, refs: nodes.length > 0 ? alertRefs(alerts.filter(hasNode)) : seen },
    { text: `Lowest health score of ${serviceName(incident.service)}: ${score}.`, refs: [ref] },
    { text: `${alertsText(alerts)}.`, refs: seen },
  ]
}

/**
 * Returns text such as `Alerts by their own severity: 1 critical, 440 warning (OOMKilled and HighErrorRate ×440)`. In
 * the score, an alert can count as more severe, for example if an event confirms the alert.
 */
function alertsText(alerts: readonly GroupedFact[]): string {
  if (alerts.length === 0) return 'Alerts: none recorded'
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
const hasNode = ({ node, objects }: GroupedFact) => node !== null || objects.some((one) => one.startsWith('Node/'))

function withPrefix(objects: readonly string[], prefix: string): readonly string[] {
  return objects.filter((object) => object.startsWith(prefix)).map((object) => object.slice(prefix.length))
}

/** Returns the names of the services, starting with the incident's own. */
export function servicesOf({ incident, services }: GroupedFacts): readonly string[] {
  const own = serviceName(incident.service)
  return [own, ...distinct(services.map(serviceName)).filter((name) => name !== own)]
}

export function detectionOf({ incident, alerts, entries }: GroupedFacts): Postmortem['detection'] {
  const ref = incidentRef(incident)
  const first = firstSymptom(alerts)
  const opener = entries.find(({ kind }) => kind === 'opened')?.actor ?? null
  const by = incident.origin === 'automatic' ? 'incmon' : (opener ?? 'Somebody')
  const older = first !== undefined && secondsBetween(first.startsAt, incident.startedAt) > 0
  const sentences: Sentence[] = [
    first
      ? {
          text: `First signal: ${first.name} from ${senderName(first.source)} at ${formatTime(first.startsAt)}.`,
          refs: alertRefs([first]),
        }
      : { text: 'First signal: none recorded.', refs: [ref] },
    ...(older && incident.startedAt < incident.createdAt ? [olderSentence(incident)] : []),
    { text: `${by} opened the incident at ${formatTime(incident.createdAt)}.`, refs: [ref] },
    { text: acknowledgedText(incident, entries), refs: [ref] },
    ...(wasClockSetBack(incident) ? [clockSentence(incident)] : []),
  ]
  return {
    firstSignal: first ? { ref: first.ref, source: first.source, at: new Date(first.startsAt).toISOString() } : null,
    openedBy: incident.origin === 'automatic' ? 'machine' : 'person',
    sentences,
  }
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

function acknowledgedText({ acknowledgedAt, resolvedAt }: IncidentFact, entries: readonly EntryFact[]): string {
  const ending = entries.find(({ at, kind, actor, code }) => {
    return kind === 'status' && at === resolvedAt && actor !== null && code === 'resolved'
  })
  if (acknowledgedAt === null) {
    return ending
      ? `${ending.actor} resolved the incident without acknowledging it first at ${formatTime(ending.at)}.`
      : 'No acknowledgement was recorded.'
  }
  const entry = entries.find(({ at, kind, actor }) => kind === 'status' && at === acknowledgedAt && actor !== null)
  const actor = entry?.actor ?? 'A user'
  const deed =
    acknowledgedAt === resolvedAt ? 'resolved the incident without acknowledging it first' : 'acknowledged the incident'
  return `${actor} ${deed} at ${formatTime(acknowledgedAt)}.`
}
