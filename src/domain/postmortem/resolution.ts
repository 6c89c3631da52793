/** The resolution section: the probable fix, the recovery and its evidence, and who resolved the incident. */
import type { Resolution } from '../alert/alert.ts'
import { groupKey } from '../alert/groups.ts'
import { isMoment } from '../event/lasting.ts'
import { changeName, changePlace, changeSentences, outcomeText } from '../incident/change-text.ts'
import type { ChangeFact, EntryFact, IncidentFact } from '../incident/facts.ts'
import { distinct, ordered } from '../order.ts'
import { formatPeriod, formatSeconds, formatTime, joinNames, quoted, secondsBetween, stillFiringText } from '../text.ts'
import { wasMerged } from './critical.ts'
import type { Sentence } from './document.ts'
import {
  alertRefs,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  intoRefs,
  intoText,
  isUnreported,
  mergedInto,
  namesOf,
  stillFiring,
  unheardSentences,
} from './groups.ts'

/** If a deploy ended more than this long before the recovery, the deploy is probably not the fix. */
const FIX_WORKS_WITHIN = 60 * 60_000

export function resolutionOf(facts: GroupedFacts): { readonly sentences: readonly Sentence[] } {
  const { incident, entries, changes } = facts
  const ref = incidentRef(incident)
  const fixes = fixesOf(facts)
  const others = changes.filter((change) => isRemedy(change, incident) && !fixes.includes(change))
  return {
    sentences: [
      ...fixSentence(facts),
      ...others.map(otherSentence),
      ...endSentences(facts),
      ...unheardSentences(facts),
      ...reopenedSentences(entries, ref),
      { text: resolvedText(facts), refs: [ref, ...intoRefs(facts), ...alertRefs(stillFiring(facts.alerts))] },
    ],
  }
}

/** Returns when the last alert ended; null if an alert is firing or there are no alerts. Ignores pipelines. */
function recoveryAt(alerts: readonly GroupedFact[]): number | null {
  const conditions = alerts.filter(({ source }) => source !== 'ci')
  if (conditions.length === 0 || conditions.some(({ endsAt }) => endsAt === null)) return null
  return conditions.reduce((last, { endsAt }) => Math.max(last, endsAt ?? 0), 0)
}

/** Returns whether the change is a rollout or deploy that happened during the incident, regardless of its effect. */
export function isRemedy(
  { kind, outcome, emptied, startsAt }: ChangeFact,
  { createdAt, resolvedAt }: IncidentFact,
): boolean {
  const within = startsAt >= createdAt && (resolvedAt === null || startsAt <= resolvedAt)
  return within && emptied === undefined && (kind === 'rollout' || outcome === 'deployed')
}

/**
 * Returns the changes that probably fixed the problem, most important first: the last deploy after which the conditions
 * ended, and its rollouts. Leaves out changes that caused a new condition or that a user confirmed as the cause.
 */
export function fixesOf(facts: GroupedFacts): readonly ChangeFact[] {
  const { incident, changes, alerts } = facts
  const recoveredAt = recoveryAt(alerts)
  if (recoveredAt === null) return []
  const candidates = changes.filter(
    (change) =>
      isRemedy(change, incident) &&
      change.startsAt <= recoveredAt &&
      recoveredAt - change.endsAt <= FIX_WORKS_WITHIN &&
      !isSuspect(change, facts),
  )
  const last = candidates.findLast(({ kind }) => kind === 'pipeline') ?? candidates.at(-1)
  if (!last) return []
  const made = candidates.filter((one) => one !== last && one.kind === 'rollout' && one.startsAt >= last.startsAt)
  return [last, ...made]
}

/** Returns whether a link connects the change to a condition that did not exist before the change. */
function isSuspect(change: ChangeFact, { correlations, alerts }: GroupedFacts): boolean {
  const own = correlations.filter((link) => changeName(link.change) === changeName(change))
  if (own.some(({ verdict }) => verdict === 'confirmed')) return true
  const before = new Set(alerts.filter(({ startsAt }) => startsAt < change.startsAt).map(groupKey))
  return own.some(({ verdict, alertId }) => {
    const alert = alerts.find(({ uuid }) => uuid === alertId)
    return verdict !== 'rejected' && alert !== undefined && !before.has(groupKey(alert))
  })
}

