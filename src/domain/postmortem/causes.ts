/** The sections about causes: suspected changes, hints on conditions, and recurrence. */

import { changeText } from '../incident/timeline.ts'
import type { Contribution, Postmortem, Sentence } from './document.ts'
import type { AlertFact, ChangeFact, CorrelationFact, PostmortemFacts } from './facts.ts'
import { isRemedy } from './resolution.ts'
import { incidentRef } from './sections.ts'
import { distinct, listed, ordered, shownDuration, shownTime, times } from './words.ts'

const DAY = 24 * 3_600_000

/** Returns the suspected changes: confirmed ones first, then by score. Rejected links are only counted. */
export function contributingOf(facts: PostmortemFacts): Postmortem['contributing'] {
  const { correlations, changes, searched } = facts
  const kept = correlations.filter(({ verdict }) => verdict !== 'rejected')
  const rejected = correlations.filter(({ verdict }) => verdict === 'rejected')
  const byChange = Map.groupBy(ranked(kept), (link) => keyOf(link.change))
  const contributions = [...byChange.values()].map((links) => contributionOf(links, facts))
  const judged = new Set(correlations.map(({ change }) => keyOf(change)))
  const unlinked = changes.filter(
    (change) => !judged.has(keyOf(change)) && touches(change, searched) && !isRemedy(change, facts.incident),
  )
  return {
    from: new Date(searched.from).toISOString(),
    to: new Date(searched.to).toISOString(),
    changes: contributions.flatMap((one) => one ?? []),
    sentences: [
      ...(kept.length === 0 ? [noneFound(facts)] : []),
      ...(unlinked.length > 0 ? [unlinkedSentence(unlinked)] : []),
      ...(rejected.length > 0 ? [rejectedSentence(rejected)] : []),
    ],
  }
}

/** Returns the sentence of the summary about the most likely change. */
export function suspicionOf(facts: PostmortemFacts, { changes }: Postmortem['contributing']): Sentence {
  const best = changes[0]
  if (!best) return noneFound(facts)
  const told = facts.changes.find((change) => keyOf(change) === keyOf(best))
  const name = told ? changeText(told) : `${best.kind} ${best.ref}`
  const verdict = best.verdict === 'confirmed' ? 'confirmed by a person' : 'not yet confirmed by a person'
  const text = `Most likely related change: ${name} (score ${best.score}, ${best.band}, ${verdict}).`
  return { text, refs: best.sentence.refs }
}

function keyOf({ kind, ref }: { readonly kind: string; readonly ref: string }): string {
  return `${kind} ${ref}`
}

function ranked(links: readonly CorrelationFact[]): readonly CorrelationFact[] {
  return ordered(links, (link) => [
    link.verdict === 'confirmed' ? 0 : 1,
    -link.score,
    Math.abs(link.lagSeconds),
    link.change.ref,
    link.uuid,
  ])
}

/** `links` are those of one change, best first. */
function contributionOf(links: readonly CorrelationFact[], facts: PostmortemFacts): Contribution | null {
  const best = links[0]
  if (!best) return null
  const change = facts.changes.find((one) => keyOf(one) === keyOf(best.change))
  const alerts = links.flatMap(({ alertId }) => facts.alerts.find(({ uuid }) => uuid === alertId) ?? [])
  const names = distinct(alerts.map(({ name }) => name))
  const what = change ? `${changeText(change)}, ${periodText(change)}` : `${best.change.kind} ${best.change.ref}`
  const seen = best.lagSeconds < 0 ? 'before it began' : 'after it began'
  const linked = names.length > 0 ? `linked to ${listed(names)}` : 'linked to an alert of another incident'
  const text = `${what}; ${linked}, first seen ${shownDuration(Math.abs(best.lagSeconds))} ${seen}.`
  return {
    kind: best.change.kind,
    ref: best.change.ref,
    outcome: change?.outcome ?? null,
    score: best.score,
    band: best.band,
    verdict: best.verdict === 'confirmed' ? 'confirmed' : null,
    reasons: best.reasons,
    lagSeconds: best.lagSeconds,
    sentence: {
      text: `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
      refs: [
        ...links.map(({ uuid }) => `correlation/${uuid}`),
        ...(change ? [`event/${change.eventId}`] : []),
        ...alerts.map(({ uuid }) => `alert/${uuid}`),
      ],
    },
  }
}

function periodText({ startsAt, endsAt }: ChangeFact): string {
  return endsAt > startsAt ? `${shownTime(startsAt)} to ${shownTime(endsAt)}` : shownTime(startsAt)
}

function touches({ startsAt, endsAt }: ChangeFact, { from, to }: PostmortemFacts['searched']): boolean {
  return startsAt <= to && endsAt >= from
}

function noneFound({ searched, incident }: PostmortemFacts): Sentence {
  const text = `No correlated change found between ${shownTime(searched.from)} and ${shownTime(searched.to)}.`
  return { text, refs: [incidentRef(incident)] }
}

function unlinkedSentence(changes: readonly ChangeFact[]): Sentence {
  const named = listed(changes.map(changeText))
  const text = `Other changes in this period, without a link to this incident: ${named}.`
  return { text, refs: changes.map(({ eventId }) => `event/${eventId}`) }
}

function rejectedSentence(rejected: readonly CorrelationFact[]): Sentence {
  const refs = ordered(rejected, ({ uuid }) => [uuid]).map(({ uuid }) => `correlation/${uuid}`)
  const named = listed(distinct(rejected.map(({ change }) => `${change.kind} ${change.ref}`)))
  return { text: `Omitted, because a person rejected the link: ${named}.`, refs }
}

/** Returns the hints for the conditions, first condition first, each hint once. */
export function hintsOf(alerts: readonly AlertFact[]): readonly Sentence[] {
  const byText = Map.groupBy(
    alerts.filter(({ hint }) => hint !== null && hint.trim() !== ''),
    ({ name, hint }) => `${name}: ${hint}`,
  )
  return [...byText].map(([text, of]) => ({ text, refs: of.map(({ uuid }) => `alert/${uuid}`) }))
}

/** Returns how often the same conditions occurred before the incident. */
export function recurrenceOf({ incident, earlier }: PostmortemFacts): Postmortem['recurrence'] {
  const before = ordered(
    earlier.filter(({ startsAt }) => startsAt < incident.startedAt && startsAt >= incident.startedAt - 90 * DAY),
    ({ startsAt, ref }) => [startsAt, ref],
  )
  const lately = before.filter(({ startsAt }) => startsAt >= incident.startedAt - 30 * DAY)
  const last = before.at(-1)
  const sentences: Sentence[] = last
    ? [
        {
          text: `Alerts of the same conditions began ${seenTimes(lately.length)} in the 30 days before and ${seenTimes(before.length)} in the 90 days before.`,
          refs: before.map(({ ref }) => ref),
        },
        { text: `Previous occurrence: ${last.name}, ${shownTime(last.startsAt)}.`, refs: [last.ref] },
      ]
    : [
        {
          text: 'The record contains no alert with the same conditions in the 90 days before.',
          refs: [incidentRef(incident)],
        },
      ]
  return { days30: lately.length, days90: before.length, sentences }
}

function seenTimes(count: number): string {
  return count === 0 ? 'not once' : times(count)
}
