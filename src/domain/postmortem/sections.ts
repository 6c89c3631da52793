/** The sections summary, impact and detection. */

import { SEVERITIES, type Severity } from '../severity.ts'
import type { Postmortem, Sentence } from './document.ts'
import type { AlertFact, EntryFact, IncidentFact, PostmortemFacts } from './facts.ts'
import { distinct, listed, quoted, secondsBetween, serviceName, shownDuration, shownTime, times } from './words.ts'

export function incidentRef({ uuid }: IncidentFact): string {
  return `incident/${uuid}`
}

export function alertRefs(alerts: readonly AlertFact[]): readonly string[] {
  return alerts.map(({ uuid }) => `alert/${uuid}`)
}

/** Returns the summary: what happened, when, the first symptom, and the most likely cause. */
export function summaryOf(facts: PostmortemFacts, suspicion: Sentence): Postmortem['summary'] {
  const { incident, alerts, entries } = facts
  const ref = incidentRef(incident)
  const name = serviceName(incident.service)
  const what = incident.cause === 'silence' ? `The source ${name} stopped sending` : `${name} had a problem`
  const first = alerts[0]
  const reopened = entries.filter(({ kind }) => kind === 'reopened').length
  const sentences: Sentence[] = [{ text: `${what} ${windowText(incident)}.`, refs: [ref] }]
  if (first) {
    const text = `First symptom: ${first.name}: ${quoted(first.summary)}.`
    sentences.push({
      text: first.summary === first.name ? `First symptom: ${first.name}.` : text,
      refs: alertRefs([first]),
    })
  } else sentences.push({ text: 'The record contains no alert of this incident.', refs: [ref] })
  sentences.push(suspicion)
  if (reopened > 0) sentences.push({ text: `The incident was reopened ${times(reopened)}.`, refs: [ref] })
  return { sentences, addition: null }
}

function windowText({ startedAt, resolvedAt }: IncidentFact): string {
  if (resolvedAt === null) return `from ${shownTime(startedAt)} on; the record contains no resolution`
  const seconds = secondsBetween(startedAt, resolvedAt)
  const window = `from ${shownTime(startedAt)} to ${shownTime(resolvedAt)}`
  return seconds < 0
    ? `${window}, but the end is before the start, so one of the times is wrong`
    : `${window} (${shownDuration(seconds)})`
}

export function impactOf(facts: PostmortemFacts): Postmortem['impact'] {
  const { incident, alerts, lowestScore } = facts
  const { startedAt, resolvedAt } = incident
  const objects = distinct(alerts.flatMap((alert) => alert.objects))
  const pods = namesOf(objects, 'Pod/')
  const nodes = distinct([...namesOf(objects, 'Node/'), ...alerts.flatMap(({ node }) => node ?? [])])
  const count = (severity: Severity) => alerts.filter((alert) => alert.severity === severity).length
  const seconds = resolvedAt === null || resolvedAt < startedAt ? null : secondsBetween(startedAt, resolvedAt)
  return {
    from: new Date(startedAt).toISOString(),
    to: resolvedAt === null ? null : new Date(resolvedAt).toISOString(),
    seconds,
    pods,
    nodes,
    lowestScore,
    alerts: { critical: count('critical'), error: count('error'), warning: count('warning'), info: count('info') },
    sentences: impactSentences(facts, { pods, nodes }),
    customers: null,
  }
}

function impactSentences(
  facts: PostmortemFacts,
  { pods, nodes }: { pods: readonly string[]; nodes: readonly string[] },
): readonly Sentence[] {
  const { incident, alerts, lowestScore } = facts
  const ref = incidentRef(incident)
  const seen = alerts.length > 0 ? alertRefs(alerts) : [ref]
  const services = servicesOf(facts)
  const score = lowestScore === null ? 'not in the record' : `${lowestScore} of 100`
  const severities = SEVERITIES.map((severity) => ({
    severity,
    count: alerts.filter((alert) => alert.severity === severity).length,
  })).filter(({ count }) => count > 0)
  const bySeverity = severities.map(({ severity, count }) => `${count} ${severity}`).join(', ')
  return [
    { text: `Window: ${windowText(incident)}.`, refs: [ref] },
    { text: `Services: ${listed(services)}.`, refs: [ref] },
    {
      text: `Pods: ${touched(pods)}.`,
      refs: alertRefs(alerts.filter(({ objects }) => objects.some(isPod))).concat(pods.length > 0 ? [] : seen),
    },
    { text: `Nodes: ${touched(nodes)}.`, refs: nodes.length > 0 ? alertRefs(alerts.filter(hasNode)) : seen },
    { text: `Lowest health score of ${serviceName(incident.service)}: ${score}.`, refs: [ref] },
    { text: `Alerts: ${bySeverity === '' ? 'none in the record' : bySeverity}.`, refs: seen },
  ]
}

function touched(names: readonly string[]): string {
  return names.length === 0 ? 'none in the record' : `${names.length} (${listed(names)})`
}

const isPod = (object: string) => object.startsWith('Pod/')
const hasNode = ({ node, objects }: AlertFact) => node !== null || objects.some((one) => one.startsWith('Node/'))

function namesOf(objects: readonly string[], prefix: string): readonly string[] {
  return objects.filter((object) => object.startsWith(prefix)).map((object) => object.slice(prefix.length))
}

/** Returns the services, the incident's own first. */
export function servicesOf({ incident, services }: PostmortemFacts): readonly string[] {
  const own = serviceName(incident.service)
  return [own, ...distinct(services.map(serviceName)).filter((name) => name !== own)]
}

export function detectionOf({ incident, alerts, entries }: PostmortemFacts): Postmortem['detection'] {
  const ref = incidentRef(incident)
  const first = alerts[0]
  const opener = entries.find(({ kind }) => kind === 'opened')?.actor ?? null
  const by = incident.origin === 'automatic' ? 'automatically' : `by ${opener ?? 'an unknown person'}`
  const sentences: Sentence[] = [
    first
      ? {
          text: `First signal: ${first.name} from the source ${first.source}, ${shownTime(first.startsAt)}.`,
          refs: alertRefs([first]),
        }
      : { text: 'First signal: none in the record.', refs: [ref] },
    { text: `Opened ${shownTime(incident.createdAt)} ${by}.`, refs: [ref] },
    { text: acknowledgedText(incident, entries), refs: [ref] },
  ]
  return {
    firstSignal: first
      ? { ref: `alert/${first.uuid}`, source: first.source, at: new Date(first.startsAt).toISOString() }
      : null,
    openedBy: incident.origin === 'automatic' ? 'machine' : 'person',
    sentences,
  }
}

function acknowledgedText({ acknowledgedAt }: IncidentFact, entries: readonly EntryFact[]): string {
  if (acknowledgedAt === null) return 'Acknowledged: not in the record.'
  const actor = entries.find(
    ({ at, kind, actor }) => kind === 'status' && at === acknowledgedAt && actor !== null,
  )?.actor
  return `Acknowledged ${shownTime(acknowledgedAt)}${actor ? ` by ${actor}` : ''}.`
}