/** Returns a sentence such as `Probable fix: pipeline shop/cart#32 …`, if there is a probable fix. */
function fixSentence(facts: GroupedFacts): readonly Sentence[] {
  const [fix, ...made] = fixesOf(facts)
  const recoveredAt = recoveryAt(facts.alerts)
  if (!fix || recoveredAt === null) return []
  const last = facts.alerts.filter(({ endsAt, source }) => source !== 'ci' && endsAt === recoveredAt)
  const what = last.every(isUnreported) ? 'The last report came' : 'The last alert ended'
  const after =
    recoveredAt <= fix.endsAt
      ? `${what} ${formatSeconds(secondsBetween(fix.startsAt, recoveredAt))} after the start of the fix`
      : `${what} ${formatSeconds(secondsBetween(fix.endsAt, recoveredAt))} after the fix`
  const text = `Probable fix: ${changeSentences(fix, made.map(changeName))} ${after}.`
  return [{ text, refs: [...[fix, ...made].map(({ eventId }) => `event/${eventId}`), ...alertRefs(last)] }]
}

/** Names the probable fix. The section about the recovery has the details. */
export function briefFixSentence(facts: GroupedFacts): readonly Sentence[] {
  const fixes = fixesOf(facts)
  if (fixes.length === 0) return []
  const text = `The probable fix is ${joinNames(fixes.map((fix) => changePlace(fix, outcomeText(fix))))}.`
  return [{ text, refs: fixes.map(({ eventId }) => `event/${eventId}`) }]
}

function otherSentence(change: ChangeFact): Sentence {
  const text = `Also changed during the incident: ${changeSentences(change)}`
  return { text, refs: [`event/${change.eventId}`] }
}

/** Returns one sentence for each way in which alerts ended or were left without an end, earliest first. */
function endSentences(facts: GroupedFacts): readonly Sentence[] {
  const { alerts, entries } = facts
  const conditions = alerts.filter(({ endsAt, source }) => endsAt !== null || source !== 'ci')
  const known = conditions.map((alert) => ({ ...alert, way: wayOf(alert) }))
  // An eviction does not recover, so that it matters only if nothing else does.
  const lasting = known.filter(({ way }) => way !== 'moment')
  const inOrder = ordered(lasting.length > 0 ? lasting : known, ({ endsAt, lastSeenAt, name, uuid }) => [
    endsAt ?? lastSeenAt,
    name,
    uuid,
  ])
  return [...Map.groupBy(inOrder, ({ way }) => way)].map(([way, alike]) => {
    return way === 'unreported' ? unreportedSentence(alike, facts) : endSentence(alike, way, entries)
  })
}

type Way = 'moment' | 'unreported' | 'unknown' | Resolution

/** An eviction or a killed container has no end. */
function wayOf(alert: GroupedFact): Way {
  const { source, resolution, name, endsAt } = alert
  if (source === 'cluster' && resolution === 'expired' && isMoment(name)) return 'moment'
  return endsAt === null || isUnreported(alert) ? 'unreported' : (resolution ?? 'unknown')
}

function endSentence(ended: readonly GroupedFact[], way: Way, entries: readonly EntryFact[]): Sentence {
  const isOnce = way === 'moment'
  const when = momentsText(ended.map(({ endsAt, lastSeenAt }) => (isOnce ? lastSeenAt : (endsAt ?? lastSeenAt))))
  const how = isOnce ? '' : `: ${howText(way, ended, entries)}`
  return { text: `${namesOf(ended)} ${isOnce ? 'last happened' : 'ended'} ${when}${how}.`, refs: alertRefs(ended) }
}

