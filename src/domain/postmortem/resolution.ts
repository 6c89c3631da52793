/** The resolution section: what recovered, how that is known, and who resolved the incident. */
import type { Resolution } from '../alert/alert.ts'
import { changeText } from '../incident/timeline.ts'
import type { Sentence } from './document.ts'
import type { AlertFact, ChangeFact, EntryFact, IncidentFact, PostmortemFacts } from './facts.ts'
import { alertRefs, incidentRef } from './sections.ts'
import { counted, ordered, shownTime } from './words.ts'

/** How the end of an alert is known. */
const KNOWN_BY: Readonly<Record<Resolution, string>> = {
  reported: 'the source reported the end',
  inferred: 'the source stopped repeating it',
  expired: 'no further news arrived',
  manual: 'a person ended it',
}

export function resolutionOf(facts: PostmortemFacts): { readonly sentences: readonly Sentence[] } {
  const { incident, alerts, entries, changes } = facts
  const ref = incidentRef(incident)
  const sentences = [
    ...changes.filter((change) => isRemedy(change, incident)).map(remedySentence),
    ...endSentences(alerts),
    ...entries.filter(({ kind }) => kind === 'reopened').map((entry) => reopenedSentence(entry, ref)),
    { text: resolvedText(incident, entries), refs: [ref] },
  ]
  return { sentences }
}

/** Returns whether a rollout or deploy ran between the opening and the resolution. Whether it helped is not judged. */
export function isRemedy({ kind, outcome, startsAt }: ChangeFact, { createdAt, resolvedAt }: IncidentFact): boolean {
  const within = startsAt >= createdAt && (resolvedAt === null || startsAt <= resolvedAt)
  return within && (kind === 'rollout' || outcome === 'deployed')
}

function remedySentence(change: ChangeFact): Sentence {
  const text = `Changed during the incident: ${changeText(change)}, ${shownTime(change.startsAt)}.`
  return { text, refs: [`event/${change.eventId}`] }
}

/** Returns one sentence for each way in which alerts ended, earliest end first. */
function endSentences(alerts: readonly AlertFact[]): readonly Sentence[] {
  const ended = ordered(
    alerts.flatMap((alert) => (alert.endsAt === null ? [] : [{ alert, endsAt: alert.endsAt }])),
    ({ alert, endsAt }) => [endsAt, alert.name, alert.uuid],
  )
  const ways = [...new Set(ended.map(({ alert }) => alert.resolution))]
  const firing = alerts.filter(({ endsAt }) => endsAt === null)
  return [
    ...ways.map((way) => endSentence(ended.filter(({ alert }) => alert.resolution === way))),
    ...firing.map((alert) => ({ text: `${alert.name} has no end in the record.`, refs: alertRefs([alert]) })),
  ]
}

function endSentence(ended: readonly { readonly alert: AlertFact; readonly endsAt: number }[]): Sentence {
  const [first, last] = [ended[0], ended.at(-1)]
  const refs = alertRefs(ended.map(({ alert }) => alert))
  if (!first || !last) return { text: '', refs }
  const known = first.alert.resolution === null ? 'the reason is not in the record' : KNOWN_BY[first.alert.resolution]
  const when =
    first.endsAt === last.endsAt ? shownTime(first.endsAt) : `${shownTime(first.endsAt)} to ${shownTime(last.endsAt)}`
  const names = new Set(ended.map(({ alert }) => alert.name))
  const what = names.size === 1 && ended.length === 1 ? first.alert.name : counted(ended.length, 'alert')
  const which = names.size <= 3 && ended.length > 1 ? ` (${[...names].join(', ')})` : ''
  return { text: `Ended ${when}: ${what}${which}; ${ended.length > 1 ? plural(known) : known}.`, refs }
}

function plural(known: string): string {
  return known.replace(/\bit$/, 'them')
}

function reopenedSentence({ at, actor }: EntryFact, ref: string): Sentence {
  return { text: `Reopened ${shownTime(at)} by ${actor ?? 'incmon'}.`, refs: [ref] }
}

function resolvedText({ resolvedAt }: IncidentFact, entries: readonly EntryFact[]): string {
  if (resolvedAt === null) return 'Resolved: not in the record.'
  const last = entries.filter(({ kind, text }) => kind === 'status' && /^resolved\b/.test(text)).at(-1)
  if (!last) return `Resolved ${shownTime(resolvedAt)}; by whom is not in the record.`
  if (last.actor !== null) return `Resolved ${shownTime(resolvedAt)} by ${last.actor}.`
  const why = last.text.replace(/^resolved:? ?/, '')
  const closed = last.at === resolvedAt ? '' : `; closed ${shownTime(last.at)}`
  return `Resolved ${shownTime(resolvedAt)} automatically${why === '' ? '' : `: ${why}`}${closed}.`
}
