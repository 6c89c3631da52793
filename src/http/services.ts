/** /api/services: the monitored workloads. */
import * as v from 'valibot'
import { ALIAS_KINDS } from '../domain/service.ts'
import { createService, mergeServices, updateService } from '../operations/services.ts'
import { listRecentAlerts } from '../store/alerts.ts'
import { listAliasesOf } from '../store/aliases.ts'
import { listOpenIncidents } from '../store/incidents.ts'
import { findService, listServices, type ServiceRecord } from '../store/services.ts'
import { alertShape, showAlert } from './alerts.ts'
import { optionalTextField, textField } from './body.ts'
import { incidentShape, showIncident } from './incidents.ts'
import { notFound } from './problem.ts'
import { flagParameter, wordParameter } from './query.ts'
import { type Call, type Route, rest } from './route.ts'
import { countShape, instantShape, refusals, shownInstant, success, uuidShape } from './shapes.ts'

const MAX_NAME = 253
const MAX_ALIASES = 100
const RECENT_ALERTS = 20

const serviceShape = v.object({
  id: uuidShape,
  name: v.string(),
  namespace: v.string(),
  cluster: v.string(),
  status: v.picklist(['healthy', 'degraded', 'critical']),
  score: v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
  lastAlertAt: v.nullable(instantShape),
  archived: v.boolean(),
})

const wholeServiceShape = v.object({
  ...serviceShape.entries,
  recentAlerts: v.array(alertShape),
  openIncidents: v.array(incidentShape),
  health: v.array(v.object({ alertId: uuidShape, reason: v.string(), penalty: countShape })),
  aliases: v.array(v.object({ kind: v.picklist(ALIAS_KINDS), value: v.string() })),
})

const aliasesField = v.pipe(
  v.array(v.object({ kind: wordParameter(ALIAS_KINDS), value: textField(500) }), 'expected a list of { kind, value }'),
  v.maxLength(MAX_ALIASES, `too many; at most ${MAX_ALIASES}`),
)

export const serviceRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/services',
    summary: 'All services, by namespace and name',
    scope: 'read',
    query: v.object({ archived: flagParameter }),
    answers: success(v.array(serviceShape), 'The services; those archived only with ?archived=1'),
    handle: ({ c, deps, identity, query }) =>
      c.json(listServices(deps.db, identity.organizationId, deps.now(), query.archived ?? false).map(showService)),
  }),
  rest({
    method: 'POST',
    path: '/api/services',
    summary: 'Make a service',
    scope: 'write',
    body: v.object({
      name: textField(MAX_NAME),
      // Cluster-wide things have the namespace ''.
      namespace: optionalTextField(MAX_NAME),
      aliases: v.optional(aliasesField),
    }),
    answers: { ...success(wholeServiceShape, 'The service; Location is its address', 201), ...refusals(409) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      const { cluster, organizationId } = identity
      const id = createService(deps, organizationId, { ...body, cluster, aliases: body.aliases ?? [] })
      c.header('Location', `/api/services/${id}`)
      return c.json(showWhole({ ...call, id }), 201)
    },
  }),
  rest({
    method: 'GET',
    path: '/api/services/:id',
    summary: 'One service with its recent alerts, open incidents and health',
    scope: 'read',
    answers: success(wholeServiceShape, 'The service, its newest 20 alerts, and what its score is made of'),
    handle: (call) => call.c.json(showWhole(call)),
  }),
  rest({
    method: 'PATCH',
    path: '/api/services/:id',
    summary: 'Rename a service or replace its aliases',
    scope: 'write',
    body: v.object({ name: v.optional(textField(MAX_NAME)), aliases: v.optional(aliasesField) }),
    answers: { ...success(wholeServiceShape, 'The service'), ...refusals(409) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      updateService(deps, identity.organizationId, requireService(call).id, body)
      return c.json(showWhole(call))
    },
  }),
  rest({
    method: 'POST',
    path: '/api/services/:id/merge',
    summary: 'Merge a service into another one, which keeps its name',
    scope: 'write',
    body: v.object({ into: v.pipe(v.string(), v.uuid('expected a UUID')) }),
    answers: { ...success(wholeServiceShape, 'The service that remains'), ...refusals(409, 422) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      mergeServices(deps, identity.organizationId, requireService(call).id, body.into)
      return c.json(showWhole({ ...call, id: body.into }))
    },
  }),
]

function showWhole(call: Call<unknown, unknown>) {
  const { deps, identity } = call
  const service = requireService(call)
  const { organizationId } = identity
  const recent = listRecentAlerts(deps.db, organizationId, service.id, RECENT_ALERTS)
  return {
    ...showService(service),
    recentAlerts: recent.map(showAlert),
    openIncidents: listOpenIncidents(deps.db, organizationId, service.id).map(showIncident),
    health: service.health,
    aliases: listAliasesOf(deps.db, organizationId, service.id),
  }
}

function showService(service: ServiceRecord): v.InferInput<typeof serviceShape> {
  return {
    id: service.id,
    name: service.name,
    namespace: service.namespace,
    cluster: service.cluster,
    status: service.status,
    score: service.score,
    lastAlertAt: shownInstant(service.lastAlertAt),
    archived: service.archived,
  }
}

function requireService({ deps, identity, id }: Call<unknown, unknown>): ServiceRecord {
  const service = findService(deps.db, identity.organizationId, id, deps.now())
  if (!service) throw notFound('service', 'GET /api/services')
  return service
}
