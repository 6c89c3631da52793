/** Says for how long an incident was critical, or how long it lasted if it never was. */
import type { IncidentFact } from '../incident/facts.ts'
import { endedByMerge, lastResolution, silenceEnd } from '../incident/timeline-entries.ts'
import { distinct } from '../order.ts'
import { nameInCluster, subjectName } from '../sender/sender-name.ts'
import { isNodeService } from '../service/node.ts'
import { silenceName } from '../silence/silence.ts'
import { formatPeriod, formatSeconds, formatTime, joinNames, quoted, secondsBetween } from '../text.ts'
import type { Sentence } from './document.ts'
import {
  alertRefs,
  firingWhenResolved,
  type GroupedFact,
  type GroupedFacts,
  incidentRef,
  intoRefs,
  intoText,
  isSilentlyFiring,
  isUnreported,
  personFirst,
  resolvedSilentBy,
  unheardSentences,
  whileFiring,
} from './groups.ts'
import { secondsOf, wasClockSetBack } from './metrics.ts'

/**
 * Returns whether the incident was about a critical service, at least for a moment. A person who opens an incident, and
 * a silent sender, say nothing about the state of the service.
 */
export function wasCritical({ critical: { ms, until }, origin, cause }: IncidentFact): boolean {
  return origin === 'automatic' && cause !== 'silence' && (until !== null || ms > 0)
}

type Ending = Pick<GroupedFacts, 'incident' | 'alerts' | 'entries'>

/**
 * Returns when the problem ended or, if nobody reported its end, was last reported: the end of the last critical period,
 * or the resolution of an incident that never was critical. Returns null if the problem went on.
 */
export function endOf(facts: Ending): number | null {
  const { incident } = facts
  if (!wasCritical(incident)) return incident.resolvedAt
  return lastReportOf(facts)?.at ?? incident.critical.until
}

/** Returns how many seconds after the end of the problem the incident was resolved; 0 if it was not later or unknown. */
export function resolvedLater(facts: Ending): number {
  const [end, { resolvedAt }] = [endOf(facts), facts.incident]
  return end === null || resolvedAt === null ? 0 : Math.max(0, secondsBetween(end, resolvedAt))
}

/** Returns for how many seconds of `seconds` the problem went on after the incident was resolved; 0 if it did not. */
export function secondsAfterwards(facts: Ending, seconds: number): number {
  const [end, last] = [endOf(facts), lastResolution(facts.entries)]
  const resolvedAt = last?.actor === null ? last.at : facts.incident.resolvedAt
  return end === null || resolvedAt === null ? 0 : Math.min(seconds, Math.max(0, secondsBetween(resolvedAt, end)))
}

/** Returns the number of seconds for which the problem was on, as far as it was reported; null if it is unknown. */
export function problemSeconds(facts: Ending): number | null {
  const { incident } = facts
  const { critical, startedAt, resolvedAt } = incident
  if (wasClockSetBack(incident)) return null
  const last = lastReportOf(facts)
  if (last) return last.seconds
  if (wasCritical(incident)) return critical.until === null ? null : secondsOf(critical.ms, startedAt, critical.until)
  return resolvedAt === null || resolvedAt < startedAt ? null : lastedSeconds(incident, resolvedAt)
}

/** Returns how long an incident lasted that was not about a critical service, without the time it was resolved. */
function lastedSeconds({ startedAt, lastedMs }: IncidentFact, resolvedAt: number): number {
  return secondsOf(lastedMs ?? resolvedAt - startedAt, startedAt, resolvedAt)
}

/** Returns who declared a manual incident: a name, or `a user` if it was not recorded. */
export function declarerOf({ entries }: Pick<GroupedFacts, 'entries'>): string {
  return entries.find(({ kind }) => kind === 'opened')?.actor ?? 'a user'
}

/** Returns whether the incident ended because it was merged into another one. */
export function wasMerged({ incident, entries }: Pick<GroupedFacts, 'incident' | 'entries'>): boolean {
  return endedByMerge(entries, incident.resolvedAt)
}

