/** Says which silences covered the problem of an incident, who set them, and for how long. */
import type { EntryFact } from '../incident/facts.ts'
import { distinct } from '../order.ts'
import { capitalized, formatSeconds, formatTime, joinNames, secondsBetween } from '../text.ts'
import type { Sentence } from './document.ts'
import { type GroupedFacts, incidentRef } from './groups.ts'
import { secondsOf } from './metrics.ts'

type Facts = Pick<GroupedFacts, 'incident' | 'entries'>

/** Returns `, plus 20 min silenced by Ann Lee (40 min in all)`; '' if no silence covered the problem. */
export function silencedText({ incident, entries }: Facts): string {
  const { critical, startedAt, resolvedAt } = incident
  const muted = Math.floor((critical.mutedMs ?? 0) / 1000)
  if (muted === 0) return ''
  const end = critical.until ?? resolvedAt ?? startedAt
  // If nothing else interrupted the problem, the two parts add up to the whole period.
  const rest = secondsBetween(startedAt, end) - secondsOf(critical.ms, startedAt, end)
  const people = distinct(silencesOf(entries).map(({ who }) => who))
  const by = people.length === 0 ? '' : ` by ${joinNames(people)}`
  // Each of the four times is rounded down.
  const seconds = Math.abs(rest - muted) <= 2 ? rest : muted
  return `, plus ${formatSeconds(seconds)} silenced${by} (${formatSeconds(secondsOf(critical.ms, startedAt, end) + seconds)} in all)`
}

type Silenced = { readonly name: string; readonly who: string; readonly from: string; readonly until: string | null }

/** Returns who set the silences that covered the problem, and when they applied. */
function silencesOf(entries: Facts['entries']): readonly Silenced[] {
  const known = entries.filter(({ kind }) => kind === 'silence').map((entry) => ({ ...entry, ...partsOf(entry) }))
  return known.flatMap(({ name, isOver, who, from, at }): readonly Silenced[] => {
    if (isOver) return [{ name, who, from, until: formatTime(at) }]
    const hasEnd = known.some((one) => one.isOver && one.name === name && one.at >= at)
    return hasEnd ? [] : [{ name, who, from, until: null }]
  })
}

/** The entry about the end of a silence says who set it. */
function partsOf({ text, actor, at }: EntryFact) {
  const [, name = text, no, set, from] = SILENCE.exec(text) ?? []
  return { name, isOver: no !== undefined, who: set ?? actor ?? 'a user', from: from ?? formatTime(at) }
}

const SILENCE = /^(a silence|the silence \u201c.*\u201d) (no longer )?applies to .*?(?:; (.*) set it from (.*))?$/s

/** Says who silenced the problem, and when. */
export function silenceSentences({ incident, entries }: Facts): readonly Sentence[] {
  if ((incident.critical.mutedMs ?? 0) < 1000) return []
  return silencesOf(entries).map(({ name, who, from, until }) => {
    const applied = until === null ? '' : `; it no longer applied at ${until}`
    return { text: `${capitalized(who)} set ${name} from ${from}${applied}.`, refs: [incidentRef(incident)] }
  })
}
