/** Generates the postmortem of a resolved incident. The output depends only on the facts. Start here. */
import { firstSymptom } from '../alert/first-symptom.ts'
import { isLostNode } from '../event/lasting.ts'
import type { PostmortemFacts } from '../incident/facts.ts'
import { otherText, timelineOf } from '../incident/timeline.ts'
import { sortRows, type TimelineRow } from '../incident/timeline-rows.ts'
import { distinct, ordered } from '../order.ts'
import { subjectName } from '../sender/sender-name.ts'
import { type Severity, worst } from '../severity.ts'
import { joinNames } from '../text.ts'
import { actionsOf } from './actions.ts'
import { contributingOf } from './causes.ts'
import { lastReportOf, lastReportRefs, resolvedLater, wasMerged } from './critical.ts'
import type { Postmortem, Sentence } from './document.ts'
import { evidenceOf } from './evidence.ts'
import {
  alertRefs,
  type GroupedFact,
  type GroupedFacts,
  groupFacts,
  incidentRef,
  mergedIn,
  senderOf,
  servicesOf,
  silentSenders,
  takenFrom,
  whileFiring,
} from './groups.ts'
import { keyFactsOf, suspicionsOf } from './key-facts.ts'
import { firstEvidenceAt, metricsOf } from './metrics.ts'
import { recurrenceOf } from './others.ts'
import { countsFromEnd, fixesOf, resolutionOf, resolvedByPerson } from './resolution.ts'
import { detectionOf, impactOf, summaryOf } from './sections.ts'

/**
 * Generates the document. Every sentence refers to its evidence, and missing facts are stated as missing. Users are
 * mentioned only as the authors of actions. The order of lists in `facts` does not matter.
 */
export function generate(facts: PostmortemFacts): Postmortem {
  const sorted = orderedFacts(facts)
  const inOrder = { ...sorted, fixes: fixesOf(sorted) }
  const { incident, alerts } = inOrder
  const contributing = contributingOf(inOrder)
  const first = firstSymptom(alerts)
  const groupRefs = new Map(alerts.map(({ uuid, ref }) => [`alert/${uuid}`, ref]))
  const openedAt = Math.min(incident.createdAt, ...mergedIn(inOrder).map(({ createdAt }) => createdAt))
  const firstAlertAt = first?.startsAt ?? null
  const timing = { ...incident, openedAt, firstAlertAt, wasMerged: wasMerged(inOrder) }
  // A warning can be older than the problem.
  const evidenceAt = firstEvidenceAt(timing)
  const evidence = alerts.find(({ startsAt }) => startsAt === evidenceAt) ?? first
  const own = evidence ? alertRefs([evidence]) : []
  const refs = { incident: incidentRef(incident), evidence: own, last: lastReportRefs(inOrder) }
  const metrics = metricsOf(timing, refs, {
    firing: resolvedByPerson(inOrder) ? whileFiring(inOrder) : '',
    later: resolvedLater(inOrder),
    isReported: lastReportOf(inOrder) === null,
    countsFromEnd: countsFromEnd(inOrder),
    isTaken: takenFrom(inOrder) !== undefined,
    wasReopened: inOrder.entries.some(({ kind }) => kind === 'reopened'),
  })
  const document = {
    header: {
      title: incident.title,
      severity: incident.severity,
      state: 'draft' as const,
      revision: facts.revision,
      services: servicesOf(inOrder),
      incident: incidentRef(incident),
      ...(incident.number === undefined ? {} : { number: incident.number }),
      generatedAt: new Date(facts.generatedAt).toISOString(),
    },
    summary: {
      ...summaryOf(inOrder, suspicionsOf(inOrder, contributing)),
      facts: keyFactsOf(inOrder, contributing, metrics.ttd),
    },
    impact: impactOf(inOrder),
    detection: detectionOf(inOrder),
    // Links have their own section.
    timeline: rowsOf(inOrder).map((row) => ({
      ...row,
      at: new Date(row.at).toISOString(),
      until: new Date(row.until).toISOString(),
      ref: groupRefs.get(row.ref) ?? row.ref,
    })),
    contributing,
    rootCause: { text: null, hints: hintsOf(alerts) },
    resolution: resolutionOf(inOrder),
    metrics,
    lessons: { wentWell: null, wentBadly: null, lucky: null },
    actions: actionsOf(inOrder),
    recurrence: recurrenceOf(inOrder),
  }
  return { ...document, evidence: evidenceOf(document, inOrder) }
}

