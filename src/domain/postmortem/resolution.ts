import { groupKey } from '../alert/groups.ts'
import { offsetText } from '../correlation/correlation.ts'
import { changeName, changePlace, changeSentences, outcomeText } from '../incident/change-text.ts'
import type { ChangeFact, EntryFact, IncidentFact } from '../incident/facts.ts'
import { asKnown, firingText, lastResolution } from '../incident/timeline-entries.ts'
import { ordered } from '../order.ts'
import { isDuring } from '../suspect/chain.ts'
import { EFFECT, ROLLS_FOR } from '../suspect/suspect.ts'
import { formatSeconds, formatTime, joinNames, secondsBetween } from '../text.ts'
import { wasMerged } from './critical.ts'
import type { Sentence } from './document.ts'
import { earlierEnds, endSentences, falls, type Told } from './ends.ts'
import {
  alertRefs,
  firingWhenResolved,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  intoRefs,
  intoText,
  isUnreported,
  unheardSentences,
  whileFiring,
} from './groups.ts'

export function resolutionOf(facts: GroupedFacts): { readonly sentences: readonly Sentence[] } {
  const { incident, changes, fixes } = facts
  const others = changes.filter((change) => isRemedy(change, incident) && !fixes.includes(change))
  return {
    sentences: [
      ...fixSentence(facts),
      ...others.map((change) => otherSentence(change, facts)),
      ...ordered([...earlierEnds(facts), ...falls(facts), ...endSentences(facts), ...movesOf(facts)], ({ at }) => [
        at,
      ]).map(({ text, refs }) => ({ text, refs })),
      ...unheardSentences(facts),
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
  return within && emptied === undefined && (kind === 'rollout' || outcome === 'deployed' || outcome === 'deploying')
}

/**
 * Returns the changes that probably fixed the problem, most important first: the last change after which the conditions
 * ended, or its pipeline, and the rollouts of that pipeline. Leaves out changes that caused a new condition, after which
 * the problem came back, or that a user confirmed as the cause.
 */
export function fixesOf(facts: Omit<GroupedFacts, 'fixes'>): readonly ChangeFact[] {
  const { incident, changes, alerts, entries } = facts
  const recoveredAt = recoveryAt(alerts)
  if (recoveredAt === null) return []
  const candidates = changes.filter(
    (change) =>
      isRemedy(change, incident) &&
      change.startsAt <= recoveredAt &&
      recoveredAt - change.endsAt <= EFFECT &&
      !isSuspect(change, facts) &&
      !entries.some((one) => isReturn(one) && one.at > Math.max(change.endsAt, change.startsAt + ROLLS_FOR)),
  )
  const last = candidates.at(-1)
  if (!last) return []
  const owner = candidates.findLast(({ kind, ...one }) => kind === 'pipeline' && isDuring(last.startsAt, one)) ?? last
  const isMade = ({ kind, startsAt }: ChangeFact) =>
    kind === 'rollout' && (owner.kind === 'pipeline' ? isDuring(startsAt, owner) : startsAt === owner.startsAt)
  return [owner, ...candidates.filter((one) => one !== owner && isMade(one))]
}

/** Returns the rollbacks during the incident and the pipelines that made them: they undid a change that can be the cause. */
export function undoingOf({ changes, incident }: Pick<GroupedFacts, 'changes' | 'incident'>): readonly ChangeFact[] {
  const remedies = changes.filter((one) => isRemedy(one, incident))
  const backs = remedies.filter(({ isRollback }) => isRollback)
  const made = (one: ChangeFact) => one.kind === 'pipeline' && backs.some(({ startsAt }) => isDuring(startsAt, one))
  return backs.length === 0 ? [] : remedies.filter((one) => one.isRollback || made(one))
}

/** Returns whether the problem came back by itself. */
export function isReturn({ kind, code, actor }: EntryFact): boolean {
  return kind === 'status' && code === 'open' && actor === null
}

/** Returns whether a link connects the change to a condition that did not exist before the change. */
function isSuspect(
  change: ChangeFact,
  { correlations, alerts }: Pick<GroupedFacts, 'correlations' | 'alerts'>,
): boolean {
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
  const [fix, ...made] = facts.fixes
  const recoveredAt = recoveryAt(facts.alerts)
  if (!fix || recoveredAt === null) return []
  const last = facts.alerts.filter(({ endsAt, source }) => source !== 'ci' && endsAt === recoveredAt)
  const what = last.every(isUnreported) ? 'The problem was last reported' : 'The last alert ended'
  const [from, start] = recoveredAt <= fix.endsAt ? [fix.startsAt, 'the start of the fix'] : [fix.endsAt, 'the fix']
  const after = `${what} ${offsetText(secondsBetween(from, recoveredAt), 'together with')} ${start}`
  const text = `Probable fix: ${changeSentences(fix, made.map(changeName))} ${after}.`
  return [{ text, refs: [...[fix, ...made].map(({ eventId }) => `event/${eventId}`), ...alertRefs(last)] }]
}

/** Names the probable fix. The section about the recovery has the details. */
export function briefFixSentence({ fixes }: GroupedFacts): readonly Sentence[] {
  if (fixes.length === 0) return []
  const text = `The probable fix is ${joinNames(fixes.map((fix) => changePlace(fix, outcomeText(fix))))}.`
  return [{ text, refs: fixes.map(({ eventId }) => `event/${eventId}`) }]
}

function otherSentence(change: ChangeFact, { alerts }: GroupedFacts): Sentence {
  const recoveredAt = recoveryAt(alerts)
  const seconds = secondsBetween(change.endsAt, recoveredAt ?? 0)
  const when =
    recoveredAt !== null && change.startsAt > recoveredAt ? 'After the last alert' : 'Also during the incident'
  const isVain = change.kind === 'pipeline' && seconds > 0 && !alerts.some(isUnreported)
  const after = isVain ? ` The last alert ended ${formatSeconds(seconds)} after this deploy.` : ''
  const text = `${when}: ${changeSentences(change)}${after}`
  return { text, refs: [`event/${change.eventId}`, ...(isVain ? alertRefs(alerts) : [])] }
}

/** Names each resolution, and who reopened the incident after it. */
function movesOf(facts: GroupedFacts): readonly Told[] {
  const { incident, entries, alerts } = facts
  const ref = incidentRef(incident)
  const moves = entries.filter(({ kind, code }) => kind === 'reopened' || (kind === 'status' && code === 'resolved'))
  const last = moves.findLastIndex(({ kind }) => kind === 'reopened')
  const earlier = moves.slice(0, last + 1).map((entry) => {
    const { kind, at, actor, text } = entry
    const firing = firingText(asKnown(entry, alerts))
    const why = kind === 'reopened' ? (text === '' ? '' : `, because ${text}`) : firing === '' ? '' : `, ${firing}`
    const what = kind === 'reopened' ? 'reopened' : 'resolved'
    return { text: `${actor ?? 'incmon'} ${what} the incident at ${formatTime(at)}${why}.`, refs: [ref], at }
  })
  const refs = [ref, ...intoRefs(facts), ...alertRefs(firingWhenResolved({ incident, alerts }))]
  const at = moves.slice(last + 1).findLast(({ kind }) => kind === 'status')?.at ?? incident.resolvedAt
  return [...earlier, { text: resolvedText(facts), refs, at: at ?? Number.POSITIVE_INFINITY }]
}

/**
 * Returns `after` if incmon resolved the incident some time after the problem, whose end counts as the resolution, `before`
 * if that end was reported only later, and null if the resolution itself counts.
 */
export function countsFromEnd({ incident, entries }: GroupedFacts): 'before' | 'after' | null {
  const last = lastResolution(entries)
  if (last?.actor !== null || incident.resolvedAt === null) return null
  const seconds = secondsBetween(incident.resolvedAt, last.at)
  return seconds === 0 ? null : seconds > 0 ? 'after' : 'before'
}

/** Returns whether a person resolved the incident, who can do so while alerts are firing. */
export function resolvedByPerson({ entries }: GroupedFacts): boolean {
  return (lastResolution(entries)?.actor ?? null) !== null
}

function resolvedText(facts: GroupedFacts): string {
  const { incident, entries } = facts
  const { resolvedAt } = incident
  if (resolvedAt === null) return 'No resolution was recorded.'
  const last = lastResolution(entries)
  const firing = whileFiring(facts)
  const early = firing === '' ? '' : `, ${firing}`
  if (!last) return `The incident was resolved at ${formatTime(resolvedAt)}.`
  if (wasMerged(facts))
    return `${last.actor ?? 'A user'} merged the incident into ${intoText(facts)} at ${formatTime(resolvedAt)}${early}.`
  if (last.actor !== null) return `${last.actor} resolved the incident at ${formatTime(resolvedAt)}${early}.`
  const why = last.text === '' ? '' : `: ${last.text}`
  return `incmon resolved the incident at ${formatTime(last.at)}${why}.`
}
