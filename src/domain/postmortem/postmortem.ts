/** Generates the postmortem of a resolved incident. The output depends only on the facts. Start here. */

import { firstSymptom } from '../alert/first-symptom.ts'
import { changeName } from '../incident/change-text.ts'
import type { PostmortemFacts } from '../incident/facts.ts'
import { ordered } from '../order.ts'
import { SEVERITIES, type Severity, worst } from '../severity.ts'
import { likelihoodOf } from '../suspect/likely-cause.ts'
import { formatSeconds, formatTime, joinNames, quoted, secondsBetween } from '../text.ts'
import { actionsOf } from './actions.ts'
import { contributingOf } from './causes.ts'
import {
  declarerOf,
  lastReportOf,
  problemSeconds,
  resolvedLater,
  secondsAfterwards,
  secondsOf,
  silencedText,
  wasCritical,
  wasMerged,
} from './critical.ts'
import type { KeyFact, Metric, Postmortem, Sentence } from './document.ts'
import { evidenceOf } from './evidence.ts'
import {
  alertRefs,
  type GroupedFact,
  type GroupedFacts,
  groupFacts,
  incidentRef,
  intoRefs,
  intoText,
  mergedIn,
  whileFiring,
} from './groups.ts'
import { firstEvidenceAt, metricsOf } from './metrics.ts'
import { causeElsewhere, earlierReports, recurrenceOf } from './others.ts'
import { fixesOf, resolutionOf, resolvedByPerson } from './resolution.ts'
import { rowsOf } from './rows.ts'
import { detectionOf, impactOf, servicesOf, summaryOf } from './sections.ts'
import { suspicionOf, triggerOf } from './trigger.ts'

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
  const openedAt = Math.min(incident.createdAt, ...mergedIn(inOrder).map(({ createdAt }) => createdAt))
  const firstAlertAt = first?.startsAt ?? null
  const timing = { ...incident, openedAt, firstAlertAt, wasMerged: wasMerged(inOrder) }
  // A warning can be older than the problem.
  const evidenceAt = firstEvidenceAt(timing)
  const evidence = alerts.find(({ startsAt }) => startsAt === evidenceAt) ?? first
  const refs = { incident: incidentRef(incident), evidence: evidence ? alertRefs([evidence]) : [] }
  const metrics = metricsOf(timing, refs, {
    firing: resolvedByPerson(inOrder) ? whileFiring(inOrder) : '',
    later: resolvedLater(inOrder),
    isReported: lastReportOf(inOrder) === null,
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
function orderedFacts(facts: PostmortemFacts): GroupedFacts {
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
  for (const { kind, code, ref } of entries) {
    const severity = kind === 'alert' && ref !== null ? SEVERITIES.find((one) => one === code) : undefined
    if (severity && ref) changed.set(ref, worst(changed.get(ref) ?? severity, severity))
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

/** Returns the four facts. Says what is not known. */
function keyFactsOf(facts: GroupedFacts, contributing: Postmortem['contributing'], ttd: Metric): readonly KeyFact[] {
  const ref = incidentRef(facts.incident)
  const fixes = fixesOf(facts)
  const detected = detectedFact(facts, ttd)
  const cause = triggerOf(facts, contributing)
  const elsewhere = causeElsewhere(facts)
  const probably = facts.component ? [`probably ${facts.component.ref}`] : []
  const see = elsewhere ? [`see ${quoted(elsewhere.title)}`] : []
  return [
    {
      label: facts.incident.cause === 'silence' ? 'No heartbeat for' : 'Critical for',
      text: criticalText(facts),
      refs: [ref, ...intoRefs(facts)],
    },
    detected,
    cause
      ? { label: 'Cause', text: causeText(cause), refs: cause.sentence.refs }
      : {
          label: 'Cause',
          text: [...probably, ...see].join('; ') || noCauseText(facts, contributing),
          refs: [ref, ...(elsewhere ? [elsewhere.ref] : [])],
        },
    fixes.length > 0
      ? {
          label: 'Fix',
          text: `probably ${joinNames(fixes.map(changeName))}`,
          refs: fixes.map(({ eventId }) => `event/${eventId}`),
        }
      : elsewhere
        ? { label: 'Fix', text: `see ${quoted(elsewhere.title)}`, refs: [elsewhere.ref] }
        : { label: 'Fix', text: noFixText(facts), refs: [ref] },
  ]
}

function noFixText({ entries }: GroupedFacts): string {
  const notes = entries.some(({ kind }) => kind === 'note') ? '; see the notes' : ''
  return `no deploy or rollout was found that fixed it${notes}`
}

/** Names an earlier report about the services, if there is one: the problem may have begun with it. */
function detectedFact(facts: GroupedFacts, { seconds, sentence: { refs } }: Metric): KeyFact {
  const label = 'Detected after'
  if (seconds === null) return { label, text: 'not known', refs }
  const { incident, entries } = facts
  const isUncovered = entries.some(({ kind, at }) => kind === 'silence' && at === incident.createdAt)
  const after = `${formatSeconds(seconds)}${isUncovered ? ', when a silence ended' : ''}`
  const [earlier] = earlierReports(facts)
  if (!earlier) return { label, text: after, refs }
  const lead = formatSeconds(secondsBetween(earlier.at, incident.startedAt))
  const text = `${after}; ${earlier.name} was reported ${lead} before the start of this incident`
  return { label, text, refs: [...refs, `alert/${earlier.alertId}`] }
}

function criticalText(facts: GroupedFacts): string {
  const { incident } = facts
  const { cause, critical } = incident
  const seconds = problemSeconds(facts)
  if (wasCritical(incident)) {
    if (seconds === 0 && critical.until !== null) return `a moment, at ${formatTime(critical.until)}`
    const last = lastReportOf(facts)
    if (last)
      return `at least ${formatSeconds(last.seconds)}, last reported at ${formatTime(last.at)}${silencedText(facts)}`
    if (seconds !== null) return `${formatSeconds(seconds)}${silencedText(facts)}${afterwardsText(facts, seconds)}`
    // A user resolved the incident while its alerts were firing.
    const lasted = secondsOf(critical.ms, incident.startedAt, incident.resolvedAt ?? incident.startedAt)
    return `${formatSeconds(lasted)} until ${wasMerged(facts) ? `it was merged into ${intoText(facts)}` : 'it was resolved'}; it was still critical then`
  }
  if (seconds === null) return 'not known'
  if (cause === 'silence') return formatSeconds(seconds)
  const { severity, ms } = incident.severe ?? { severity: incident.severity, ms: seconds * 1000 }
  // A part that is the whole has the duration that the summary shows.
  const severe = Math.abs(seconds - ms / 1000) <= 1 ? seconds : Math.min(seconds, Math.floor(ms / 1000))
  const seen = Math.floor(critical.ms / 1000)
  const health =
    facts.alerts.length === 0 && seen === 0 ? '' : `; by its alerts: ${seen === 0 ? 'never' : formatSeconds(seen)}`
  const who = declarerOf(facts)
  const until = wasMerged(facts) ? ` until it was merged into ${intoText(facts)}` : ''
  return severity === 'critical'
    ? `${formatSeconds(severe)}${until}, as declared by ${who}${health}`
    : `${seen === 0 ? 'not critical' : formatSeconds(seen)}; ${who} declared the severity ${severity} for ${formatSeconds(severe)}${until}`
}

function afterwardsText(facts: GroupedFacts, seconds: number): string {
  const afterwards = secondsAfterwards(facts, seconds)
  return afterwards === 0 ? '' : ` (${formatSeconds(afterwards)} of it after it was resolved)`
}

function noCauseText({ searched, incident }: GroupedFacts, { changes }: Postmortem['contributing']): string {
  const before = formatSeconds(secondsBetween(searched.from, incident.startedAt))
  return changes.length === 0 ? `no change found in the ${before} before it` : 'no connected change found'
}

function causeText(cause: Postmortem['contributing']['changes'][number]): string {
  const judged = cause.verdict === 'confirmed' ? 'confirmed' : likelihoodOf({ score: cause.score, onlyTime: false })
  return `${changeName(cause)} (${judged})`
}
