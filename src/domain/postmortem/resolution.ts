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
  mergedInto,
  namesOf,
  stillFiring,
} from './groups.ts'

/** If a deploy ended more than this long before the recovery, the deploy is probably not the fix. */
const FIX_WORKS_WITHIN = 60 * 60_000

/** Describes how the end of an alert was determined. */
const KNOWN_BY: Readonly<Record<Resolution, string>> = {
  reported: 'the sender reported the end',
  inferred: 'the sender stopped reporting it',
  expired: 'no end was reported',
  manual: 'it was resolved manually',
}

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
      ...reopenedSentences(entries, ref),
      { text: resolvedText(facts), refs: [ref, ...intoRefs(facts), ...alertRefs(stillFiring(facts.alerts))] },
    ],
  }
}

/** Returns when the last alert ended; null if an alert is firing or there are no alerts. Ignores pipelines. */
function recoveryAt(alerts: readonly GroupedFact[]): number | null {
  const conditions = alerts.filter(({ source }) => source !== 'ci')
  if (conditions.length === 0 || stillFiring(alerts).length > 0) return null
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
  const after =
    recoveredAt <= fix.endsAt
      ? `The last alert ended ${formatSeconds(secondsBetween(fix.startsAt, recoveredAt))} after the start of the fix`
      : `The last alert ended ${formatSeconds(secondsBetween(fix.endsAt, recoveredAt))} after the fix`
  const text = `Probable fix: ${changeSentences(fix, made.map(changeName))} ${after}.`
  const last = facts.alerts.filter(({ endsAt, source }) => source !== 'ci' && endsAt === recoveredAt)
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

/**
 * Returns one sentence for each way in which alerts ended, earliest end first, and one sentence for alerts without an
 * end.
 */
function endSentences({ alerts, entries }: GroupedFacts): readonly Sentence[] {
  const ended = ordered(
    alerts.flatMap((alert) => (alert.endsAt === null ? [] : [{ ...alert, endsAt: alert.endsAt }])),
    ({ endsAt, name, uuid }) => [endsAt, name, uuid],
  )
  const ways = [...Map.groupBy(ended, (alert) => (isOccurrence(alert) ? 'moment' : alert.resolution)).values()]
  const firing = stillFiring(alerts)
  return [
    ...ways.map((alike) => endSentence(alike, entries)),
    ...(firing.length === 0 ? [] : [{ text: unendedText(firing), refs: alertRefs(firing) }]),
  ]
}

/** An eviction or a killed container has no end. */
function isOccurrence({ source, resolution, name }: GroupedFact): boolean {
  return source === 'cluster' && resolution === 'expired' && isMoment(name)
}

function endSentence(
  ended: readonly (GroupedFact & { readonly endsAt: number })[],
  entries: readonly EntryFact[],
): Sentence {
  const way = ended[0]?.resolution ?? null
  // What is known of an expired alert is its last report. The problem can have gone on.
  const isExpired = way === 'expired'
  const times = ended.map(({ endsAt, lastSeenAt }) => (isExpired ? lastSeenAt : endsAt))
  const [from, to] = [Math.min(...times), Math.max(...times)]
  const isOnce = ended.some(isOccurrence)
  const known = howText(way, ended, entries)
  const last = isOnce ? 'last happened' : `${ended.length > 1 ? 'were' : 'was'} last reported`
  const what = isExpired ? last : 'ended'
  const when =
    secondsBetween(from, to) === 0
      ? `at ${formatTime(from)}`
      : `between ${formatPeriod(from, to).replace(' to ', ' and ')}`
  const how = isOnce ? '' : `: ${ended.length > 1 ? plural(known, ended) : known}`
  const text = `${namesOf(ended)} ${what} ${when}${how}.`
  return { text, refs: alertRefs(ended) }
}

/** Says what is known of alerts whose end was not recorded: when they were last seen. */
function unendedText(firing: readonly GroupedFact[]): string {
  const last = firing.reduce((latest, { lastSeenAt }) => Math.max(latest, lastSeenAt), 0)
  const it = firing.length === 1 ? 'it was' : 'they were'
  return `No end of ${namesOf(firing)} was recorded; ${it} last seen at ${formatTime(last)}.`
}

/** Names the people who resolved alerts manually, if the timeline does. */
function howText(resolution: Resolution | null, ended: readonly GroupedFact[], entries: readonly EntryFact[]): string {
  if (resolution === null) return 'the reason was not recorded'
  const refs = new Set(ended.map(({ uuid }) => `alert/${uuid}`))
  const people = distinct(
    entries.flatMap(({ kind, ref, actor }) =>
      kind === 'ended' && ref !== null && refs.has(ref) && actor !== null ? actor : [],
    ),
  )
  return resolution === 'manual' && people.length > 0
    ? `${joinNames(people)} resolved it manually`
    : KNOWN_BY[resolution]
}

function plural(known: string, ended: readonly GroupedFact[]): string {
  const senders = new Set(ended.map(({ source }) => source)).size
  return known
    .replace('the sender', senders > 1 ? 'the senders' : 'the sender')
    .replace('it was', 'they were')
    .replace(/\bit\b/, 'them')
    .replace('the end', 'the ends')
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

function intoRefs(facts: GroupedFacts): readonly string[] {
  return [mergedInto(facts)].flatMap((into) => into?.ref ?? [])
}

function resolvedText(facts: GroupedFacts): string {
  const { incident, entries, alerts } = facts
  const { resolvedAt } = incident
  if (resolvedAt === null) return 'No resolution was recorded.'
  const last = entries.filter(({ kind, code }) => kind === 'status' && code === 'resolved').at(-1)
  const firing = stillFiring(alerts).length
  const into = mergedInto(facts)
  const early = firing === 0 ? '' : `, while ${stillFiringText(firing)}`
  if (!last) return `The incident was resolved at ${formatTime(resolvedAt)}.`
  if (wasMerged(facts))
    return `${last.actor ?? 'A user'} merged the incident into ${into ? quoted(into.title) : 'another incident'} at ${formatTime(resolvedAt)}${early}.`
  if (last.actor !== null) return `${last.actor} resolved the incident at ${formatTime(resolvedAt)}${early}.`
  const why = last.text === '' ? '' : `: ${last.text}`
  const since = last.at === resolvedAt ? '' : ` It counts as resolved since ${formatTime(resolvedAt)}.`
  return `incmon resolved the incident at ${formatTime(last.at)}${why}.${since}`
}
