/** The section about causes: the suspected changes. */
import { firstSymptom } from '../alert/first-symptom.ts'
import { bandOf, lagText, offsetText, rankLinks, TIME_CODES } from '../correlation/correlation.ts'
import { changeName, changePlace, changeSentences, outcomeText } from '../incident/change-text.ts'
import type { ChangeFact, CorrelationFact, PostmortemFacts, SuspectFact } from '../incident/facts.ts'
import { distinct, ordered } from '../order.ts'
import { isNodeService } from '../service/node.ts'
import { isOnlyTime, likelihoodOf, placeOf as placeText } from '../suspect/likely-cause.ts'
import {
  capitalized,
  formatCount,
  formatPeriod,
  formatScore,
  formatSeconds,
  formatTime,
  joinNames,
  secondsBetween,
} from '../text.ts'
import type { Contribution, Postmortem, Sentence } from './document.ts'
import { alertRefs, type GroupedFact, type GroupedFacts, incidentRef, personFirst } from './groups.ts'
import { earlierReports, elsewhereSentence } from './others.ts'
import { isRemedy, undoingOf } from './resolution.ts'

/** How many different lags a sentence names. */
const MAX_LAGS = 8

/**
 * Returns the suspected changes, ranked like the incident's suspects. Linked changes that are not suspects come last.
 * Rejected links are only counted. The probable fix is left out, and so is what undid a change, unless a user confirmed it.
 */
export function contributingOf(facts: GroupedFacts): Postmortem['contributing'] {
  const { byChange, others, unlinked, rejected } = sortedOut(facts)
  const { searched } = facts
  const all = [
    ...[...byChange.values()].flatMap((links) => contributionOf(links, facts) ?? []),
    ...others.flatMap((one) => unlinkedContribution(one, facts) ?? []),
  ]
  const late = all.filter((one) => isLate(one, facts))
  const contributions = all.filter((one) => !late.includes(one))
  const before = new Set(changesBefore(facts))
  const told = unlinked.filter((one) => before.has(one))
  return {
    from: new Date(searched.from).toISOString(),
    to: new Date(searched.to).toISOString(),
    changes: ordered(contributions, (one) => [one.verdict === 'confirmed' ? 0 : 1, placeOf(one, facts)]),
    sentences: [
      ...rejectedSentences(rejected),
      ...(contributions.length === 0 ? [noneFound(facts), ...cordonSentences(facts)] : []),
      ...(told.length > 0 ? [changesSentence(told, contributions.length > 0 ? 'Other changes' : 'Changes')] : []),
      ...(late.length > 0 ? [lateSentence(late)] : []),
    ],
  }
}

/** `byChange`: the links of each change that may be the cause. `others`: suspected changes without a link. */
function sortedOut(facts: GroupedFacts) {
  const { correlations, changes, searched, suspects } = facts
  const confirmed = new Set(
    correlations.filter(({ verdict }) => verdict === 'confirmed').map(({ change }) => changeName(change)),
  )
  const undoing = undoingOf(facts).filter((one) => !confirmed.has(changeName(one)))
  const fixes = new Set([...facts.fixes, ...undoing].map(changeName))
  const rejected = rejectedOf(facts)
  const kept = correlations.filter((link) => !rejected.includes(link) && !fixes.has(changeName(link.change)))
  const byChange = Map.groupBy(rankLinks(kept), (link) => changeName(ownerOf(link.change, suspects)))
  const judged = new Set(correlations.map(({ change }) => changeName(change)))
  const others = suspects.filter(
    (one) => !judged.has(changeName(one)) && !byChange.has(changeName(one)) && !fixes.has(changeName(one)),
  )
  const chained = suspects.flatMap(({ rollouts = [] }) => rollouts.map((ref) => changeName({ kind: 'rollout', ref })))
  const failed = facts.alerts.flatMap(({ source, labels: { project, pipeline } }) =>
    source === 'ci' ? changeName({ kind: 'pipeline', ref: `${project}#${pipeline}` }) : [],
  )
  const told = new Set([...judged, ...others.map(changeName), ...byChange.keys(), ...chained, ...failed])
  const unlinked = changes.filter(
    (change) => !told.has(changeName(change)) && touches(change, searched) && !isRemedy(change, facts.incident),
  )
  return { byChange, others, unlinked, rejected }
}

/** Returns the suspected pipeline that caused a rollout, or the change itself. */
function ownerOf(change: CorrelationFact['change'], suspects: readonly SuspectFact[]): CorrelationFact['change'] {
  const owner = suspects.find(({ rollouts = [] }) => change.kind === 'rollout' && rollouts.includes(change.ref))
  return owner ?? change
}

/** Returns a change's rank among the suspects, starting at 0. Returns the number of suspects for any other change. */
function placeOf(change: Parameters<typeof changeName>[0], { suspects }: GroupedFacts): number {
  const place = suspects.findIndex((one) => changeName(one) === changeName(change))
  return place === -1 ? suspects.length : place
}

