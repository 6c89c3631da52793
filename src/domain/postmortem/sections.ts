/** The summary, impact and detection sections. */

import type { EntryFact, IncidentFact } from '../incident/facts.ts'
import { acknowledgementsIn, hasComeBack } from '../incident/timeline-entries.ts'
import { distinct, ordered } from '../order.ts'
import { subjectName } from '../sender/sender-name.ts'
import type { Severity } from '../severity.ts'
import {
  formatCount,
  formatSeconds,
  formatTime,
  formatTimes,
  incidentName,
  joinNames,
  quoted,
  secondsBetween,
} from '../text.ts'
import { endOf, happenedSentences, lastReportOf, problemSeconds, wasCritical } from './critical.ts'
import type { Postmortem, Sentence } from './document.ts'
import {
  alertRefs,
  alertsText,
  firstSign,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  lateSentences,
  mergedIn,
  mergedInto,
  noSignText,
  personFirst,
  senderOf,
  servicesOf,
  signalOf,
  takenFrom,
  toldSentences,
} from './groups.ts'
import { wasClockSetBack } from './metrics.ts'
import {
  besideSentences,
  earlierSentences,
  elsewhereSentence,
  followedSentences,
  groupSentences,
  meanwhileSentences,
  onNodeSentences,
  onNodeToo,
} from './others.ts'
import { briefFixSentence, isReturn } from './resolution.ts'

/** Writes the summary: what happened and when, the first symptom, the most likely cause, and the probable fix. */
export function summaryOf(facts: GroupedFacts, suspicions: readonly Sentence[]): Postmortem['summary'] {
  const { incident, entries } = facts
  const ref = incidentRef(incident)
  const first = firstSign(facts)
  const reopened = entries.filter(({ kind }) => kind === 'reopened').length
  const sentences: Sentence[] = [...happenedSentences(facts)]
  if (first) {
    const text = first.firstText ?? first.summary
    const quote = text === first.name ? '' : `: ${quoted(text)}`
    const earlier = earlierSentences(facts)
    const isFirst = earlier.length === 0 && signalOf(first, incident) === 'signal'
    const what = isFirst ? 'The first symptom' : 'The first alert of this incident'
    const lead = secondsBetween(first.startsAt, incident.startedAt)
    const since =
      lead >= 60 && isEvidence(incident)
        ? `, which began at ${formatTime(first.startsAt)}, ${formatSeconds(lead)} before the ${wasCritical(incident) ? 'critical state' : 'incident'} began`
        : ''
    const refs = [...alertRefs([first]), ...(since === '' ? [] : [ref])]
    sentences.push({ text: `${what} was ${first.name}${quote}${since}.`, refs }, ...earlier)
  } else if (incident.cause !== 'silence') sentences.push({ text: noSignText(facts), refs: [ref] })
  sentences.push(...onNodeToo(facts))
  const returns = entries.filter(hasComeBack).length
  if (returns > 0) sentences.push({ text: `The problem came back ${formatTimes(returns)}.`, refs: [ref] })
  sentences.push(
    ...suspicions,
    ...groupSentences(facts),
    ...(mergedInto(facts) ? [elsewhereSentence(facts) ?? []].flat() : []),
    ...briefFixSentence(facts),
  )
  if (reopened > 0) sentences.push({ text: `The incident was reopened ${formatTimes(reopened)}.`, refs: [ref] })
  return { sentences, addition: null }
}

