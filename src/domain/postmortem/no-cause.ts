/** Says that no cause was found, and which changes users rejected as the cause. */
import { changeName } from '../incident/change-text.ts'
import type { CorrelationFact } from '../incident/facts.ts'
import { distinct, ordered } from '../order.ts'
import { likelihoodOf, placeOf as placeText } from '../suspect/likely-cause.ts'
import { capitalized, formatPeriod, formatScore, formatSeconds, joinNames, secondsBetween } from '../text.ts'
import type { Sentence } from './document.ts'
import { type GroupedFacts, incidentRef } from './groups.ts'
import { elsewhereSentence } from './others.ts'

/** Says that no change was recorded that can have caused the incident, or which incident has the cause. */
export function noneFound(facts: GroupedFacts): Sentence {
  const { searched, incident } = facts
  const elsewhere = elsewhereSentence(facts)
  if (elsewhere)
    return { text: `${elsewhere.text}${componentText(facts)}`, refs: [...elsewhere.refs, incidentRef(incident)] }
  const before = secondsBetween(searched.from, incident.startedAt)
  const period = `in the ${formatSeconds(before)} before it (${formatPeriod(searched.from, incident.startedAt)})`
  return { text: `${noneText(facts)} was found ${period}.${componentText(facts)}`, refs: [incidentRef(incident)] }
}

/** Returns `No change that could have caused the incident`, or `No other change …` if a user rejected one. */
export function noneText(facts: GroupedFacts): string {
  return `No ${rejectedOf(facts).length > 0 ? 'other ' : ''}change that could have caused the incident`
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
  return [{ text: `${capitalized(people)} rejected ${named} as the cause.`, refs }]
}