/** Sorts each list, so that the result does not depend on the order in which facts were loaded. */
function orderedFacts(facts: PostmortemFacts): Omit<GroupedFacts, 'fixes'> {
  return {
    ...facts,
    alerts: groupFacts(atWorst(facts)),
    entries: ordered(facts.entries, ({ at, kind, code, text, actor, ref }) => [at, kind, code, text, actor, ref]),
    events: ordered(facts.events, ({ at, uuid }) => [at, uuid]),
    changes: ordered(facts.changes, ({ startsAt, kind, ref, eventId }) => [startsAt, kind, ref, eventId]),
    meanwhile: othersOf(facts),
    ...(facts.group
      ? { group: { ...facts.group, others: ordered(facts.group.others, ({ startedAt, ref }) => [startedAt, ref]) } }
      : {}),
    onNode: ordered(facts.onNode, ({ startsAt, ref }) => [startsAt, ref]),
    earlier: ordered(facts.earlier, ({ startsAt, ref, name }) => [startsAt, ref, name]),
    correlations: ordered(facts.correlations, ({ createdAt, uuid }) => [createdAt, uuid]),
  }
}

/** Returns the other incidents that opened during this one, without those of its group or merged with it. */
function othersOf({ meanwhile = [], group, entries }: PostmortemFacts) {
  const known = new Set([...entries, ...(group?.others ?? [])].map(({ ref }) => ref))
  return ordered(
    meanwhile.filter(({ ref }) => !known.has(ref)),
    ({ createdAt, ref }) => [createdAt, ref],
  )
}

/** Returns the alerts with their worst severity during the incident. */
function atWorst({ alerts, entries }: PostmortemFacts): PostmortemFacts['alerts'] {
  const changed = new Map<string, Severity>()
  for (const { facts, ref } of entries) {
    if (facts?.code !== 'severity' || ref === null) continue
    const severity = worst(facts.from ?? facts.to, facts.to)
    changed.set(ref, worst(changed.get(ref) ?? severity, severity))
  }
  return alerts.map((alert) => {
    const severity = changed.get(`alert/${alert.uuid}`)
    return severity ? { ...alert, severity: worst(severity, alert.severity) } : alert
  })
}

/** Returns the hints for the conditions in order of the conditions, without duplicates. */
function hintsOf(alerts: readonly GroupedFact[]): readonly Sentence[] {
  const byText = Map.groupBy(
    alerts.filter(({ hint }) => hint !== null && hint.trim() !== ''),
    ({ name, hint }) => `${name}: ${hint}`,
  )
  return [...byText].map(([text, of]) => ({ text, refs: alertRefs(of) }))
}

// The rows of the timeline.

/** Returns the rows. Alerts of one name that several services had at the same second share one, and so do their ends. */
function rowsOf(facts: GroupedFacts): ReturnType<typeof timelineOf> {
  const senders = new Map(facts.alerts.map((alert) => [`alert/${alert.uuid}`, senderOf(alert)]))
  // The cordon of a node is no alert of its own.
  const events = [...facts.events, ...(facts.cordons ?? []).map((one) => ({ ...one, alertId: null }))]
  const rows = timelineOf({ ...facts, events, correlations: [] })
  const all = [...together(rows, facts), ...silenceRows(facts), ...replacedRows(facts)]
  return sortRows(
    all.map((row) => (row.source === 'metrics' ? { ...row, actor: directOf(senders.get(row.ref)) } : row)),
  )
}

const NEWS = { code: null, actor: null, source: null, count: 1, seen: 1 } as const

/** Returns rows for when the heartbeats of senders were missing. */
function silenceRows(facts: GroupedFacts): readonly TimelineRow[] {
  return silentSenders(facts).flatMap(({ ref, sender, from, to }) => {
    const row = (at: number, text: string) => ({ ...NEWS, at, until: at, kind: 'gap', text, ref })
    const back = to === null ? [] : [row(to, `the heartbeats of ${sender} are back`)]
    return [row(from, `last heartbeat of ${sender}`), ...back]
  })
}