/** Without an alert, the only start is that of the incident. */
export function startNoun(facts: GroupedFacts): string {
  if (!firstSymptom(facts.alerts)) return 'the start of the incident'
  return earlierReports(facts).length === 0 ? 'the first symptom' : 'the first alert of this incident'
}

/** Returns the records of that start. */
export function startRefs({ alerts, incident }: GroupedFacts): readonly string[] {
  const first = firstSymptom(alerts)
  return first ? alertRefs([first]) : [incidentRef(incident)]
}

/**
 * Returns the seconds from the start of a change to the first symptom, or to the start of the incident if there are no
 * alerts.
 */
export function lagOf({ startsAt }: ChangeFact, { alerts, incident }: GroupedFacts): number {
  return secondsBetween(startsAt, firstSymptom(alerts)?.startsAt ?? incident.startedAt)
}

/** Returns text such as `7 min before the first symptom`. `seconds`: the time from the change to the condition. */
export function leadText(seconds: number, what: string): string {
  return `${offsetText(-seconds, 'together with')} ${what}`
}

/** `links`: all links of one change, best first. */
function contributionOf(links: readonly CorrelationFact[], facts: GroupedFacts): Contribution | null {
  const [best] = links
  if (!best) return null
  const owner = ownerOf(best.change, facts.suspects)
  const suspect = facts.suspects.find((one) => changeName(one) === changeName(owner))
  const change = facts.changes.find((one) => changeName(one) === changeName(owner)) ?? suspect?.change ?? undefined
  const rollouts = rolloutsOf(suspect, facts)
  const score = suspect?.score ?? best.score
  const linked = new Map(links.map(({ alertId, symptomAt }) => [alertId, symptomAt]))
  const alerts = ordered(
    facts.alerts.flatMap((alert) =>
      linked.has(alert.uuid) ? { ...alert, startsAt: linked.get(alert.uuid) ?? alert.startsAt } : [],
    ),
    ({ startsAt, uuid }) => [startsAt, uuid],
  )
  const seen = conditionsText(alerts, change)
  const first = alerts[0]
  const what = change ? changeSentences(change, rollouts.map(changeName)) : `${changeName(owner)}.`
  return {
    ...{ kind: owner.kind, ref: owner.ref, outcome: change?.outcome ?? null },
    ...{ score, band: bandOf(score) ?? 'possible', verdict: best.verdict === 'confirmed' ? 'confirmed' : null },
    // The sentence says when the conditions began.
    reasons: best.reasons.filter(({ code }) => !TIME_CODES.has(code)),
    lagSeconds: change && first ? secondsBetween(change.startsAt, first.startsAt) : best.lagSeconds,
    sentence: {
      text: `${capitalized(what)} ${seen}.`,
      refs: [`correlation/${best.uuid}`, ...eventRefs(change ? [change, ...rollouts] : []), ...alertRefs(alerts)],
    },
  }
}

/** Describes a suspected change that has no link, for example a change to another service. */
function unlinkedContribution(suspect: SuspectFact, facts: GroupedFacts): Contribution | null {
  const { kind, ref, change, score, reasons } = suspect
  if (!change) return null
  const rollouts = rolloutsOf(suspect, facts)
  const lagSeconds = lagOf(change, facts)
  const band = isOnlyTime(reasons) ? 'possible' : (bandOf(score) ?? 'possible')
  const what = changeSentences(change, rollouts.map(changeName))
  return {
    ...{ kind, ref, outcome: change.outcome, score, band, verdict: null, reasons },
    lagSeconds,
    sentence: {
      text: `${capitalized(what)} This change began ${leadText(lagSeconds, startNoun(facts))}.`,
      refs: [...eventRefs([change, ...rollouts]), ...startRefs(facts)],
    },
  }
}

/** Returns the recorded rollouts that a suspected pipeline caused. */
function rolloutsOf(suspect: SuspectFact | undefined, { changes }: GroupedFacts): readonly ChangeFact[] {
  const refs = suspect?.rollouts ?? []
  return changes.filter(({ kind, ref }) => kind === 'rollout' && refs.includes(ref))
}

function eventRefs(changes: readonly ChangeFact[]): readonly string[] {
  return changes.map(({ eventId }) => `event/${eventId}`)
}

/**
 * Returns text such as `OOMKilled and Evicted began 7 min after the change started, HighLatency 10 min after it`. Lists
 * each group once, and conditions with the same lag together.
 */
function conditionsText(alerts: readonly GroupedFact[], change: ChangeFact | undefined): string {
  const firsts = [...Map.groupBy(alerts, ({ ref }) => ref).values()].flatMap(([first]) => first ?? [])
  if (firsts.length === 0) return 'This change is linked to an alert in another incident'
  if (!change) return `This change is linked to ${joinNames(firsts.map(({ name }) => name))}`
  const byLag = Map.groupBy(firsts, ({ startsAt }) => secondsBetween(change.startsAt, startsAt))
  const parts = [...byLag].map(([seconds, alike], index) => {
    const names = joinNames(distinct(alike.map(({ name }) => name)))
    return index === 0 ? `${names} began ${lagText(seconds)}` : `${names} ${offsetText(seconds, 'together with')} it`
  })
  return parts.length > MAX_LAGS
    ? `${parts.slice(0, MAX_LAGS).join(', ')} and ${formatCount(parts.length - MAX_LAGS)} more later`
    : parts.join(', ')
}

