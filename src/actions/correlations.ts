/** Lets users confirm or reject correlations, and assign a CI project to a service. */

import { IncmonError } from '../domain/error.ts'
import { distinct } from '../domain/order.ts'
import { joinNames } from '../domain/text.ts'
import { noteEdits } from '../engine/changes/incidents/edits.ts'
import { findIncident } from '../engine/changes/incidents/incidents.ts'
import { assignAlias } from '../engine/changes/services.ts'
import {
  type CorrelationRecord,
  findCorrelation,
  updateVerdict,
  updateVerdictsOfIncident,
  type Verdict,
} from '../store/correlation/correlations.ts'
import { findIncidentOfLink } from '../store/correlation/links.ts'
import { findPipeline } from '../store/correlation/pipelines.ts'
import { findIncident as findSavedIncident, type IncidentRecord } from '../store/incident/incidents.ts'
import { findCauses } from '../store/incident/suspects.ts'
import type { Deps } from './deps.ts'

const NO_LINK = 'this organization has no such correlation; GET /api/correlations lists all correlations'

type VerdictChange = {
  readonly verdict: CorrelationRecord['verdict']
  /** The name of the token or user. */
  readonly by: string
  /** Assigns later events of the pipeline's project to the link's service. Requires the `confirmed` verdict. */
  readonly alias?: boolean | undefined
}

/**
 * Stores a user's verdict on a link; null removes the verdict. If its alert belongs to an incident, the verdict applies to
 * the change as the cause of this incident. Repeating a verdict changes nothing.
 * @throws IncmonError `not-found` if the organization has no such link; `invalid` if an alias is requested for a
 * rollout or without the `confirmed` verdict; `conflict` if another service has the alias, or if the pipeline's project
 * was not recorded. If an error is thrown, the verdict is not stored.
 */
export async function setVerdict(
  deps: Deps,
  organizationId: number,
  id: string,
  judgement: VerdictChange,
): Promise<void> {
  const { verdict, by, alias = false } = judgement
  const link = findCorrelation(deps.db, organizationId, id)
  if (!link) throw new IncmonError('not-found', NO_LINK)
  if (alias) {
    const project = projectOf(deps, organizationId, link, verdict)
    const conflict = 'the project is already an alias of another service; remove it from that service first'
    await deps.engine.run(organizationId, (ctx) =>
      assignAlias(ctx, link.serviceId, { kind: 'ci-project', value: project }, conflict),
    )
  }
  const of = verdict === link.verdict ? undefined : findIncidentOfLink(deps.db, organizationId, link)
  const incident = of && findSavedIncident(deps.db, organizationId, of)
  if (incident) await setVerdictOfIncident(deps, organizationId, incident, link.change, { verdict, by })
  else updateVerdict(deps.db, organizationId, id, { verdict, by })
  deps.announce({ kind: 'correlation', id: link.id, organizationId })
  if (alias) deps.announce({ kind: 'service', id: link.serviceId, organizationId })
}

/**
 * Stores a user's verdict on a change as the cause of an incident; null removes the verdict. The verdict applies to all
 * links between the alerts of the incident and the change, or the rollouts that a pipeline caused.
 * @throws IncmonError `conflict` if there is no such link
 */
export async function setVerdictOfIncident(
  deps: Deps,
  organizationId: number,
  incident: IncidentRecord,
  change: { readonly kind: string; readonly ref: string },
  verdict: Verdict,
): Promise<void> {
  const { suspects } = findCauses(deps.db, organizationId, incident, deps.now())
  const { rollouts = [] } = suspects.find(({ kind, ref }) => kind === change.kind && ref === change.ref) ?? {}
  const changes = [change, ...rollouts.map((ref) => ({ kind: 'rollout', ref }))]
  const judged = changes.filter((change) => updateVerdictsOfIncident(deps.db, incident.rowId, change, verdict) > 0)
  if (judged.length === 0) throw new IncmonError('conflict', 'This suspect no longer has a link. Reload the incident.')
  await noteVerdict(deps, organizationId, incident.id, judged, verdict)
  deps.announce({ kind: 'incident', id: incident.id, organizationId })
}

/** Adds a verdict to the timeline of the incident. */
async function noteVerdict(
  { engine }: Deps,
  organizationId: number,
  incidentId: string,
  changes: readonly { readonly kind: string; readonly ref: string }[],
  { verdict, by }: Verdict,
): Promise<void> {
  const names = joinNames(distinct(changes.map(({ kind, ref }) => `${kind} ${ref}`)))
  const text = verdict === null ? `withdrew the verdict on ${names}` : `${verdict} ${names} as the cause`
  await engine.run(organizationId, (ctx, now) => {
    const incident = findIncident(ctx, incidentId)
    if (incident) noteEdits(ctx, incident, [text], by, now)
  })
}

function projectOf(
  { db }: Deps,
  organizationId: number,
  { change }: CorrelationRecord,
  verdict: VerdictChange['verdict'],
): string {
  if (verdict !== 'confirmed')
    throw refused('is valid only with the verdict confirmed; send both fields, or omit this one')
  if (change.kind === 'rollout')
    throw refused('is not valid for a rollout, which has no project; omit this field, or confirm a pipeline')
  const project = findPipeline(db, organizationId, change.ref)?.facts.project
  if (project !== undefined) return project
  const message = 'the project of this pipeline was not recorded; use PATCH /api/services/:id instead'
  throw new IncmonError('conflict', message)
}

function refused(message: string): IncmonError {
  return new IncmonError('invalid', `body: alias: ${message}`, [{ path: 'alias', message }])
}
