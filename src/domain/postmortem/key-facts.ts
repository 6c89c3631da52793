/** The four facts at the top of a postmortem. */

import { firstSymptom } from '../alert/first-symptom.ts'
import { changeName, changePlace, isDeploy, outcomeText } from '../incident/change-text.ts'
import type { ChangeFact, SuspectFact } from '../incident/facts.ts'
import { distinct } from '../order.ts'
import { isOnlyTime, likelihoodOf } from '../suspect/likely-cause.ts'
import { countOf, formatScore, formatSeconds, formatTime, incidentName, joinNames, secondsBetween } from '../text.ts'
import {
  changesBefore,
  changesSentence,
  componentText,
  cordonSentences,
  lagOf,
  leadText,
  noneText,
  rejectedOf,
  rejectedSentences,
  startNoun,
  startRefs,
} from './causes.ts'
import {
  declarerOf,
  lastReportOf,
  lastReportRefs,
  problemSeconds,
  secondsAfterwards,
  silencedText,
  wasCritical,
  wasMerged,
} from './critical.ts'
import type { Contribution, KeyFact, Metric, Postmortem, Sentence } from './document.ts'
import {
  firingWhenResolved,
  type GroupedFacts,
  incidentRef,
  intoRefs,
  intoText,
  isEndUnknown,
  mergedInto,
  resolvedSilentBy,
} from './groups.ts'
import { secondsOf } from './metrics.ts'
import { causeElsewhere, earlierReports } from './others.ts'
import { isRemedy } from './resolution.ts'

/** Returns the four facts. Says what is not known. */
export function keyFactsOf(
  facts: GroupedFacts,
  contributing: Postmortem['contributing'],
  ttd: Metric,
): readonly KeyFact[] {
  const ref = incidentRef(facts.incident)
  const { fixes } = facts
  const detected = detectedFact(facts, ttd)
  const cause = triggerOf(facts, contributing)
  const elsewhere = causeElsewhere(facts)
  const { component, group } = facts
  // The incident of a cause has a document of its own.
  const shared = !component && group && group.leader === null ? group : undefined
  const probably = component
    ? [`probably ${component.ref}`]
    : shared
      ? [`probably ${shared.cause}, as in ${countOf(shared.others.length, 'other incident')}`]
      : []
  const title = elsewhere ? incidentName(elsewhere) : ''
  // Whether the other incident's document knows the cause is unknown: that incident can go on.
  const isMerged = mergedInto(facts) !== undefined
  const from = isMerged ? `not known here; merged into ${title}` : `the incident probably followed from ${title}`
  const see = elsewhere ? [from] : []
  return [
    { ...lengthOf(facts), refs: [ref, ...intoRefs(facts), ...lastReportRefs(facts)] },
    detected,
    cause
      ? { label: 'Cause', text: causeText(cause), refs: cause.sentence.refs }
      : {
          label: 'Cause',
          text:
            [...probably, ...see].join('; ') ||
            `${noCauseText(facts, contributing)}${notesText({ ...facts, fixes: [] })}`,
          refs: [
            ref,
            ...(shared?.others ?? []).map((one) => one.ref),
            ...(elsewhere ? [elsewhere.ref] : rejectedOf(facts).map(({ uuid }) => `correlation/${uuid}`)),
          ],
        },
    fixes.length > 0
      ? {
          label: 'Fix',
          text: `probably ${joinNames(fixes.map(changeName))}${notesText(facts)}`,
          refs: fixes.map(({ eventId }) => `event/${eventId}`),
        }
      : elsewhere && isMerged
        ? { label: 'Fix', text: `not known here; the postmortem of ${title} may name it`, refs: [elsewhere.ref] }
        : { label: 'Fix', ...noFix(facts) },
  ]
}

function noFix(facts: GroupedFacts): Pick<KeyFact, 'text' | 'refs'> {
  const { incident, changes } = facts
  const remedies = changes.filter((change) => isRemedy(change, incident))
  const tried = remedies.length === 0 ? '' : `; during the incident: ${joinNames(remedies.map(changeName))}`
  const refs = [incidentRef(incident), ...remedies.map(({ eventId }) => `event/${eventId}`)]
  return { text: `not known${tried}${notesText(facts)}`, refs }
}

/** Refers to what users wrote after the fix, or at all if none was found. */
function notesText({ entries, fixes: [fix] }: Pick<GroupedFacts, 'entries' | 'fixes'>): string {
  const isTold = entries.some(({ kind, at }) => kind === 'note' && at > (fix?.startsAt ?? 0))
  return isTold ? '; the notes may say more' : ''
}

/** Names an earlier report about the services, if there is one: the problem may have begun with it. */
function detectedFact(facts: GroupedFacts, { seconds, sentence: { refs } }: Metric): KeyFact {
  const label = 'Detected after'
  if (seconds === null) return { label, text: 'not known', refs }
  const { incident, entries } = facts
  const isUncovered = entries.some(({ code, at }) => code === 'unsilenced' && at === incident.createdAt)
  const after = `${formatSeconds(seconds)}${isUncovered ? ', after a silence ended' : ''}`
  const [earlier] = earlierReports(facts)
  if (!earlier) return { label, text: after, refs }
  const lead = formatSeconds(secondsBetween(earlier.at, incident.startedAt))
  const text = `${after}; ${earlier.name} was reported ${lead} before the start of this incident`
  return { label, text, refs: [...refs, `alert/${earlier.alertId}`] }
}

