/** Selects the stored entries that are rows of a timeline, and writes their texts. */
import { ordered } from '../order.ts'
import { rank } from '../severity.ts'
import { joinNames, timesOf, withoutStop } from '../text.ts'
import type { AlertFact, EntryFact } from './facts.ts'
import { countedNames, type EntryFacts } from './timeline-entry.ts'

/**
 * Returns the entries without those that say nothing new: the resolution of a merged incident, and the assumed end of an
 * alert that was reported at only one moment.
 */
export function toldEntries(
  entries: readonly EntryFact[],
  known: ReadonlyMap<string, { readonly startsAt: number }>,
): readonly EntryFact[] {
  const merged = new Set(entries.flatMap(({ kind, at }) => (kind === 'merged' ? at : [])))
  return withoutFallsAtEnds(asReported(entries)).filter(({ kind, code, at, ref }) => {
    if (kind === 'status' && code === 'resolved') return !merged.has(at)
    const began =
      kind === 'ended' && code === 'expired' ? known.get(ref?.replace('alert/', '') ?? '')?.startsAt : undefined
    return began === undefined || at - began >= 1000
  })
}

/** What is known of the alerts by now replaces what was known when a user resolved the incident. */
export function asKnown(entry: EntryFact, alerts: readonly KnownAlert[]): EntryFact {
  const { facts, at } = entry
  if (facts?.code !== 'firing' || alerts.length === 0) return entry
  const firing = firingAt(alerts, at)
  return { ...entry, text: '', facts: firing.length === 0 ? null : { code: 'firing', alerts: countedNames(firing) } }
}

/** Returns the alerts that were firing at a time, even if they have ended since. Nobody knows of those of silent senders. */
export function firingAt<One extends KnownAlert>(alerts: readonly One[], at: number): readonly One[] {
  return alerts.filter(({ source, startsAt, endsAt, unheard }) => {
    return source !== 'ci' && startsAt <= at && (endsAt === null ? unheard === undefined : endsAt > at)
  })
}

type KnownAlert = Pick<AlertFact, 'name' | 'source' | 'startsAt' | 'endsAt' | 'unheard'>

/** What ended without a report is only known to be no longer reported. */
function asReported(entries: readonly EntryFact[]): readonly EntryFact[] {
  const ends = ordered(entries, ({ at }) => [at]).filter(({ kind }) => kind === 'ended')
  return entries.map((entry) => {
    if (entry.kind !== 'status' || entry.code !== 'monitoring' || entry.actor !== null) return entry
    const last = ends.findLast(({ at }) => at <= entry.at)?.code
    return last === 'inferred' || last === 'expired' ? { ...entry, text: 'the problem was no longer reported' } : entry
  })
}

/** A rule with two severities ends one after the other. An alert that becomes milder in the second of its end has ended. */
function withoutFallsAtEnds(entries: readonly EntryFact[]): readonly EntryFact[] {
  const momentOf = ({ ref, at }: EntryFact) => `${ref} ${Math.floor(at / 1000)}`
  const ends = new Set(entries.filter(({ kind }) => kind === 'ended').map(momentOf))
  const isFall = ({ facts }: EntryFact) =>
    facts?.code === 'severity' && facts.from !== null && rank(facts.to) < rank(facts.from)
  return entries.filter((entry) => !isFall(entry) || !ends.has(momentOf(entry)))
}

/**
 * Returns the entries in which a user acknowledged the incident: the first status other than `open` that a user set after
 * the incident opened or came back, unless that status is `resolved` or comes from a merged incident.
 */
export function acknowledgementsIn(entries: readonly EntryFact[]): ReadonlySet<EntryFact> {
  const found = new Set<EntryFact>()
  const merged = new Set(entries.flatMap(({ kind, at }) => (kind === 'merged' ? at : [])))
  let isAnswered = false
  for (const entry of ordered(entries, ({ at }) => [at])) {
    const { kind, code, actor } = entry
    const isReturn = kind === 'reopened' || (kind === 'status' && code === 'open')
    if (isReturn) isAnswered = false
    else if (kind === 'status' && actor !== null && !isAnswered) {
      isAnswered = true
      if (code !== 'resolved' && !merged.has(entry.at)) found.add(entry)
    }
  }
  return found
}

