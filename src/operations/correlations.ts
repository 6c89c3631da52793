/** What people do with correlations: confirm or reject a suspicion, and assign a project for good. */
import { IncmonError } from '../domain/error.ts'
import { findAlias, listAliases, replaceAliases } from '../store/aliases.ts'
import { type CorrelationRecord, findCorrelation, updateVerdict } from '../store/correlations.ts'
import { findPipeline } from '../store/pipelines.ts'
import { findServiceRow } from '../store/service-rows.ts'
import type { Deps } from './deps.ts'

const NO_LINK = 'no such correlation in this organization; GET /api/correlations lists them'

export type Judgement = {
  readonly verdict: CorrelationRecord['verdict']
  /** Only with `confirmed`: from now on all that the pipeline's project tells belongs to the link's service. */
  readonly alias?: boolean | undefined
}

/**
 * Notes a person's verdict on a link; null takes it back. The same verdict twice is the same as once.
 * @throws IncmonError `not-found` where the organization has no such link; `invalid` where an alias is asked for that
 * cannot be; `conflict` where another service has it. Then the verdict is not noted either.
 */
export function setVerdict(deps: Deps, organizationId: number, uuid: string, judgement: Judgement): void {
  const { verdict, alias = false } = judgement
  const link = findCorrelation(deps.db, organizationId, uuid)
  if (!link) throw new IncmonError('not-found', NO_LINK)
  deps.db.transaction(() => {
    updateVerdict(deps.db, organizationId, uuid, verdict)
    if (alias) assignProject(deps, organizationId, link, verdict)
  })
  deps.announce({ kind: 'correlation', id: link.id, organizationId })
  if (alias) deps.announce({ kind: 'service', id: link.serviceId, organizationId })
}

function assignProject(
  { db }: Deps,
  organizationId: number,
  { change, serviceId }: CorrelationRecord,
  verdict: Judgement['verdict'],
): void {
  if (verdict !== 'confirmed') throw refused('goes only with the verdict confirmed; send both, or leave it out')
  if (change.kind === 'rollout') throw refused('a rollout has no project; leave it out, or confirm a pipeline')
  const project = findPipeline(db, organizationId, change.ref)?.facts.project
  const service = findServiceRow(db, organizationId, serviceId)
  if (project === undefined || !service) {
    throw new IncmonError(
      'conflict',
      'the project of this pipeline is not in the record; PATCH /api/services/:id instead',
    )
  }
  const ref = { kind: 'ci-project', value: project } as const
  const owner = findAlias(db, organizationId, [ref])
  if (owner && owner.serviceId !== service.id) {
    throw new IncmonError('conflict', 'the project is an alias of another service already; take it from there first')
  }
  if (!owner) replaceAliases(db, organizationId, service.id, [...listAliases(db, service.id), ref])
}

function refused(message: string): IncmonError {
  return new IncmonError('invalid', `body: alias: ${message}`, [{ path: 'alias', message }])
}
