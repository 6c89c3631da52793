/** Says which silences covered the problem of an incident, who set them, and for how long. */
import { silenceEnd } from '../incident/timeline-entries.ts'
import { distinct } from '../order.ts'
import { silenceName } from '../silence/silence.ts'
import { formatSeconds, formatTime, joinNames } from '../text.ts'
import type { Sentence } from './document.ts'
import { type GroupedFacts, incidentRef, personFirst } from './groups.ts'
import { secondsOf } from './metrics.ts'

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
export function silenceSentences(facts: Facts): readonly Sentence[] {
  if ((facts.incident.critical.mutedMs ?? 0) < 1000) return []
  return silencesOf(facts).map(({ name, who, from, until, isEnd, by, planned, ref }) => {
    const began = from === null ? '' : ` from ${formatTime(from)}`
    const end = planned === undefined ? '' : ` until ${formatTime(planned)}`
    const what = by === null ? `it ${isEnd ? 'ended' : 'no longer applied'}` : `${by} removed it`
    const applied = until === null ? end : `; ${what} at ${formatTime(until)}`
    return { text: `${personFirst(who)} set ${name}${began}${applied}.`, refs: [ref] }
  })
}