/** Writes the first sentences of the summary: what happened, from when to when, and for how long. */
export function happenedSentences(facts: GroupedFacts): readonly Sentence[] {
  const { incident } = facts
  const refs = [incidentRef(incident), ...intoRefs(facts), ...lastReportRefs(facts)]
  const texts = wasClockSetBack(incident)
    ? [`The incident began at ${formatTime(incident.startedAt)}, but the clock was probably set back during it`]
    : wasCritical(incident)
      ? criticalTexts(facts)
      : lastedTexts(facts)
  const firing = alertRefs(firingWhenResolved(facts))
  return [
    ...texts.map((text, index) => ({ text: `${text}.`, refs: index === 0 ? refs : [...refs, ...firing] })),
    ...silenceSentences(facts),
    ...unheardSentences(facts),
  ]
}

/** Names the services whose critical conditions belong to the incident. */
function subjectOf({ incident, services, alerts }: GroupedFacts): { readonly name: string; readonly was: string } {
  const { service } = incident
  const own = nameInCluster(service)
  const ids = new Set(alerts.filter(({ severity }) => severity === 'critical').map(({ serviceId }) => serviceId))
  const hit = distinct(services.filter(({ uuid }) => ids.has(uuid)).map(nameInCluster)).filter((one) => one !== own)
  // A failed node is one problem, whatever its pods report.
  const others = isNodeService(service) ? [] : hit
  if (others.length === 0) return { name: own, was: 'was' }
  return { name: `At least one of ${joinNames([own, ...others])}`, was: 'was' }
}

function criticalTexts(facts: GroupedFacts): readonly string[] {
  const { startedAt, resolvedAt, critical, about } = facts.incident
  const { name, was } = about === null ? subjectOf(facts) : { name: about, was: 'was' }
  const last = lastReportOf(facts)
  if (last && last.seconds > 0) {
    const fired = about === null ? `${was} critical${declaredText(facts, 'went on')}` : 'fired'
    const total = last.seconds === secondsBetween(startedAt, last.at) ? '' : ' in total'
    const known = `${name} ${fired} for at least ${formatSeconds(last.seconds)}${total}`
    const period = formatPeriod(startedAt, last.at, 'until at least')
    return [`${known}, from ${period}, when it was last reported${silencedText(facts)}${laterText(facts)}`]
  }
  if (critical.until === null) {
    const seconds = secondsOf(critical.ms, startedAt, resolvedAt ?? startedAt)
    const until =
      resolvedAt === null
        ? 'this was written; no resolution was recorded'
        : `the incident was ${wasMerged(facts) ? `merged into ${intoText(facts)}` : 'resolved'} at ${formatTime(resolvedAt)}`
    const since =
      resolvedAt !== null && seconds === secondsBetween(startedAt, resolvedAt)
        ? `since ${formatTime(startedAt)}`
        : `for ${formatSeconds(seconds)}`
    const known = whileFiring(facts, 'At that time, ')
    const fired = about === null ? `had been critical${declaredText(facts, 'had gone on')}` : 'fired'
    return [`${name} ${fired} ${since}${silencedText(facts)} when ${until}`, ...(known === '' ? [] : [known])]
  }
  const seconds = secondsOf(critical.ms, startedAt, critical.until)
  return [
    `${name} ${about === null ? `${was} critical${declaredText(facts, 'went on')}` : 'fired'} ${timesText(facts, critical.until, seconds)}${silencedText(facts)}${laterText(facts)}`,
  ]
}

/**
 * Returns when a problem was last reported whose end nobody reported, and for how many seconds it had been on by then;
 * null if its end was reported, or if it still fired. `at`: ms UTC.
 */
