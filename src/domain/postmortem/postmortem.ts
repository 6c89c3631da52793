/** Postmortems: the document of a resolved incident, made from the record alone; the same facts give the same bytes. */

import { timelineOf } from '../incident/timeline.ts'
import { actionsOf } from './actions.ts'
import { contributingOf, hintsOf, recurrenceOf, suspicionOf } from './causes.ts'
import type { Postmortem } from './document.ts'
import { evidenceOf } from './evidence.ts'
import type { PostmortemFacts } from './facts.ts'
import { metricsOf } from './metrics.ts'
import { resolutionOf } from './resolution.ts'
import { alertRefs, detectionOf, impactOf, incidentRef, servicesOf, summaryOf } from './sections.ts'
import { ordered } from './words.ts'

export type { Postmortem, PostmortemState } from './document.ts'
export { applyEdits, type Edits, merge } from './edits.ts'
export { changeFact, type PostmortemFacts } from './facts.ts'
export { markdown } from './markdown.ts'

/**
 * The machine's draft. Every sentence names the records that it rests on; what is not in the record is said to be so;
 * people appear only as actors of what they did. The order of the arrays in `facts` does not matter.
 */
export function generate(facts: PostmortemFacts): Postmortem {
  const inOrder = orderedFacts(facts)
  const { incident, alerts } = inOrder
  const contributing = contributingOf(inOrder)
  const firstAlertAt = alerts[0]?.startsAt ?? null
  const refs = { incident: incidentRef(incident), evidence: alertRefs(alerts.slice(0, 1)) }
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
    summary: summaryOf(inOrder, suspicionOf(inOrder, contributing)),
    impact: impactOf(inOrder),
    detection: detectionOf(inOrder),
    timeline: timelineOf(inOrder).map((row) => ({
      ...row,
      at: new Date(row.at).toISOString(),
      until: new Date(row.until).toISOString(),
    })),
    contributing,
    rootCause: { text: null, hints: hintsOf(alerts) },
    resolution: resolutionOf(inOrder),
    metrics: metricsOf({ ...incident, firstAlertAt }, refs),
    lessons: { wentWell: null, wentBadly: null, lucky: null },
    actions: actionsOf(inOrder),
    recurrence: recurrenceOf(inOrder),
  }
  return { ...document, evidence: evidenceOf(document, inOrder) }
}

/** Each array in its one order, so that what is made of it does not depend on how it was loaded. */
function orderedFacts(facts: PostmortemFacts): PostmortemFacts {
  return {
    ...facts,
    alerts: ordered(facts.alerts, ({ startsAt, uuid }) => [startsAt, uuid]),
    entries: ordered(facts.entries, ({ at, kind, text, actor, ref }) => [at, kind, text, actor, ref]),
    events: ordered(facts.events, ({ at, uuid }) => [at, uuid]),
    changes: ordered(facts.changes, ({ startsAt, kind, ref, eventId }) => [startsAt, kind, ref, eventId]),
    earlier: ordered(facts.earlier, ({ startsAt, ref, name }) => [startsAt, ref, name]),
    correlations: ordered(facts.correlations, ({ createdAt, uuid }) => [createdAt, uuid]),
  }
}
