/** The evidence section: all records referenced in the document. */

import { variesText } from '../alert/groups.ts'
import { wholeChangeText } from '../incident/change-text.ts'
import type { ChangeFact } from '../incident/facts.ts'
import { named } from '../incident/timeline-rows.ts'
import { distinct, ordered } from '../order.ts'
import { SEVERITIES } from '../severity.ts'
import { silenceName } from '../silence/silence.ts'
import { formatCount, formatPeriod, formatTime, formatTimes, incidentName, quoted } from '../text.ts'
import type { Evidence, Postmortem, Sentence } from './document.ts'
import { type GroupedFact, type GroupedFacts, incidentRef, namesOf, senderOf } from './groups.ts'

/** Records are sorted and numbered by kind, in this order. */
const KINDS = ['incident', 'alert', 'correlation', 'event', 'silence']

/** Returns the records that `document` references: the incident, groups of alerts by time, links, events. */
export function evidenceOf(document: Omit<Postmortem, 'evidence'>, facts: GroupedFacts): Postmortem['evidence'] {
  const known = describedRecords(facts)
  const ranks = new Map([...known.keys()].map((ref, index) => [ref, index]))
  const refs = ordered(distinct(refsOf(document)), (ref) => [
    KINDS.indexOf(ref.slice(0, ref.indexOf('/'))),
    ranks.get(ref) ?? known.size,
    ref,
  ])
  const empty = { text: null, labels: {}, links: {} }
  const merged = { ...empty, text: 'an incident that was merged with this one' }
  return {
    records: refs.map((ref) => ({ ref, ...(known.get(ref) ?? (ref.startsWith('incident/') ? merged : empty)) })),
    sentences: rejectedSentences(facts),
  }
}

function describedRecords(facts: GroupedFacts): ReadonlyMap<string, Omit<Evidence, 'ref'>> {
  const { incident, alerts, correlations, suspects, earlier, onNode, meanwhile = [], group, merged = [] } = facts
  const events = [...facts.events, ...(facts.cordons ?? [])]
  const isOwn = (change: ChangeFact) => facts.changes.some(({ eventId }) => eventId === change.eventId)
  const ofOthers = suspects.flatMap(({ change }) => (change && !isOwn(change) ? change : []))
  const plain = (ref: string, text: string) => [ref, { text, labels: {}, links: {} }] as const
  const own = new Set(alerts.flatMap(({ uuid, ref }) => [`alert/${uuid}`, ref]))
  const elsewhere = events.flatMap(({ alertId, name, at }) => {
    const ref = `alert/${alertId}`
    if (alertId === null || own.has(ref)) return []
    return [plain(ref, `${name}, not part of this incident, reported at ${formatTime(at)}`)]
  })
  return new Map([
    ...events.map(({ uuid, name, at }) => plain(`event/${uuid}`, `${name}, ${formatTime(at)}`)),
    ...[...facts.changes, ...ofOthers].map((change) => {
      const links = change.url ? { GitLab: change.url } : {}
      return [`event/${change.eventId}`, { text: wholeChangeText(change), labels: {}, links }] as const
    }),
    plain(incidentRef(incident), `incident ${quoted(incident.title)} and its timeline`),
    ...[...meanwhile, ...(group?.others ?? []), ...merged, ...[facts.component?.incident ?? []].flat()].map(
      ({ ref, createdAt, ...one }) => plain(ref, `${incidentName(one)}, opened at ${formatTime(createdAt)}`),
    ),
    ...alerts.flatMap(({ unheard }) =>
      unheard ? [plain(unheard.ref, `the heartbeat of ${unheard.sender} is missing`)] : [],
    ),
    ...onNode.map(({ ref, name, startsAt, service, objects }) =>
      plain(ref, `${name} of ${service}${named(new Set(objects))}, began at ${formatTime(startsAt)}`),
    ),
    ...earlier.map(({ ref, name, startsAt }) => plain(ref, `earlier: ${name}, ${formatTime(startsAt)}`)),
    ...[...Map.groupBy(alerts, ({ ref }) => ref)].map(([ref, of]) => [ref, describedAlerts(of, incident)] as const),
    ...elsewhere.reverse(),
    ...(facts.silences ?? []).map((silence) => plain(silence.ref, silenceName(silence))),
    ...correlations.map(({ uuid, change }) => plain(`correlation/${uuid}`, `link to ${change.kind} ${change.ref}`)),
  ])
}

