/** The services that each pipeline deployed. */
import { type Change, intervalOf } from '../../domain/correlation/change.ts'
import { deployedServices, runsCommit } from '../../domain/correlation/correlation.ts'
import type { Placed } from '../../domain/service/environment.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'
import { listPipelinesOfOrganization } from './pipelines.ts'

type Service = Placed & { readonly id: string }

/** The maximum number of images to read. */
const MAX_IMAGES = 5_000

/** Lists a change for each service that a pipeline deployed, which can be several services of a monorepo. */
export function listDeployed(
  db: Db,
  organizationId: number,
  services: readonly Service[],
  { from, to }: { readonly from: number; readonly to: number },
): Change[] {
  const images = pulledSince(db, organizationId, from)
  const byName = Map.groupBy(services, ({ name }) => name)
  return listPipelinesOfOrganization(db, organizationId, from, to).flatMap((pipeline) => {
    const { facts } = pipeline
    const targets = [...images].filter(([, of]) => runsCommit(of, facts)).map(([service]) => service)
    if (targets.length > 0) return targets.map((service) => ({ ...pipeline, service }))
    const named = deployedServices(facts, (name) => byName.get(name) ?? [])
    const others = named.filter((one) => one.id !== pipeline.service)
    return [pipeline, ...others.map((one) => ({ ...pipeline, service: one.id, ...intervalOf(facts, one) }))]
  })
}

/** Returns the images that each service pulled since a time, by the UUID of the service. */
function pulledSince(db: Db, organizationId: number, from: number) {
  const rows = db.sql
    .selectFrom('images')
    .innerJoin('services', 'services.id', 'images.service_id')
    .select(['services.uuid as service', 'path', 'tag'])
    .where('services.organization_id', '=', organizationId)
    .where('pulled_at', '>=', from)
    .limit(MAX_IMAGES)
  return Map.groupBy(db.all(rows), ({ service }) => uuidFromBytes(service))
}
