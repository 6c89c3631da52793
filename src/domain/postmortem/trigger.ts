/** The change that the summary names as the most likely trigger. */
import { firstSymptom } from '../alert/first-symptom.ts'
import { changeName, changePlace, isDeploy, outcomeText } from '../incident/change-text.ts'
import type { ChangeFact, SuspectFact } from '../incident/facts.ts'
import { isOnlyTime, likelihoodOf } from '../suspect/likely-cause.ts'
import { formatScore, secondsBetween } from '../text.ts'
import { changesSentence, lagOf, leadText, startNoun, startRefs } from './causes.ts'
import type { Contribution, Postmortem, Sentence } from './document.ts'
import { type GroupedFacts, incidentRef } from './groups.ts'
import { changesBefore, componentText, cordonSentences, noneText, rejectedOf, rejectedSentences } from './no-cause.ts'
import { causeElsewhere } from './others.ts'

/**
 * Returns the contribution that the summary names: a change that a user confirmed, or the most likely connected change
 * that began before the problem. Returns null if there is none.
 */
export function triggerOf(
  facts: GroupedFacts,
  { changes }: Pick<Postmortem['contributing'], 'changes'>,
): Contribution | null {
  return changes.find((one) => one.verdict === 'confirmed' || (isConnected(one, facts) && isEarly(one, facts))) ?? null
}

function suspectOf(one: Pick<Contribution, 'kind' | 'ref'>, { suspects }: GroupedFacts): SuspectFact | undefined {
  return suspects.find((suspect) => changeName(suspect) === changeName(one))
}

function isConnected(one: Contribution, facts: GroupedFacts): boolean {
  const suspect = suspectOf(one, facts)
  return suspect !== undefined && !isOnlyTime(suspect.reasons)
}

/** A link can connect a change to a later condition than the first symptom, but not before the start of the incident. */
function isEarly(one: Contribution, facts: GroupedFacts): boolean {
  const change = toldChange(one, facts)
  return change === undefined || change.startsAt < beganAt(facts) + 1000
}

/** Returns the later of the first symptom and the start of the incident: a warning can be older than the problem. */
function beganAt({ alerts, incident }: GroupedFacts): number {
  return Math.max(firstSymptom(alerts)?.startsAt ?? 0, incident.startedAt)
}

function toldChange(one: Contribution, facts: GroupedFacts): ChangeFact | undefined {
  const known = facts.changes.find((change) => changeName(change) === changeName(one))
  return known ?? suspectOf(one, facts)?.change ?? undefined
}

/** Writes the summary's sentences about the most likely trigger. The incident that this one followed has a sentence of its own. */
export function suspicionsOf(facts: GroupedFacts, contributing: Postmortem['contributing']): readonly Sentence[] {
  const best = triggerOf(facts, contributing)
  if (!best) return noTrigger(facts, contributing)
  const suspect = suspectOf(best, facts)
  const told = toldChange(best, facts)
  const name = told ? changePlace(told, outcomeText(told)) : changeName(best)
  const isLater = told !== undefined && lagOf(told, facts) < 0 && best.verdict !== 'confirmed'
  const lag = isLater
    ? leadText(secondsBetween(told.startsAt, beganAt(facts)), 'the start of the incident')
    : leadText(told ? lagOf(told, facts) : best.lagSeconds, told ? startNoun(facts) : 'its symptom')
  const isTried = told !== undefined && isDeploy(told)
  const text =
    suspect && best.verdict !== 'confirmed'
      ? `The most likely trigger is ${name}, ${isTried ? 'whose deploy' : 'which'} began ${lag}. This change has a score of ${scoreText(suspect)}. Nobody has confirmed it as the cause.`
      : `${confirmedBy(best, facts)} confirmed ${name} as the cause. ${isTried ? 'Its deploy' : `The ${best.kind}`} began ${lag}.`
  const refs = isLater ? [incidentRef(facts.incident)] : told ? startRefs(facts) : []
  return [{ text, refs: [...best.sentence.refs, ...refs] }]
}

/** Says why the summary names no change. */
function noTrigger(facts: GroupedFacts, { changes }: Postmortem['contributing']): readonly Sentence[] {
  const rejected = rejectedSentences(rejectedOf(facts))
  if (causeElsewhere(facts) || facts.incident.cause === 'silence') return rejected
  const text = changes.length === 0 ? noneText(facts) : noneText(facts, true)
  const none = { text: `${text}.${componentText(facts)}`, refs: [incidentRef(facts.incident)] }
  const before = changesBefore(facts).filter((one) => one.kind === 'rollout' || isDeploy(one))
  const only = before.length === 1 ? [changesSentence(before, 'The only deploy or rollout')] : []
  return [...rejected, none, ...only, ...(changes.length === 0 ? cordonSentences(facts) : [])]
}

/** Names who confirmed a change as the cause. Earlier versions did not record the name. */
function confirmedBy(best: Contribution, { correlations }: GroupedFacts): string {
  const refs = new Set(best.sentence.refs)
  const judged = correlations.filter(({ uuid, verdict }) => verdict === 'confirmed' && refs.has(`correlation/${uuid}`))
  return judged.map(({ verdictBy }) => verdictBy).find((name) => name !== null) ?? 'A user'
}

/** Returns text such as `0.97 (likely)`. */
function scoreText({ score, reasons }: SuspectFact): string {
  return `${formatScore(score)} (${likelihoodOf({ score, onlyTime: isOnlyTime(reasons) })})`
}