function touches({ startsAt, endsAt }: ChangeFact, { from, to }: PostmortemFacts['searched']): boolean {
  return startsAt <= to && endsAt >= from
}

/** Names changes. `what`: for example `Other changes`. */
export function changesSentence(changes: readonly ChangeFact[], what: string): Sentence {
  const named = joinNames(
    changes.map((change) => `${changePlace(change, outcomeText(change))} at ${formatTime(change.startsAt)}`),
  )
  const text = `${what} before the incident: ${named}.`
  return { text, refs: changes.map(({ eventId }) => `event/${eventId}`) }
}

/** Clocks differ by up to this many seconds. */
const CLOCKS_DIFFER = 120

/** What began before a change cannot have been caused by it, unless a user says so. */
function isLate(one: Contribution, { changes, suspects, incident }: GroupedFacts): boolean {
  const is = (other: Parameters<typeof changeName>[0]) => changeName(other) === changeName(one)
  const change = changes.find(is) ?? suspects.find(is)?.change
  const isAfter = secondsBetween(incident.startedAt, change?.startsAt ?? 0) > CLOCKS_DIFFER
  return one.verdict !== 'confirmed' && one.lagSeconds < -CLOCKS_DIFFER && isAfter
}

function lateSentence(late: readonly Contribution[]): Sentence {
  const text = `${capitalized(joinNames(late.map(changeName)))} began after the problem and cannot have caused it.`
  return { text, refs: distinct(late.flatMap(({ sentence }) => sentence.refs)) }
}

// If no cause was found: what was searched, and which changes users rejected as the cause.

/** Says that no change was recorded that can have caused the incident, or which incident has the cause. */
function noneFound(facts: GroupedFacts): Sentence {
  const { searched, incident } = facts
  const elsewhere = elsewhereSentence(facts)
  if (elsewhere)
    return { text: `${elsewhere.text}${componentText(facts)}`, refs: [...elsewhere.refs, incidentRef(incident)] }
  const before = formatSeconds(secondsBetween(searched.from, incident.startedAt))
  const period = `The ${before} before the incident were searched (${formatPeriod(searched.from, incident.startedAt)}).`
  return { text: `${noneText(facts)}. ${period}${componentText(facts)}`, refs: [incidentRef(incident)] }
}

/** Says that no change stands out, if there is one (`isKnown`), or that none was found. `No other …` if a user rejected one. */
export function noneText(facts: GroupedFacts, isKnown = changesBefore(facts).length > 0): string {
  const change = rejectedOf(facts).length > 0 ? 'No other change' : 'No change'
  return isKnown ? `${change} stands out as the cause` : `${change} that could have caused the incident was found`
}

/** Returns the changes of the services before the incident. Those of the workloads on a node say nothing about the node. */
export function changesBefore(facts: GroupedFacts): readonly ChangeFact[] {
  const { incident, changes } = facts
  if (isNodeService(incident.service)) return []
  const rejected = new Set(rejectedOf(facts).map(({ change }) => changeName(change)))
  return changes.filter((one) => one.startsAt <= incident.startedAt && !rejected.has(changeName(one)))
}

/** Says which node was cordoned before the incident: no change of a service, but a reason why pods have no place. */
export function cordonSentences({ cordons = [], incident }: GroupedFacts): readonly Sentence[] {
  const one = cordons.findLast(({ name, at }) => name === 'NodeNotSchedulable' && at <= incident.startedAt)
  return one ? [{ text: `${one.object} was cordoned at ${formatTime(one.at)}.`, refs: [`event/${one.uuid}`] }] : []
}

/** Names the component that probably caused the problem, such as a database that the error messages name. */
export function componentText({ component }: GroupedFacts): string {
  if (!component) return ''
  const likelihood = likelihoodOf({ score: component.score, onlyTime: false })
  return ` The top suspect is ${placeText(component)}${component.ref} (score ${formatScore(component.score)}, ${likelihood}).`
}

export function rejectedOf({ correlations }: GroupedFacts): readonly CorrelationFact[] {
  return correlations.filter(({ verdict }) => verdict === 'rejected')
}

/** Names the changes that users rejected as the cause. Earlier versions did not record who did. */
export function rejectedSentences(rejected: readonly CorrelationFact[]): readonly Sentence[] {
  if (rejected.length === 0) return []
  const refs = ordered(rejected, ({ uuid }) => [uuid]).map(({ uuid }) => `correlation/${uuid}`)
  const named = joinNames(distinct(rejected.map(({ change }) => changeName(change))))
  const people = joinNames(distinct(rejected.map(({ verdictBy }) => verdictBy ?? 'a user')))
  return [{ text: `${personFirst(people)} rejected ${named} as the cause.`, refs }]
}
