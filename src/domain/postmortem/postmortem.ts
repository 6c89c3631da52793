/** Generates the postmortem of a resolved incident. The output depends only on the facts. Start here. */

import { firstSymptom } from '../alert/first-symptom.ts'
import type { PostmortemFacts } from '../incident/facts.ts'
import { ordered } from '../order.ts'
import { type Severity, worst } from '../severity.ts'
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
  servicesOf,
  takenFrom,
  whileFiring,
} from './groups.ts'
import { keyFactsOf } from './key-facts.ts'
import { firstEvidenceAt, metricsOf } from './metrics.ts'
import { recurrenceOf } from './others.ts'
import { countsFromEnd, fixesOf, resolutionOf, resolvedByPerson } from './resolution.ts'
import { rowsOf } from './rows.ts'
import { detectionOf, impactOf, summaryOf } from './sections.ts'
import { suspicionsOf } from './trigger.ts'

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
