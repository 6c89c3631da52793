/** Says that no cause was found, and which changes users rejected as the cause. */
import { changeName } from '../incident/change-text.ts'
import type { ChangeFact, CorrelationFact } from '../incident/facts.ts'
import { distinct, ordered } from '../order.ts'
import { isNodeService } from '../service/node.ts'
import { likelihoodOf, placeOf as placeText } from '../suspect/likely-cause.ts'
import { formatPeriod, formatScore, formatSeconds, formatTime, joinNames, secondsBetween } from '../text.ts'
import type { Sentence } from './document.ts'
import { type GroupedFacts, incidentRef, personFirst } from './groups.ts'
import { elsewhereSentence } from './others.ts'

/** Says that no change was recorded that can have caused the incident, or which incident has the cause. */
export function noneFound(facts: GroupedFacts): Sentence {
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
