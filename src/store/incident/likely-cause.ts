/** Describes the likely cause of an incident in one sentence, for use in messages. */

import { isDeploy } from '../../domain/event/pipeline.ts'
import { criticalOf } from '../../domain/incident/periods.ts'
import { LIKELY, likelyCauseOf, linkText, placeOf } from '../../domain/suspect/likely-cause.ts'
import { presentOf } from '../../domain/suspect/searched.ts'
import type { Suspect, SuspectFacts } from '../../domain/suspect/suspect.ts'
import { listPipelinesNear } from '../correlation/pipelines.ts'
import { findServiceRowId } from '../service/services.ts'
import type { Db } from '../sqlite/open.ts'
import { findIncident, type IncidentRecord } from './incidents.ts'
import { findJudgedSuspects } from './suspects.ts'

const MAX_NAMED = 3

type FoundCause = {
  readonly cause: string
  readonly suspects: readonly Pick<Suspect, 'kind' | 'ref' | 'serviceId' | 'score'>[]
}

/**
 * Finds the likely cause. Returns null if the incident does not exist. `cause` is '' unless a cause is at least likely,
 * or a possible change of the incident's service, began before the problem, and is connected by more than time.
 * @param names the conditions that a message is about; null for all that fire
 */
export function findLikelyCause(
  db: Db,
  organizationId: number,
  incidentId: string,
  now: number,
  names: readonly string[] | null = null,
): FoundCause | null {
  const incident = findIncident(db, organizationId, incidentId)
  if (!incident) return null
  const { startedAt } = incident
  const replacedAt = replacementOf(db, organizationId, incident)
  const isReplaced = ({ kind, serviceId, startsAt, verdict }: Judged) =>
    kind === 'pipeline' && serviceId === incident.serviceId && verdict !== 'confirmed' && (startsAt ?? now) < replacedAt
  const present = (facts: SuspectFacts) => presentOf(facts, names)
  const { suspects: all } = findJudgedSuspects(db, organizationId, incident, now, undefined, present)
  const judged = all.filter((one) => !isReplaced(one))
  // The service of the incident is the victim, not the cause.
  const others = judged.filter(({ isOwn }) => !isOwn)
  const suspects = others.filter((one) => one.verdict === 'confirmed' || (!one.onlyTime && beganBefore(one, startedAt)))
  const named = suspects.slice(0, MAX_NAMED).map(({ kind, ref, serviceId, score }) => ({ kind, ref, serviceId, score }))
  return { cause: sentenceOf(suspects, incident), suspects: named }
}

type Judged = ReturnType<typeof findJudgedSuspects>['suspects'][number]

/** Returns when the last deploy began that followed the end of a problem, before it came back; 0 if there is none. */
function replacementOf(db: Db, organizationId: number, { serviceId, problem }: IncidentRecord): number {
  const { since } = problem
  const ended = criticalOf(problem).at(-2)
  const rowId = since && ended ? findServiceRowId(db, organizationId, serviceId) : undefined
  if (rowId === undefined || since === null || !ended) return 0
  const deploys = listPipelinesNear(db, rowId, ended.from, since).filter(({ facts }) => facts.jobs.some(isDeploy))
  return Math.max(
    0,
    ...deploys.flatMap(({ startsAt }) => (startsAt >= ended.from && startsAt <= since ? startsAt : [])),
  )
}

function beganBefore({ startsAt, since }: Judged, startedAt: number): boolean {
  const beganAt = startsAt ?? since ?? null
  return beganAt !== null && beganAt <= startedAt
}

function sentenceOf(
  suspects: readonly Judged[],
  { startedAt, serviceId }: Pick<IncidentRecord, 'startedAt' | 'serviceId'>,
): string {
  const { code, heading, suspect, before } = likelyCauseOf(suspects, startedAt)
  if (suspect === null) return ''
  const isOwnChange = code === 'possible' && suspect.serviceId === serviceId
  if (code === 'confirmed' || code === 'likely' || isOwnChange) {
    // A message can be about what began later.
    const link = linkText(suspect, startedAt, 'the incident')
    return `${heading}: ${before.toLowerCase()}${suspect.ref}${link === '' ? '' : `, ${link}`}.`
  }
  const isLikely = code === 'none' && suspect.verdict === null && suspect.score >= LIKELY
  return isLikely ? `Likely cause: ${placeOf(suspect)}${suspect.ref}.` : ''
}