/** Describes a group of alerts by its first alert. Labels that differ are only counted. */
function describedAlerts(alerts: readonly GroupedFact[], { uuid }: GroupedFacts['incident']): Omit<Evidence, 'ref'> {
  const [first] = alerts
  if (!first) return { text: null, labels: {}, links: {} }
  const last = alerts.reduce((latest, { startsAt }) => Math.max(latest, startsAt), first.startsAt)
  const seen = alerts.reduce((sum, { occurrences }) => sum + occurrences, 0)
  const began =
    last > first.startsAt
      ? `began between ${formatPeriod(first.startsAt, last, 'and')}`
      : `began at ${formatTime(first.startsAt)}`
  const varies = variesText(alerts.map(({ labels }) => labels))
  const names = namesOf(alerts)
  const isMixed = alerts.some(({ name }) => name !== first.name)
  const text = [
    `${isMixed ? `${formatCount(alerts.length)} other alerts: ${names}` : names} (${senderOf(first)}, ${first.severity})`,
    began,
    ...(varies === '' ? [] : [varies]),
    `seen ${formatTimes(seen)}`,
    ...(isMixed ? [`listed by GET /api/alerts?incidentId=${uuid}`] : []),
  ].join(', ')
  // The label can be that of an earlier report, which was milder.
  const isOutdated = (name: string, value: string) =>
    name === 'severity' && value !== first.severity && SEVERITIES.some((one) => one === value)
  const shared = Object.entries(first.labels).filter(
    ([name, value]) => !isOutdated(name, value) && alerts.every(({ labels }) => labels[name] === value),
  )
  const { alertmanager, ...links } = first.links
  // Grafana sends the same field.
  const sender = first.source === 'dashboard' ? 'grafana' : 'alertmanager'
  const all = alertmanager === undefined ? links : { ...links, [sender]: alertmanager }
  return { text, labels: sortedRecord(Object.fromEntries(shared)), links: sortedRecord(all) }
}

/** The result has no prototype, so that a label can be named `__proto__`. */
function sortedRecord(record: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const sorted: Record<string, string> = Object.create(null)
  for (const key of distinct(Object.keys(record))) sorted[key] = record[key] ?? ''
  return sorted
}

/** Collects every `ref` and `refs` in the document. */
function refsOf(document: Omit<Postmortem, 'evidence'>): readonly string[] {
  const { summary, impact, detection, contributing, rootCause, resolution, metrics, actions, recurrence } = document
  const sentences: readonly Sentence[] = [
    ...[summary, impact, detection, contributing, resolution, recurrence].flatMap((section) => section.sentences),
    ...contributing.changes.map(({ sentence }) => sentence),
    ...(summary.facts ?? []),
    ...rootCause.hints,
    ...[metrics.ttd, metrics.tta, metrics.ttr].map(({ sentence }) => sentence),
    ...actions.flatMap(({ because }) => because ?? []),
  ]
  return [
    document.header.incident,
    ...sentences.flatMap(({ refs }) => refs),
    ...document.timeline.map(({ ref }) => ref),
  ]
}

function rejectedSentences({ rejectedEvidence, incident }: GroupedFacts): readonly Sentence[] {
  if (rejectedEvidence === 0) return []
  const items =
    rejectedEvidence === 1
      ? '1 webhook item in this period was'
      : `${rejectedEvidence} webhook items in this period were`
  return [
    { text: `${items} rejected as unusable; their content is not in this document.`, refs: [incidentRef(incident)] },
  ]
}