/** Returns a row for each pod that was scheduled and started after pods were lost with their node. */
function replacedRows({ events }: GroupedFacts): readonly TimelineRow[] {
  const lost = events.find(
    ({ kind, name, object }) => kind === 'firing' && LOSSES.has(name) && object.startsWith('Pod/'),
  )
  const placed = events.filter(({ name, at }) => lost !== undefined && name === 'Scheduled' && at >= lost.at)
  const pods = new Set(placed.map(({ object }) => object))
  const started = events.filter(({ name, object }) => name === 'Started' && pods.has(object))
  return started.map(({ uuid, at, object, source }) => {
    return {
      ...NEWS,
      source,
      at,
      until: at,
      kind: 'event',
      text: `replacement ${object} started`,
      ref: `event/${uuid}`,
    }
  })
}

/** What Kubernetes reports about the pods on a lost node. */
const LOSSES: ReadonlySet<string> = new Set(['NodeNotReady', 'TaintManagerEviction'])

/** Returns the name of a sender that is not named after its webhook. */
function directOf(sender: string | undefined): string | null {
  return sender === 'Prometheus' ? sender : null
}

function together(rows: readonly TimelineRow[], facts: GroupedFacts): readonly TimelineRow[] {
  const names = new Map<string, string>([
    ...facts.events.flatMap(({ alertId, name }) => (alertId === null ? [] : [[`alert/${alertId}`, name] as const])),
    ...facts.alerts.map(({ uuid, name }) => [`alert/${uuid}`, name] as const),
  ])
  const others = new Map<string, string>([
    ...facts.events.map(({ alertId, incident }) => [`alert/${alertId}`, otherText(incident)] as const),
    ...facts.alerts.map(({ uuid }) => [`alert/${uuid}`, ''] as const),
  ])
  const keyOf = ({ kind, at, text, source, ref }: TimelineRow, index: number) => {
    if (kind === 'ended') return JSON.stringify([kind, Math.floor(at / 1000), text, source])
    const name = kind === 'alert' ? names.get(ref) : undefined
    return name === undefined ? index : JSON.stringify([kind, Math.floor(at / 1000), name, source, others.get(ref)])
  }
  return [
    ...Map.groupBy(
      rows.map((row, index) => ({ row, key: keyOf(row, index) })),
      ({ key }) => key,
    ).values(),
  ].flatMap((same) => {
    const [first, ...more] = same.map(({ row }) => row)
    if (!first || more.length === 0) return first ?? []
    const all = [first, ...more]
    const sum = (of: (row: TimelineRow) => number) => all.reduce((total, row) => total + of(row), 0)
    const services = servicesIn(all, facts)
    // Alerts of one service have texts that differ. Alerts of other incidents have no known service.
    if (first.kind === 'alert' && services.length === 1) return all
    const on = services.length === 0 ? '' : ` in ${joinNames(services)}`
    const name = names.get(first.ref) ?? ''
    const what = isLostNode(name) ? `pods${on} are on a node that is not ready` : `${name}${on}`
    const started = `${what}${others.get(first.ref) ?? ''}`
    const text = first.kind === 'ended' ? `${first.text}${services.length < 2 ? '' : on}` : started
    const isOne = text === started && isLostNode(name)
    const [count, seen] = isOne ? [1, 1] : [sum((row) => row.count), sum((row) => row.seen)]
    return { ...first, text, count, seen, until: Math.max(...all.map(({ until }) => until)) }
  })
}

/** Returns the names of the services of these alerts; none if the alerts belong to other incidents. */
function servicesIn(rows: readonly TimelineRow[], { alerts, incident, services }: GroupedFacts): readonly string[] {
  const known = new Map([incident.service, ...services].map((one) => [one.uuid, subjectName(one)]))
  const byRef = new Map<string, string | undefined>(
    alerts.map(({ uuid, serviceId }) => [`alert/${uuid}`, known.get(serviceId)]),
  )
  return distinct(rows.flatMap(({ ref }) => byRef.get(ref) ?? []))
}
