/** Generates the postmortem of a resolved incident. The output depends only on the facts. Start here. */

import { firstSymptom } from '../alert/first-symptom.ts'
import type { PostmortemFacts } from '../incident/facts.ts'
import { timelineOf } from '../incident/timeline.ts'
import { ordered } from '../order.ts'
import { actionsOf } from './actions.ts'
import { contributingOf, suspicionOf } from './causes.ts'
import { resolvedLater } from './critical.ts'
import type { Postmortem } from './document.ts'
import { evidenceOf } from './evidence.ts'
import { alertRefs, type GroupedFacts, groupFacts, incidentRef, stillFiring } from './groups.ts'
import { keyFactsOf } from './key-facts.ts'
import { metricsOf } from './metrics.ts'
import { hintsOf, recurrenceOf } from './recurrence.ts'
import { resolutionOf } from './resolution.ts'
import { detectionOf, impactOf, servicesOf, summaryOf } from './sections.ts'

export { changeFact, type PostmortemFacts } from '../incident/facts.ts'
export type { Postmortem, PostmortemState } from './document.ts'
export { applyEdits, type Edits, merge } from './edits.ts'
export { markdown } from './markdown.ts'

/**
 * Generates the document. Every sentence refers to its evidence, and missing facts are stated as missing. Users are
 * mentioned only as the authors of actions. The order of lists in `facts` does not matter.
 */
export function generate(facts: PostmortemFacts): Postmortem {
  const inOrder = orderedFacts(facts)
  const { incident, alerts } = inOrder
  const contributing = contributingOf(inOrder)
  const first = firstSymptom(alerts)
  const groupRefs = new Map(alerts.map(({ uuid, ref }) => [`alert/${uuid}`, ref]))
  const refs = { incident: incidentRef(incident), evidence: first ? alertRefs([first]) : [] }
  const metrics = metricsOf({ ...incident, firstAlertAt: first?.startsAt ?? null }, refs, {
    firing: stillFiring(alerts).length,
    later: resolvedLater(inOrder),
  })
  const document = {
    header: {
      title: incident.title,
      severity: incident.severity,
      state: 'draft' as const,
      revision: facts.revision,
      services: servicesOf(inOrder),
      incident: incidentRef(incident),
      generatedAt: new Date(facts.generatedAt).toISOString(),
    },
    summary: {
      ...summaryOf(inOrder, suspicionOf(inOrder, contributing)),
      facts: keyFactsOf(inOrder, contributing, metrics.ttd),
    },
    impact: impactOf(inOrder),
    detection: detectionOf(inOrder),
    // Links have their own section.
    timeline: timelineOf({ ...inOrder, correlations: [] }).map((row) => ({
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
function orderedFacts(facts: PostmortemFacts): GroupedFacts {
  return {
    ...facts,
    alerts: groupFacts(facts.alerts),
    entries: ordered(facts.entries, ({ at, kind, code, text, actor, ref }) => [at, kind, code, text, actor, ref]),
    events: ordered(facts.events, ({ at, uuid }) => [at, uuid]),
    changes: ordered(facts.changes, ({ startsAt, kind, ref, eventId }) => [startsAt, kind, ref, eventId]),
    onNode: ordered(facts.onNode, ({ startsAt, ref }) => [startsAt, ref]),
    earlier: ordered(facts.earlier, ({ startsAt, ref, name }) => [startsAt, ref, name]),
    correlations: ordered(facts.correlations, ({ createdAt, uuid }) => [createdAt, uuid]),
  }
}