export function lastReportOf({
  incident,
  alerts,
  entries,
}: Ending): { readonly at: number; readonly seconds: number } | null {
  const { critical, startedAt, resolvedAt } = incident
  if (!wasCritical(incident) || wasClockSetBack(incident)) return null
  // The end was reported only after incmon had assumed it.
  const assumed = new Set(
    entries.flatMap(({ kind, code, at, ref }) =>
      kind === 'ended' && code === 'inferred' && at === critical.until ? ref : [],
    ),
  )
  const isAssumed = ({ uuid }: GroupedFact) => assumed.has(`alert/${uuid}`)
  const all = alerts.filter((one) => (one.endsAt === critical.until || isAssumed(one)) && one.source !== 'ci')
  const severe = all.filter(({ severity }) => severity === 'critical')
  const last = severe.length > 0 ? severe : all
  const isOpen = isSilentlyFiring({ incident, alerts }) && !endedByMerge(entries, resolvedAt)
  if (last.length === 0 || !(isOpen || last.every((one) => isUnreported(one) || isAssumed(one)))) return null
  if (critical.until !== null) return { at: critical.until, seconds: secondsOf(critical.ms, startedAt, critical.until) }
  const from = Math.max(startedAt, critical.reportedAt ?? 0)
  const at = last.reduce((latest, { lastSeenAt }) => Math.max(latest, lastSeenAt), from)
  const ms = Math.max(0, critical.ms - Math.max(0, (resolvedAt ?? at) - at))
  return { at, seconds: secondsOf(ms, startedAt, at) }
}

/** Returns the alerts whose last report counts as the end of the problem because they have none. */
export function lastReportRefs(facts: GroupedFacts): readonly string[] {
  return isSilentlyFiring(facts) && lastReportOf(facts) ? alertRefs(firingWhenResolved(facts)) : []
}

/** Names what users declared in incidents that were merged into this one. */
function declaredText({ incident: { declared = [] } }: GroupedFacts, went: string): string {
  return declared.length === 0 ? '' : `, or ${joinNames(declared)} ${went},`
}

function timesText({ incident: { startedAt } }: GroupedFacts, until: number, seconds: number): string {
  if (seconds === 0) return `at ${formatTime(until)}; no later report said so`
  const window = secondsBetween(startedAt, until)
  if (window === seconds) return `from ${formatPeriod(startedAt, until)} (${formatSeconds(seconds)})`
  const period = formatPeriod(startedAt, until, 'and')
  // A user can move the start of an incident to a time after its first critical period.
  return window > seconds
    ? `for ${formatSeconds(seconds)} in total between ${period}`
    : `for ${formatSeconds(seconds)} until ${formatTime(until)}`
}

/** An incident that was reopened has more than one resolution. */
function laterText(facts: GroupedFacts): string {
  const [later, afterwards] = [resolvedLater(facts), secondsAfterwards(facts, problemSeconds(facts) ?? 0)]
  if (afterwards > 0) return `, ${formatSeconds(afterwards)} of them after the incident was resolved`
  if (later === 0 || facts.entries.some(({ kind }) => kind === 'reopened')) return ''
  const at = facts.incident.resolvedAt
  const what = wasMerged(facts) ? `merged into ${intoText(facts)}` : 'resolved'
  return lastReportOf(facts) && at !== null
    ? `; the incident was ${what} at ${formatTime(at)}`
    : `; the incident was ${what} ${formatSeconds(later)} later`
}

function lastedTexts(facts: GroupedFacts): readonly string[] {
  const { incident } = facts
  const { title, resolvedAt, cause, origin, service } = incident
  const by = declarerOf(facts)
  const about = `${personFirst(by)} declared an incident of ${nameInCluster(service)}: ${quoted(title)}`
  const isDeclared = origin === 'manual' && cause !== 'silence'
  const severe = isDeclared && resolvedAt !== null ? severeTexts(facts) : []
  const merged = wasMerged(facts) ? `, when it was merged into ${intoText(facts)}` : ''
  return [...(isDeclared ? [about] : []), `${lastedText(facts)}${merged}`, ...severe]
}

