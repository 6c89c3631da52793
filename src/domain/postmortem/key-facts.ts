/** The four facts at the top of a postmortem: how long it was critical, when it was detected, its cause and its fix. */
import { changeName } from '../incident/change-text.ts'
import { isOnlyTime, likelihoodOf } from '../suspect/likely-cause.ts'
import { formatSeconds, joinNames } from '../text.ts'
import { problemSeconds, wasCritical } from './critical.ts'
import type { KeyFact, Metric, Postmortem } from './document.ts'
import { type GroupedFacts, incidentRef } from './groups.ts'
import { fixesOf } from './resolution.ts'

/** Returns the four facts. Says what is not known. */
export function keyFactsOf(
  facts: GroupedFacts,
  { changes }: Postmortem['contributing'],
  ttd: Metric,
): readonly KeyFact[] {
  const ref = incidentRef(facts.incident)
  const fixes = fixesOf(facts)
  const detected = ttd.seconds === null ? 'not known' : formatSeconds(ttd.seconds)
  const [cause] = changes
  return [
    { label: 'Critical for', text: criticalText(facts), refs: [ref] },
    { label: 'Detected after', text: detected, refs: ttd.sentence.refs },
    cause
      ? { label: 'Cause', text: causeText(cause), refs: cause.sentence.refs }
      : { label: 'Cause', text: 'no related change found', refs: [ref] },
    fixes.length > 0
      ? {
          label: 'Fix',
          text: `probably ${joinNames(fixes.map(changeName))}`,
          refs: fixes.map(({ eventId }) => `event/${eventId}`),
        }
      : { label: 'Fix', text: 'no fix recorded', refs: [ref] },
  ]
}

function criticalText(facts: GroupedFacts): string {
  const { incident } = facts
  const seconds = problemSeconds(facts)
  if (wasCritical(incident)) return seconds === null ? 'not over at the resolution' : formatSeconds(seconds)
  const what = incident.cause === 'silence' ? 'the source was silent' : 'not critical; the incident lasted'
  return seconds === null
    ? 'not known'
    : `${what} ${incident.cause === 'silence' ? 'for ' : ''}${formatSeconds(seconds)}`
}

function causeText(cause: Postmortem['contributing']['changes'][number]): string {
  const onlyTime = isOnlyTime(cause.reasons) && cause.verdict === null
  if (onlyTime) return 'no connected change found'
  const judged = cause.verdict === 'confirmed' ? 'confirmed' : likelihoodOf({ score: cause.score, onlyTime })
  return `${changeName(cause)} (${judged})`
}