export function impactOf(facts: GroupedFacts): Postmortem['impact'] {
  const { incident, alerts, lowestScore } = facts
  const end = lastReportOf(facts) ? null : endOf(facts)
  const objects = distinct(alerts.flatMap((alert) => alert.objects))
  const named = [
    ...withPrefix(objects, 'Pod/'),
    ...alerts.flatMap(({ labels }) => labels.pod ?? []),
    ...facts.onNode.flatMap((one) => withPrefix(one.objects, 'Pod/')),
  ]
  const pods = ordered([...new Set(named)], (name) => [name.replace(/(?<=-)\d+$/, (digits) => digits.padStart(9, '0'))])
  const nodes = distinct([...withPrefix(objects, 'Node/'), ...alerts.flatMap((alert) => alert.nodes)])
  const count = (severity: Severity) => alerts.filter((alert) => alert.severity === severity).length
  return {
    from: new Date(incident.startedAt).toISOString(),
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
  const score = lowestScore === null ? 'not recorded' : `${lowestScore} of 100`
  const onPods = [...alertRefs(alerts.filter(hasPod)), ...facts.onNode.map((one) => one.ref)]
  return [
    { text: `Services: ${joinNames(servicesOf(facts))}.`, refs: [ref] },
    ...followedSentences(facts),
    ...meanwhileSentences(facts),
    ...besideSentences(facts),
    ...touchedSentences('Pods', pods, onPods),
    ...touchedSentences('Nodes', nodes, alertRefs(alerts.filter(hasNode))),
    ...onNodeSentences(facts),
    // The health of a service says nothing about a problem that only people noticed.
    ...(incident.cause === 'silence' || (incident.origin === 'manual' && lowestScore === 100)
      ? []
      : [{ text: `Lowest health score of ${subjectName(incident.service)}: ${score}.`, refs: [ref] }]),
    ...(alerts.length === 0 ? [] : [{ text: `${alertsText(alerts)}.`, refs: alertRefs(alerts) }]),
  ]
}

function touchedSentences(what: string, names: readonly string[], refs: readonly string[]): readonly Sentence[] {
  return names.length === 0 ? [] : [{ text: `${what}: ${formatCount(names.length)} (${joinNames(names)}).`, refs }]
}

const hasPod = ({ labels, objects }: GroupedFact) =>
  labels.pod !== undefined || objects.some((object) => object.startsWith('Pod/'))
const hasNode = ({ nodes, objects }: GroupedFact) => nodes.length > 0 || objects.some((one) => one.startsWith('Node/'))

function withPrefix(objects: readonly string[], prefix: string): readonly string[] {
  return objects.filter((object) => object.startsWith(prefix)).map((object) => object.slice(prefix.length))
}

export function detectionOf(facts: GroupedFacts): Postmortem['detection'] {
  const { incident, entries } = facts
  const [ref, first] = [incidentRef(incident), firstSign(facts)]
  const by = incident.origin === 'automatic' ? 'incmon' : entries.find(({ kind }) => kind === 'opened')?.actor
  const openedAt = formatTime(incident.createdAt)
  const sentences: Sentence[] = [
    first
      ? {
          text: `First ${signalOf(first, incident)}: ${first.name} from ${senderOf(first)} at ${formatTime(first.startsAt)}.`,
          refs: alertRefs([first]),
        }
      : {
          text: incident.cause === 'silence' ? 'First signal: a missing heartbeat.' : 'First signal: none recorded.',
          refs: [ref],
        },
    ...lateSentences(facts, first),
    ...(isEvidence(incident) && wasCritical(incident) ? olderSentences(incident, first) : []),
    {
      text:
        by == null ? `The incident was opened manually at ${openedAt}.` : `${by} opened the incident at ${openedAt}.`,
      refs: [ref],
    },
    ...mergedIn(facts).map(({ ref, createdAt, ...one }) => ({
      text: `${incidentName(one)}, which was merged into this incident, was opened at ${formatTime(createdAt)}.`,
      refs: [ref],
    })),
    ...[...toldSentences(facts), acknowledgedSentence(facts)],
    ...lapseSentences(incident, entries),
    ...laterAcknowledgements(facts),
    ...(wasClockSetBack(incident) ? [clockSentence(incident)] : []),
  ]
  return {
    firstSignal: first ? { ref: first.ref, source: first.source, at: new Date(first.startsAt).toISOString() } : null,
    openedBy: incident.origin === 'automatic' ? 'machine' : 'person',
    sentences,
  }
}

/** Returns whether the start of the incident is the time of the evidence that opened it. */
const isEvidence = ({ origin, startedAt, createdAt }: IncidentFact) =>
  startedAt < createdAt || (startedAt === createdAt && origin === 'automatic')

function clockSentence(incident: IncidentFact): Sentence {
  const { createdAt, acknowledgedAt, resolvedAt } = incident
  const earliest = Math.min(acknowledgedAt ?? createdAt, resolvedAt ?? createdAt)
  const deed = earliest === resolvedAt ? 'resolution' : 'acknowledgement'
  const text = `The ${deed} is ${formatSeconds(secondsBetween(earliest, createdAt))} earlier than the opening. The clock was probably set back during the incident, so the times contradict each other.`
  return { text, refs: [incidentRef(incident)] }
}

function olderSentences(incident: IncidentFact, first: GroupedFact | undefined): readonly Sentence[] {
  if (!first || secondsBetween(first.startsAt, incident.startedAt) <= 0) return []
  const text = `The critical state began at ${formatTime(incident.startedAt)}.`
  return [{ text, refs: [incidentRef(incident)] }]
}

/** Says when the problem came back after the first acknowledgement, so that nobody was on the incident any more. */
function lapseSentences(incident: IncidentFact, entries: readonly EntryFact[]): readonly Sentence[] {
  const isBack = (one: EntryFact) => isReturn(one) || (one.kind === 'reopened' && one.actor === null)
  const back = entries.find((one) => isBack(one) && one.at > (incident.acknowledgedAt ?? 0))
  const text = back && `This acknowledgement lapsed when the problem came back at ${formatTime(back.at)}.`
  return incident.hasLapsed && text ? [{ text, refs: [incidentRef(incident)] }] : []
}

/** Names who acknowledged the incident after it had come back. */
function laterAcknowledgements({ incident, entries }: GroupedFacts): readonly Sentence[] {
  const first = incident.acknowledgedAt ?? Number.POSITIVE_INFINITY
  return [...acknowledgementsIn(entries)]
    .filter(({ at }) => at > first)
    .map(({ at, actor }) => ({
      text: `${actor} acknowledged it again at ${formatTime(at)}.`,
      refs: [incidentRef(incident)],
    }))
}

function acknowledgedSentence(facts: GroupedFacts): Sentence {
  const { incident, entries } = facts
  const refs = [incidentRef(incident)]
  const { acknowledgedAt, acknowledgedBy, resolvedAt } = incident
  if (acknowledgedAt === null) {
    const again = entries.find(({ kind, actor }) => kind === 'reopened' && actor !== null)
    const ending = entries.find(({ kind, actor, code }) => {
      return kind === 'status' && code === 'resolved' && (actor !== null || again !== undefined)
    })
    // Only the incident that was merged into another one is resolved at that time.
    const isMerge = entries.some(({ kind, at }) => kind === 'merged' && at === resolvedAt)
    const before = ending ? ` before ${ending.actor ?? 'incmon'} ${isMerge ? 'merged' : 'resolved'} it` : ''
    const deed = again?.code === 'open' ? 'reopened it' : 'reopened it and took it over'
    const after = again ? `; ${again.actor} ${deed} at ${formatTime(again.at)}` : ''
    return { text: `Nobody acknowledged the incident${before}${after}.`, refs }
  }
  const entry = entries.find(({ at, kind, actor }) => kind === 'status' && at === acknowledgedAt && actor !== null)
  const actor = entry?.actor ?? acknowledgedBy
  const other = takenFrom(facts)
  const what = other ? incidentName(other) : 'the incident'
  const text = `${personFirst(actor ?? 'a user')} acknowledged ${what} at ${formatTime(acknowledgedAt)}`
  return other
    ? { text: `${text}, before it was merged into this incident.`, refs: [...refs, other.ref] }
    : { text: `${text}.`, refs }
}
