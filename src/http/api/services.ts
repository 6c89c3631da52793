/** /api/services: list, create, show, change and merge services. */
import * as v from 'valibot'
import { catchUpService } from '../../actions/channel-rules.ts'
import { shownPenalty } from '../../domain/health/penalty-text.ts'
import { ALIAS_KINDS } from '../../domain/service/service.ts'
import { createService, mergeServices, updateService } from '../../engine/changes/services.ts'
import { listServices } from '../../store/service/services.ts'
import { findServiceRecords } from '../../store/views.ts'
import { textField, uuidField } from '../middleware/body.ts'
import { originOf } from '../middleware/header.ts'
import { required } from '../middleware/problem.ts'
import { flagParameter, wordParameter } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { alertShape, showAlert } from './alerts.ts'
import { refusals, success } from './answers.ts'
import { incidentShape } from './incidents/incident-shape.ts'
import { incidentShower } from './incidents/incidents.ts'

// What a watched Kubernetes cluster says about the workload of a service, as the API returns it.

const podShape = v.object({
  name: shape.text('The name of the pod', 'checkout-5d8c7b9f4d-x2x7k'),
  node: shape.nullable(v.string(), 'The node that runs the pod; null if none does', 'node-1'),
  isReady: shape.flag('Whether the pod is ready', false),
  state: shape.text('`ready`, `CrashLoopBackOff` or another reason', 'CrashLoopBackOff'),
  restarts: shape.count('How often its containers have restarted', 12),
  restartsInHour: shape.count('How many of these restarts were seen in the last hour', 4),
  notReadySince: shape.nullable(shape.instant(), 'Since when the pod is not ready; null if it is'),
  createdAt: shape.instant('When the pod was created'),
})

const workloadShape = shape.object(
  {
    cluster: shape.text('The name of the watched cluster', 'production'),
    kind: shape.choice(['Deployment', 'StatefulSet', 'DaemonSet'], 'The kind of workload', 'Deployment'),
    wanted: shape.count('How many replicas are wanted', 3),
    available: shape.count('How many replicas are available', 1),
    revision: shape.text('The revision of a Deployment; empty for other kinds', '7'),
    stuck: shape.nullable(v.string(), 'Why its rollout makes no progress; null if it does', null),
    images: shape.objects(
      {
        container: shape.text('The container', 'app'),
        image: shape.text('Its image', 'shop/checkout:2.0'),
        before: shape.nullable(
          v.string(),
          'The image of the last revision, if it was another one',
          'shop/checkout:1.9',
        ),
      },
      'The images of its containers',
    ),
    pods: shape.list(podShape, 'The pods that have not ended, those that are not ready first'),
  },
  'What a watched Kubernetes cluster says about the service now',
)

const showPod = shape.shower(podShape)

const MAX_NAME = 253
const MAX_ALIASES = 100
const RECENT_ALERTS = 20

const EXISTS = 'A service with this name exists in the namespace, or an alias belongs to another service'

/** A service as the API returns it in lists. */
export const serviceShape = shape.named('Service', {
  id: shape.id,
  name: shape.text('The name of the workload', 'checkout'),
  namespace: shape.text('The namespace of the workload; may be empty', 'shop'),
  cluster: shape.text('The cluster, from the token or the cluster label; empty if neither is set', ''),
  status: shape.choice(['healthy', 'degraded', 'critical'], 'The health of the service', 'critical'),
  score: shape.described(
    v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(100)),
    'The health score: 100 minus a penalty for each condition',
    60,
  ),
  reason: shape.nullable(
    v.string(),
    'The condition that lowers the score most, with its rule; null if the score is 100',
    'CrashLoopBackOff: critical',
  ),
  lastAlertAt: shape.nullable(
    shape.instant(),
    'The newest time in a report of a firing alert: the start of the alert, or the time of a Kubernetes event; null before the first alert',
  ),
  archived: shape.flag(
    'Whether the service is archived: healthy and without events for 14 days. The next event restores the service',
    false,
  ),
})

const showService = shape.shower(serviceShape)

/** A service with its newest alerts, open incidents and the reasons for its score. */
export const wholeServiceShape = shape.named('ServiceWithAlerts', {
  ...serviceShape.entries,
  recentAlerts: shape.list(alertShape, 'The newest alerts, at most 20'),
  openIncidents: shape.list(incidentShape, 'Incidents that are not resolved'),
  health: shape.objects(
    {
      alertId: shape.uuid('The alert of the condition'),
      reason: shape.text('The alert and the rule', 'CrashLoopBackOff: critical'),
      penalty: shape.count('Points subtracted from 100', 40),
    },
    'The reasons for the score',
  ),
  kubernetes: shape.nullable(workloadShape, 'What a watched cluster says now; null if none has this workload'),
  aliases: shape.objects(
    {
      kind: shape.choice(ALIAS_KINDS, 'The kind of alias'),
      value: shape.text('A name that a sender uses for the service', 'shop/checkout'),
    },
    'The names that senders use for this service',
  ),
})