/** Says how long the problem was on. A problem that a user declared to be less than critical only lasted. */
function lengthOf(facts: GroupedFacts): Pick<KeyFact, 'label' | 'text'> {
  const { cause, severity, severe } = facts.incident
  if (cause === 'silence') return { label: 'No heartbeat for', text: criticalText(facts) }
  const isMild = (severe?.severity ?? severity) !== 'critical'
  return { label: isMild && !wasCritical(facts.incident) ? 'Lasted' : 'Critical for', text: criticalText(facts) }
}

function criticalText(facts: GroupedFacts): string {
  const { incident } = facts
  const { cause, critical } = incident
  const seconds = problemSeconds(facts)
  if (wasCritical(incident)) {
    const last = lastReportOf(facts)
    const { declared = [] } = incident
    const also = declared.length === 0 ? '' : `, counting ${joinNames(declared)}`
    if (seconds === 0 && last)
      return `an unknown time: last reported at ${formatTime(last.at)}, and no end was reported`
    if (seconds === 0 && critical.until !== null) return `less than a second, at ${formatTime(critical.until)}`
    if (last)
      return `at least ${formatSeconds(last.seconds)}${also}, last reported at ${formatTime(last.at)}${silencedText(facts)}`
    if (seconds !== null)
      return `${formatSeconds(seconds)}${also}${loweredText(facts, seconds)}${silencedText(facts)}${afterwardsText(facts, seconds)}`
    // A user resolved the incident while its alerts were firing.
    const lasted = secondsOf(critical.ms, incident.startedAt, incident.resolvedAt ?? incident.startedAt)
    if (!wasMerged(facts)) return `${formatSeconds(lasted)}${also} until it was resolved; it was still critical then`
    const still = isEndUnknown(facts) ? 'no end had been reported' : 'it was still critical then'
    const merged = `${formatSeconds(lasted)}${also} until it was merged into ${intoText(facts)}`
    return firingWhenResolved(facts).length === 0 ? merged : `${merged}; ${still}`
  }
  if (seconds === null) return 'not known'
  if (cause === 'silence')
    return `${formatSeconds(seconds)}${resolvedSilentBy(facts) === null ? '' : ' until the incident was resolved; there was still none then'}`
  const { severity, ms } = incident.severe ?? { severity: incident.severity, ms: seconds * 1000 }
  // A part that is the whole has the duration that the summary shows.
  const severe = Math.abs(seconds - ms / 1000) <= 1 ? seconds : Math.min(seconds, Math.floor(ms / 1000))
  const until = wasMerged(facts) ? ` until it was merged into ${intoText(facts)}` : ''
  // A critical alert makes an incident critical that a user declared to be milder.
  const isDeclared = severity === incident.severity || facts.alerts.every((one) => one.severity !== severity)
  const as = severity === 'critical' ? '' : ` with the severity ${severity}`
  const who = isDeclared
    ? `, as declared by ${declarerOf(facts)}${as}`
    : `, by its alerts; without them, its severity is ${incident.severity}`
  return `${formatSeconds(severe)}${until}${who}`
}

/** Says for how long an incident had its worst severity if a user lowered it. The alerts stayed critical. */
function loweredText({ incident: { severe, declared = [] } }: GroupedFacts, seconds: number): string {
  if (!severe || Math.abs(seconds - severe.ms / 1000) <= 1) return ''
  const by = declared.length === 0 ? ' by its alerts' : ''
  return `${by}; the severity of the incident was ${severe.severity} for ${formatSeconds(Math.floor(severe.ms / 1000))} of that time`
}

function afterwardsText(facts: GroupedFacts, seconds: number): string {
  const afterwards = secondsAfterwards(facts, seconds)
  return afterwards === 0 ? '' : ` (${formatSeconds(afterwards)} of them after the incident was resolved)`
}

function noCauseText(facts: GroupedFacts, { changes }: Postmortem['contributing']): string {
  if (facts.incident.cause === 'silence') return 'not known'
  const rejected = joinNames(distinct(rejectedOf(facts).map(({ change }) => changeName(change))))
  if (rejected !== '') return `not known; rejected: ${rejected}`
  return changes.length === 0 && changesBefore(facts).length === 0
    ? `no change was found that could be the cause${cordonSentences(facts).length > 0 ? ', but a node was cordoned' : ''}`
    : 'no change stands out'
}

function causeText(cause: Postmortem['contributing']['changes'][number]): string {
  const judged = cause.verdict === 'confirmed' ? 'confirmed' : likelihoodOf({ score: cause.score, onlyTime: false })
  return `${changeName(cause)} (${judged})`
}

// The trigger: the change that the summary names as the most likely one.

/**
 * Returns the contribution that the summary names: a change that a user confirmed, or the most likely connected change
 * that began before the problem. Returns null if there is none.
 */
function triggerOf(facts: GroupedFacts, { changes }: Pick<Postmortem['contributing'], 'changes'>): Contribution | null {
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
