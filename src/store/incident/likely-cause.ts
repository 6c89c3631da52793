/** Describes the likely cause of an incident in one sentence, for use in messages. */
import { firstSymptom } from '../../domain/alert/first-symptom.ts'
import { likelyCauseOf } from '../../domain/suspect/likely-cause.ts'
import type { Suspect, SuspectAlert } from '../../domain/suspect/suspect.ts'
import type { Db } from '../sqlite/open.ts'
import { findIncident } from './incidents.ts'
import { findJudgedSuspects } from './suspects.ts'

const MAX_NAMED = 3

type FoundCause = {
  readonly cause: string
  readonly suspects: readonly Pick<Suspect, 'kind' | 'ref' | 'serviceId' | 'score'>[]
}

/**
 * Finds the likely cause. Returns null if the incident does not exist. If no cause is likely, or if only the timing
 * suggests a cause, `cause` describes the first alert instead.
 */
export function findLikelyCause(db: Db, organizationId: number, incidentId: string, now: number): FoundCause | null {
  const incident = findIncident(db, organizationId, incidentId)
  if (!incident) return null
  const { suspects, alerts } = findJudgedSuspects(db, organizationId, incident, now)
  const { heading, suspect, before, after } = likelyCauseOf(suspects, incident.startedAt)
  const isNamed = heading !== 'No related change found' && heading !== 'Only connected by time'
  const sentence =
    suspect !== null && isNamed
      ? `${heading}: ${before.toLowerCase()}${suspect.ref}${afterText(after)}`
      : firstAlertText(alerts, incident.title)
  const named = suspects.slice(0, MAX_NAMED).map(({ kind, ref, serviceId, score }) => ({ kind, ref, serviceId, score }))
  return { cause: sentence, suspects: named }
}

/**
 * Returns text such as `First alert: p99 above 2 s.`, or '' if there is no alert or if the title already contains the
 * alert's summary.
 */
function firstAlertText(alerts: readonly SuspectAlert[], title: string): string {
  const first = firstSymptom(alerts.filter(({ inIncident }) => inIncident))
  const summary = first?.summary.replace(/[\s.]+$/, '') ?? ''
  return summary === '' || title.includes(summary) ? '' : `First alert: ${summary.slice(0, 200).toWellFormed()}.`
}

/** Returns text such as `, started 3 min earlier.` The message already says when the problem began. */
function afterText(after: string): string {
  return after === '.' ? after : `,${after.replace(' before the first alert', ' earlier')}`
}