const aliasesField = v.pipe(
  v.array(
    v.object({
      kind: shape.described(wordParameter(ALIAS_KINDS), 'The kind of alias', 'ci-project'),
      value: shape.described(textField(500), 'A name that a sender uses for the service', 'shop/payments'),
    }),
    'expected a list of { kind, value }',
  ),
  v.maxLength(MAX_ALIASES, `too many; at most ${MAX_ALIASES}`),
  v.metadata({ description: 'The names that senders use for this service; the list replaces the previous list' }),
)

export const serviceRoutes: readonly Route[] = [
  rest('GET /api/services', {
    summary: 'List all services by namespace and name',
    scope: 'read',
    query: v.object({ archived: shape.described(flagParameter, 'Whether to include archived services') }),
    answers: success(v.array(serviceShape), 'The services; archived services only with ?archived=1'),
    handle: async ({ deps, own, query }) => {
      const services = await own.read(listServices, deps.now(), query.archived ?? false)
      return json(services.map(showService))
    },
  }),
  rest('POST /api/services', {
    summary: 'Create a service',
    description: 'incmon also creates a service automatically when the first event for it arrives.',
    scope: 'write',
    takesKey: true,
    body: shape.object(
      {
        name: shape.described(textField(MAX_NAME), 'The name of the workload'),
        namespace: shape.described(textField(MAX_NAME, 0), 'The namespace of the workload; may be empty'),
        aliases: v.optional(aliasesField),
      },
      'The service',
      { name: 'payments', namespace: 'shop' },
    ),
    answers: {
      ...success(wholeServiceShape, 'The service. The Location header contains its URL', 201),
      ...refusals({ 409: EXISTS }),
    },
    handle: async (call) => {
      const { c, server, identity, body } = call
      const wanted = { ...body, cluster: identity.cluster, aliases: body.aliases ?? [] }
      const id = await call.own.change((ctx, now) => createService(ctx, wanted, now))
      const location = `${originOf(c, server)}/api/services/${id}`
      return json(await showWhole({ ...call, id }), 201, { location })
    },
  }),
  rest('GET /api/services/:id', {
    summary: 'Show a service with its newest alerts, open incidents and health',
    scope: 'read',
    answers: success(wholeServiceShape, 'The service, its newest alerts, and the reasons for its score'),
    handle: async (call) => json(await showWhole(call)),
  }),
  rest('PATCH /api/services/:id', {
    summary: 'Rename a service or replace its aliases',
    description: 'Events with the old name still belong to this service, unless the request replaces the aliases.',
    scope: 'write',
    body: v.object({
      name: shape.optional(textField(MAX_NAME), 'The new name', 'payments-api'),
      aliases: v.optional(aliasesField),
    }),
    answers: { ...success(wholeServiceShape, 'The service'), ...refusals({ 409: EXISTS }) },
    handle: async (call) => {
      const { id } = (await requireService(call)).service
      await call.own.change((ctx, now) => updateService(ctx, id, call.body, now))
      if (call.body.name !== undefined) await call.own.run(catchUpService, id)
      return json(await showWhole(call))
    },
  }),
  rest('POST /api/services/:id/merge', {
    summary: 'Merge a service into another service',
    description:
      'Moves all records to the other service. Later events with the name of this service will belong to the other service. This cannot be undone.',
    scope: 'write',
    takesKey: true,
    body: v.object({ into: shape.described(uuidField, 'The remaining service', shape.EXAMPLE_ID) }),
    answers: {
      ...success(wholeServiceShape, 'The remaining service'),
      ...refusals({ 409: 'The two services are the same one', 422: 'into names no service of the organization' }),
    },
    handle: async (call) => {
      const { id } = (await requireService(call)).service
      const { into } = call.body
      await call.own.change((ctx, now, actor) => mergeServices(ctx, id, into, now, actor))
      await call.own.run(catchUpService, into)
      return json(await showWhole({ ...call, id: into }))
    },
  }),
]

async function showWhole(call: Call) {
  const { service, alerts, incidents, aliases } = await requireService(call)
  const showIncident = await incidentShower(call)
  const now = call.server.workloadNow(call.identity.organizationId, service)
  return {
    ...showService(service),
    kubernetes: now && { ...now, pods: now.pods.map(showPod) },
    recentAlerts: alerts.map(showAlert),
    openIncidents: incidents.map(showIncident),
    health: service.health.map(shownPenalty),
    aliases,
  }
}

function requireService({ deps, own, id }: Call) {
  const found = own.read(findServiceRecords, id, deps.now(), RECENT_ALERTS)
  return required(found, 'service', 'GET /api/services')
}