/** Says when alerts were last reported whose end nobody reported before the document was written. */
function unreportedSentence(alerts: readonly GroupedFact[], facts: GroupedFacts): Sentence {
  const was = alerts.length > 1 ? 'were' : 'was'
  const into = mergedInto(facts)
  const isOn = into && alerts.every(({ endsAt }) => endsAt === null)
  const why = isOn ? `${quoted(into.title)} goes on with ${alerts.length > 1 ? 'them' : 'it'}` : 'no end was reported'
  const when = momentsText(alerts.map(({ endsAt, lastSeenAt }) => endsAt ?? lastSeenAt))
  const refs = [...alertRefs(alerts), ...(isOn ? [into.ref] : [])]
  return { text: `${namesOf(alerts)} ${was} last reported ${when}: ${why}.`, refs }
}

/** Returns `at …`, or `between … and …` if the times differ. */
function momentsText(times: readonly number[]): string {
  const [from, to] = [times.reduce((a, b) => Math.min(a, b)), times.reduce((a, b) => Math.max(a, b))]
  return secondsBetween(from, to) === 0
    ? `at ${formatTime(from)}`
    : `between ${formatPeriod(from, to).replace(' to ', ' and ')}`
}

/** Describes how the ends are known. Names the people who resolved alerts manually, if the timeline does. */
function howText(way: Way, ended: readonly GroupedFact[], entries: readonly EntryFact[]): string {
  const isOne = ended.length === 1
  if (way === 'reported') {
    const senders = new Set(ended.map(({ source }) => source)).size
    return `the ${senders > 1 ? 'senders' : 'sender'} reported the ${isOne ? 'end' : 'ends'}`
  }
  if (way !== 'manual') return 'the reason was not recorded'
  const refs = new Set(ended.map(({ uuid }) => `alert/${uuid}`))
  const people = distinct(
    entries.flatMap(({ kind, ref, actor }) =>
      kind === 'ended' && ref !== null && refs.has(ref) && actor !== null ? actor : [],
    ),
  )
  if (people.length > 0) return `${joinNames(people)} resolved ${isOne ? 'it' : 'them'} manually`
  return `${isOne ? 'it was' : 'they were'} resolved manually`
}

/** Names each earlier resolution, and who reopened the incident after it. */
function reopenedSentences(entries: readonly EntryFact[], ref: string): readonly Sentence[] {
  const moves = entries.filter(({ kind, code }) => kind === 'reopened' || (kind === 'status' && code === 'resolved'))
  const last = moves.findLastIndex(({ kind }) => kind === 'reopened')
  return moves.slice(0, last + 1).map(({ kind, at, actor }) => {
    const what = kind === 'reopened' ? 'reopened' : 'resolved'
    return { text: `${actor ?? 'incmon'} ${what} the incident at ${formatTime(at)}.`, refs: [ref] }
  })
}

/** Returns whether a person resolved the incident, who can do so while alerts are firing. */
export function resolvedByPerson({ entries }: GroupedFacts): boolean {
  return (entries.findLast(({ kind, code }) => kind === 'status' && code === 'resolved')?.actor ?? null) !== null
}

function resolvedText(facts: GroupedFacts): string {
  const { incident, entries, alerts } = facts
  const { resolvedAt } = incident
  if (resolvedAt === null) return 'No resolution was recorded.'
  const last = entries.filter(({ kind, code }) => kind === 'status' && code === 'resolved').at(-1)
  const firing = stillFiring(alerts).length
  const early = firing === 0 ? '' : `, while ${stillFiringText(firing)}`
  if (!last) return `The incident was resolved at ${formatTime(resolvedAt)}.`
  if (wasMerged(facts))
    return `${last.actor ?? 'A user'} merged the incident into ${intoText(facts)} at ${formatTime(resolvedAt)}${early}.`
  if (last.actor !== null) return `${last.actor} resolved the incident at ${formatTime(resolvedAt)}${early}.`
  const why = last.text === '' ? '' : `: ${last.text}`
  const since = last.at === resolvedAt ? '' : ` It counts as resolved from ${formatTime(resolvedAt)}.`
  return `incmon resolved the incident at ${formatTime(last.at)}${why}.${since}`
}
