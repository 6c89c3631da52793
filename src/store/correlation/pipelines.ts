/** Pipelines. All notifications about a pipeline are merged into one record. */
import type { InferResult } from 'kysely'
import { type Change, intervalOf, type LivePipeline, outcomeOf } from '../../domain/correlation/change.ts'
import { deployedServices, deploysTo, runsCommit } from '../../domain/correlation/correlation.ts'
import { type Placed, reaches } from '../../domain/service/environment.ts'
import { listImages } from '../service/images.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** The maximum number of pipelines to read around the time of an alert. */
const MAX_NEAR = 50
/** The maximum number of pipelines to read around the time of an incident. */
const MAX_OF_ORGANIZATION = 500
const MAX_LINKED = 100

const byRef = query<{ organizationId: number; ref: string }>()((sql, hole) =>
  select(sql).where('pipelines.organization_id', '=', hole('organizationId')).where('pipelines.ref', '=', hole('ref')),
)

export function findPipeline(db: Db, organizationId: number, ref: string): LivePipeline | null {
  const row = db.first(byRef, { organizationId, ref })
  return row ? toRow(row) : null
}

const near = query<{ serviceId: number; from: number; to: number }>()((sql, hole) =>
  select(sql)
    .where('pipelines.service_id', '=', hole('serviceId'))
    .where('pipelines.starts_at', '>=', hole('from'))
    .where('pipelines.starts_at', '<=', hole('to'))
    .orderBy('pipelines.starts_at', 'desc')
    .limit(MAX_NEAR),
)

/**
 * Lists the pipelines that changed a service and started in this period, newest first. A pipeline that deployed only to
 * other environments changed nothing here.
 */
export function listPipelinesNear(db: Db, serviceId: number, from: number, to: number): LivePipeline[] {
  const own = db
    .all(near, { serviceId, from, to })
    .flatMap((row) => (reaches(JSON.parse(row.facts), row) ? toRow(row) : []))
  const others = db.all(building, { serviceId, from, to }).map(toRow)
  const deployed = others.length === 0 ? [] : others.flatMap(changeOf(db, serviceId))
  return [...own, ...deployed].toSorted((a, b) => b.startsAt - a.startsAt)
}

/** Returns the pipelines of other services as changes of this service, if their image or their jobs say so. */
function changeOf(db: Db, serviceId: number): (pipeline: LivePipeline) => LivePipeline[] {
  const images = listImages(db, serviceId)
  const service = db.first(named, { serviceId })
  return (pipeline) => {
    const { facts } = pipeline
    const isDeployed = service !== undefined && (runsCommit(images, facts) || deploysTo(facts, service))
    return isDeployed ? [{ ...pipeline, ...intervalOf(facts, service) }] : []
  }
}

const named = query<{ serviceId: number }>()((sql, hole) =>
  sql.selectFrom('services').select(['cluster', 'namespace', 'name']).where('id', '=', hole('serviceId')),
)

/** Finds a pipeline that changed a service, as in `listPipelinesNear`. Returns null if it did not change the service. */
export function findPipelineOf(db: Db, organizationId: number, serviceId: number, ref: string): LivePipeline | null {
  const row = db.first(byRef, { organizationId, ref })
  if (!row) return null
  const found = toRow(row)
  if (found.serviceId !== serviceId) return changeOf(db, serviceId)(found)[0] ?? null
  return reaches(found.facts, row) ? found : null
}

/** Pipelines of other services of the organization. One of them may have deployed the service, too. */
const building = query<{ serviceId: number; from: number; to: number }>()((sql, hole) =>
  select(sql)
    .where('pipelines.organization_id', '=', (eb) =>
      eb.selectFrom('services as own').select('own.organization_id').where('own.id', '=', hole('serviceId')),
    )
    .where('pipelines.service_id', '!=', hole('serviceId'))
    .where('pipelines.starts_at', '>=', hole('from'))
    .where('pipelines.starts_at', '<=', hole('to'))
    .orderBy('pipelines.starts_at', 'desc')
    .limit(MAX_NEAR),
)

const linked = query<{ alertId: number }>()((sql, hole) =>
  select(sql)
    .innerJoin('correlations', (join) =>
      join
        .onRef('correlations.organization_id', '=', 'pipelines.organization_id')
        .onRef('correlations.change_ref', '=', 'pipelines.ref'),
    )
    .where('correlations.alert_id', '=', hole('alertId'))
    .where('correlations.change_kind', '=', 'pipeline')
    .orderBy('pipelines.starts_at', 'desc')
    .limit(MAX_LINKED),
)

/**
 * Lists the newest 100 pipelines linked to an alert. If the alert's start has moved to an earlier time, these pipelines
 * may have started too late to be its cause.
 */
export function listLinkedPipelines(db: Db, alertId: number): LivePipeline[] {
  return db.all(linked, { alertId }).map(toRow)
}

/**
 * Returns a service's last deploy that ended at or before `to` and has no linked alert. Searches the last 50 pipelines.
 * Links that a user rejected are ignored.
 */
export function findLastGoodDeploy(db: Db, serviceId: number, to: number): LivePipeline | null {
  const isGood = ({ ref, facts, endsAt }: LivePipeline) =>
    endsAt <= to && outcomeOf(facts) === 'deployed' && db.first(linkOf, { serviceId, ref }) === undefined
  return listPipelinesNear(db, serviceId, 0, to).find(isGood) ?? null
}

const linkOf = query<{ serviceId: number; ref: string }>()((sql, hole) =>
  sql
    .selectFrom('correlations')
    .select('id')
    .where('service_id', '=', hole('serviceId'))
    .where('change_ref', '=', hole('ref'))
    .where((eb) => eb.or([eb('verdict', 'is', null), eb('verdict', '=', 'confirmed')]))
    .limit(1),
)

/** Lists an organization's pipelines that started in this period, newest first. */
export function listPipelinesOfOrganization(db: Db, organizationId: number, from: number, to: number): LivePipeline[] {
  return db
    .all(
      select(db.sql)
        .where('pipelines.organization_id', '=', organizationId)
        .where('pipelines.starts_at', '>=', from)
        .where('pipelines.starts_at', '<=', to)
        .orderBy('pipelines.starts_at', 'desc')
        .limit(MAX_OF_ORGANIZATION),
    )
    .map(toRow)
}

function select(sql: Db['sql']) {
  return sql
    .selectFrom('pipelines')
    .innerJoin('events', 'events.id', 'pipelines.event_id')
    .innerJoin('services', 'services.id', 'pipelines.service_id')
    .select(['pipelines.id', 'pipelines.ref', 'pipelines.event_id', 'pipelines.facts', 'pipelines.service_id'])
    .select(['pipelines.starts_at', 'pipelines.ends_at', 'events.uuid as event', 'services.uuid as service'])
    .select(['services.cluster', 'services.namespace', 'services.name'])
}

function toRow(row: InferResult<ReturnType<typeof select>>[number]): LivePipeline {
  return {
    kind: 'pipeline',
    ref: row.ref,
    service: uuidFromBytes(row.service),
    serviceId: row.service_id,
    eventId: uuidFromBytes(row.event),
    facts: JSON.parse(row.facts),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  }
}

// The services that each pipeline deployed.

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