/** Returns when the silence of an entry or row no longer applied; undefined if it still does. */
export function silenceEnd(all: readonly Silencing[], { ref, at }: Silencing): number | undefined {
  return all.find((one) => one.code === 'unsilenced' && one.ref === ref && one.at >= at)?.at
}

type Silencing = Pick<EntryFact, 'at' | 'code' | 'ref'>

/** Says why an incident has no alerts. Those of a merged incident belong to the other one. */
export function noAlertsText(isMerged: boolean): string {
  return isMerged ? 'Its alerts belong to the incident into which it was merged.' : 'This incident has no alerts.'
}

/** Returns whether an incident ended because it was merged into another one. */
export function endedByMerge(entries: readonly Pick<EntryFact, 'kind'>[], resolvedAt: unknown): boolean {
  return entries.some((entry) => entry.kind === 'merged' && 'at' in entry && entry.at === resolvedAt)
}

/** Returns the last entry that says that the incident was resolved. */
export function lastResolution<One extends Pick<EntryFact, 'kind' | 'code'>>(entries: readonly One[]): One | undefined {
  return entries.findLast(({ kind, code }) => kind === 'status' && code === 'resolved')
}

export function acknowledgedText({ code, text }: EntryFact): string {
  return code === 'investigating' && text === ''
    ? 'acknowledged'
    : `acknowledged and changed to ${reasoned(code ?? '', text)}`
}

/**
 * Returns the text of an entry. An entry without a code was stored by an earlier version that had only the sentence.
 * @param name of the alert, or of its group
 * @param isOnly whether the group has no other alert, whose summary can differ
 */
export function entryText(entry: EntryFact, name: string, isOnly = false): string {
  const { kind, code, text } = entry
  if (kind === 'status') return statusText(entry)
  if (kind === 'alert') return alertText(entry, isOnly)
  if (kind === 'reopened') return reasoned(code === 'open' ? 'reopened' : `reopened as ${code}`, text)
  if (kind !== 'ended' || code === null) return text
  return `${name} ${ENDS[code] ?? 'ended'}`
}

function alertText({ code, text, facts }: EntryFact, isOnly: boolean): string {
  if (code === 'again') return `${text} is firing again`
  if (code === 'doubt') return `${text} was reported as ended, but so was the heartbeat: the end does not count yet`
  if (facts?.code !== 'severity') return text
  const words = isOnly && facts.summary ? `: ${withoutStop(facts.summary)}` : ''
  return `severity of ${text} changed ${facts.from === null ? '' : `from ${facts.from} `}to ${facts.to}${words}`
}

/** Returns `while QueueFull ×2 was still firing` for the resolution of an incident; '' for any other entry. */
export function firingText({ text, facts }: EntryFact): string {
  if (facts?.code !== 'firing') return ''
  return text === '' ? `while ${alertNames(facts)} ${facts.alerts.length === 1 ? 'was' : 'were'} still firing` : text
}

function alertNames({ alerts }: Extract<EntryFacts, { readonly alerts: unknown }>): string {
  return joinNames(alerts.map(([name, count]) => `${name}${timesOf(count)}`))
}

function statusText(entry: EntryFact): string {
  const { text, facts } = entry
  const code = entry.code ?? ''
  if (facts?.code === 'firing') return `${code}, ${firingText(entry)}`
  if (facts?.code === 'unreported') return reasoned(code, `no end of ${alertNames(facts)} was reported`)
  if (code === 'resolved') return reasoned(code, text)
  if (code === 'open') return reasoned(text === '' ? 'acknowledgement taken back' : 'open again', text)
  return reasoned(text === '' ? `status changed to ${code}` : code, text)
}

function reasoned(what: string, text: string): string {
  return [what, text].filter((part) => part !== '').join(': ')
}

/** Describes how the end of an alert was determined. The text is shown after the alert's name. */
const ENDS: Readonly<Record<string, string>> = {
  reported: 'ended',
  inferred: 'was last reported',
  expired: 'was last reported',
  manual: 'was resolved manually',
}

/** Returns whether the problem came back by itself. It was over before. */
export function hasComeBack({ kind, code, actor, facts }: EntryFact): boolean {
  return kind === 'status' && code === 'open' && actor === null && facts?.code !== 'disproved'
}
