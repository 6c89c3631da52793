/** The stored entries of a timeline: which of them are rows, and their texts. */

import type { LiveAlert, Resolution } from '../alert/alert.ts'
import type { SeverityChange } from '../alert/fingerprints.ts'
import { isNotification } from '../event/event.ts'
import { ordered } from '../order.ts'
import { rank, type Severity } from '../severity.ts'
import { joinNames, timesOf, withoutStop } from '../text.ts'
import type { AlertFact, EntryFact } from './facts.ts'
import type { IncidentStatus } from './incident.ts'

/** An entry of an incident's timeline, as it is stored. */
export type TimelineEntry = {
  readonly at: number
  readonly kind: 'opened' | 'reopened' | 'status' | 'alert' | 'ended' | 'note' | 'edited' | 'merged' | 'silence'
  /**
   * The new status of `status` and `reopened`, how the alert of `ended` ended, what became of the one of `alert`, and for
   * `silence` whether it begins or no longer applies. Null for all other kinds.
   */
  readonly code: IncidentStatus | Resolution | 'severity' | 'again' | 'doubt' | 'silenced' | 'unsilenced' | null
  /**
   * The reason of a status, which can be ''. The alert's name for `ended` and `alert`. A sentence or a note for all other
   * kinds.
   */
  readonly text: string
  readonly facts?: EntryFacts | null
  /** The token's name, or `the command line`; null for automatic changes. */
  readonly actor: string | null
  /** `alert/<uuid>`, `incident/<uuid>` or `silence/<uuid>`; null if there is no record to link to. */
  readonly ref: string | null
}

/** `alerts`: the names, each with the number of alerts; empty if an earlier version stored only the sentence. */
export type EntryFacts =
  /** A user resolved the incident while alerts were firing, or although no end of them was reported. */
  | { readonly code: 'firing' | 'unreported'; readonly alerts: readonly (readonly [name: string, count: number])[] }
  /** An incident is open again whose problem was not over. */
  | { readonly code: 'disproved' }
  /** The change of `severity`. `from`: null if unknown. `summary`: what the sender said of an alert that got worse. */
  | { readonly code: 'severity'; readonly from: Severity | null; readonly to: Severity; readonly summary?: string }

/** Returns the entry of an alert whose severity changed. */
export function severityEntry({ id, alert }: LiveAlert, { from, at }: SeverityChange): TimelineEntry {
  const isRise = isNotification(alert) && rank(alert.severity) > rank(from ?? 'info')
  const words = isRise && alert.summary !== alert.name ? { summary: alert.summary } : {}
  const facts = { code: 'severity', from, to: alert.severity, ...words } as const
  return { at, kind: 'alert', code: 'severity', text: alert.name, facts, actor: null, ref: `alert/${id}` }
}

/** Returns the names of alerts in order, each with the number of alerts. */
export function countedNames(alerts: readonly { readonly name: string }[]) {
  const byName = Map.groupBy(alerts, ({ name }) => name)
  return [...byName].map(([name, { length }]) => [name, length] as const).sort()
}

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
