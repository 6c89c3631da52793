/** Hints about the usual meaning of the conditions, and how often the conditions occurred before. */
import { ordered } from '../order.ts'
import { formatDay, formatTime, formatTimes } from '../text.ts'
import { DAY } from '../units.ts'
import type { Postmortem, Sentence } from './document.ts'
import { alertRefs, type GroupedFact, type GroupedFacts, incidentRef } from './groups.ts'

/** Returns the hints for the conditions in order of the conditions, without duplicates. */
export function hintsOf(alerts: readonly GroupedFact[]): readonly Sentence[] {
  const byText = Map.groupBy(
    alerts.filter(({ hint }) => hint !== null && hint.trim() !== ''),
    ({ name, hint }) => `${name}: ${hint}`,
  )
  return [...byText].map(([text, of]) => ({ text, refs: alertRefs(of) }))
}

/** Returns how often the same conditions occurred before the incident. */
export function recurrenceOf({ incident, earlier, recordedSince }: GroupedFacts): Postmortem['recurrence'] {
  const isShort = recordedSince > incident.startedAt - 90 * DAY
  const before = ordered(
    earlier.filter(({ startsAt }) => startsAt < incident.startedAt && startsAt >= incident.startedAt - 90 * DAY),
    ({ startsAt, ref }) => [startsAt, ref],
  )
  const lately = before.filter(({ startsAt }) => startsAt >= incident.startedAt - 30 * DAY)
  const last = before.at(-1)
  const period = isShort ? 'before this incident' : 'in the previous 90 days'
  const sentences: Sentence[] = last
    ? [
        {
          text: `Alerts for the same conditions began ${seenTimes(lately.length)} in the previous 30 days and ${seenTimes(before.length)} in the previous 90 days.`,
          refs: before.map(({ ref }) => ref),
        },
        { text: `Previous occurrence: ${last.name}, ${formatTime(last.startsAt)}.`, refs: [last.ref] },
      ]
    : [
        {
          text: `No alert for the same conditions was recorded ${period}.`,
          refs: [incidentRef(incident)],
        },
      ]
  const short = { text: `The record begins on ${formatDay(recordedSince)}.`, refs: [incidentRef(incident)] }
  return { days30: lately.length, days90: before.length, sentences: isShort ? [...sentences, short] : sentences }
}

function seenTimes(count: number): string {
  return count === 0 ? 'not once' : formatTimes(count)
}