function lastedText(facts: GroupedFacts): string {
  const { incident, entries } = facts
  const { startedAt, resolvedAt, cause, service, lastedMs } = incident
  const silence = cause === 'silence'
  const what = silence ? `The sender ${subjectName(service)} sent no heartbeat` : 'The incident lasted'
  if (resolvedAt === null) return `${what} from ${formatTime(startedAt)} on; no resolution was recorded`
  // What a user declared can have begun later than the first alert.
  const isWhole = lastedMs !== undefined && entries.every(({ kind }) => kind !== 'reopened')
  const from = isWhole ? resolvedAt - lastedMs : startedAt
  const window = `from ${formatPeriod(from, resolvedAt)}`
  const seconds = secondsBetween(from, resolvedAt)
  if (seconds < 0) return `${what} ${window}, but the end is before the start, so one of the times is wrong`
  const lasted = lastedSeconds(incident, resolvedAt)
  const by = resolvedSilentBy(facts)
  if (by !== null)
    return `The sender ${subjectName(service)} had sent no heartbeat since ${formatTime(from)} (${formatSeconds(lasted)}) when ${by} resolved the incident at ${formatTime(resolvedAt)}`
  return lasted === seconds
    ? `${what} ${window} (${formatSeconds(lasted)})`
    : `${what} ${formatSeconds(lasted)} in total between ${formatPeriod(startedAt, resolvedAt, 'and')}`
}

/** Says for how long a declared incident had its worst severity if it did not have it all the time. */
function severeTexts({ incident: { severe, lastedMs } }: GroupedFacts): readonly string[] {
  if (!severe || lastedMs === undefined || severe.ms < 1000 || lastedMs - severe.ms < 1000) return []
  return [`Its severity was ${severe.severity} for ${formatSeconds(Math.floor(severe.ms / 1000))} of that time`]
}

// Which silences covered the problem, who set them, and for how long.

type Facts = Pick<GroupedFacts, 'incident' | 'entries' | 'silences'>

/** Returns `, plus 20 min silenced by Ann Lee (40 min in all)`; '' if no silence covered the problem. */
export function silencedText(facts: Facts): string {
  const { critical, startedAt, resolvedAt } = facts.incident
  const seconds = Math.floor((critical.mutedMs ?? 0) / 1000)
  if (seconds === 0) return ''
  const end = critical.until ?? resolvedAt ?? startedAt
  const people = distinct(silencesOf(facts).map(({ who }) => who))
  const by = people.length === 0 ? '' : ` by ${joinNames(people)}`
  return `, plus ${formatSeconds(seconds)} silenced${by} (${formatSeconds(secondsOf(critical.ms, startedAt, end) + seconds)} in all)`
}

/**
 * Returns who set the silences that covered the problem, and when they applied. `from`: null if it is not known. `until`:
 * null if they still applied. `planned`: when they were to end, if it is known.
 */
function silencesOf({ incident, entries, silences = [] }: Facts) {
  return entries.flatMap((entry) => {
    const { code, ref, at, actor } = entry
    const isOver = code === 'unsilenced'
    if (!isOver && (code !== 'silenced' || silenceEnd(entries, entry) !== undefined)) return []
    const silence = silences.find((one) => one.ref === ref)
    const [who, name] = [silence?.createdBy ?? actor ?? 'a user', silenceName(silence)]
    const from = silence?.startsAt ?? (isOver ? null : at)
    // incmon can notice the end later, for example after a restart.
    const isEnd = isOver && silence !== undefined && silence.endsAt <= at
    const until = isEnd ? silence.endsAt : isOver ? at : null
    const by = isOver ? actor : null
    return [{ who, name, from, until, isEnd, by, planned: silence?.endsAt, ref: ref ?? incidentRef(incident) }]
  })
}

/** Says who silenced the problem, and when. */
function silenceSentences(facts: Facts): readonly Sentence[] {
  if ((facts.incident.critical.mutedMs ?? 0) < 1000) return []
  return silencesOf(facts).map(({ name, who, from, until, isEnd, by, planned, ref }) => {
    const began = from === null ? '' : ` from ${formatTime(from)}`
    const end = planned === undefined ? '' : ` until ${formatTime(planned)}`
    const what = by === null ? `it ${isEnd ? 'ended' : 'no longer applied'}` : `${by} removed it`
    const applied = until === null ? end : `; ${what} at ${formatTime(until)}`
    return { text: `${personFirst(who)} set ${name}${began}${applied}.`, refs: [ref] }
  })
}
