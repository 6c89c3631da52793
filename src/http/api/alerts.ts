/** /api/alerts: list, show and resolve alerts. */
import * as v from 'valibot'
import { SOURCES } from '../../domain/event/event.ts'
import { explainedByNodes } from '../../domain/health/node-trouble.ts'
import { resolveAlert } from '../../operations/alerts.ts'
import { type AlertRecord, findAlert, listAlerts } from '../../store/alerts.ts'
import { findPlacedAlert } from '../../store/conditions.ts'
import { listEventsOfAlert } from '../../store/events.ts'
import { notFound } from '../middleware/problem.ts'
import {
  flagParameter,
  idParameter,
  pageOf,
  pageParameters,
  severityParameter,
  sourceParameter,
  timeParameters,
  wordParameter,
} from '../middleware/query.ts'
import { json, type Reply } from '../middleware/reply.ts'
import { type Call, type Route, rest } from '../route.ts'
import { eventShape, showEvent } from './events.ts'
import {
  answerList,
  countShape,
  described,
  idShape,
  instantShape,
  listShape,
  refusals,
  severityShape,
  shownInstant,
  success,
  textsShape,
  uuidShape,
} from './shapes.ts'

const STATUSES = ['firing', 'resolved'] as const
const RECENT_EVENTS = 50
/** Filters for which no stored count exists. */
const MATCHES = ['status', 'severity', 'source', 'q', 'silenced'] as const

/** An alert in a response. */
export const alertShape = v.object({
  id: idShape,
  serviceId: described(uuidShape, 'The service that is ill'),
  source: described(v.picklist(SOURCES), 'Who told of it first'),
  name: described(v.string(), 'What is wrong, in the words of the sender or of Kubernetes', 'CrashLoopBackOff'),
  severity: severityShape,
  status: described(v.picklist(STATUSES), 'Whether it goes on'),
  resolution: described(
    v.nullable(v.picklist(['reported', 'inferred', 'expired', 'manual'])),
    'How its end is known: told, followed from silence or success, no news for long, by hand; null while it fires',
    null,
  ),
  summary: described(v.string(), 'One line for a person', 'Back-off restarting failed container checkout'),
  labels: described(textsShape, 'As the sender wrote them', { namespace: 'shop', severity: 'critical' }),
  annotations: described(textsShape, 'As the sender wrote them', {}),
  fingerprint: described(
    v.string(),
    "The sender's own name for it, else one made from what it says",
    '7c1e0f5a9b3d2468',
  ),
  startsAt: described(instantShape, 'When it began'),
  endsAt: described(v.nullable(instantShape), 'Null while it fires', null),
  lastSeenAt: described(instantShape, 'When it was last told of'),
  occurrences: described(countShape, 'How often it was seen', 6),
  incidentId: described(v.nullable(uuidShape), 'The incident that it belongs to'),
  links: described(textsShape, 'Addresses at the sender, by what they lead to', {}),
  silencedBy: described(v.array(uuidShape), 'The silences that silence it, or did when it ended', []),
})

const alertWithEventsShape = v.object({
  ...alertShape.entries,
  rules: described(
    v.object({
      service: described(v.string(), 'Why this service', 'pod name'),
      severity: described(v.string(), 'Why this severity', 'label severity'),
      identity: described(v.string(), 'Why this is one alert and not another', 'fingerprint'),
    }),
    'The rule behind each decision',
  ),
  suspectedCause: described(
    v.nullable(
      v.object({
        kind: described(v.literal('node'), 'What it is'),
        ref: described(v.string(), 'Which one', 'node/worker-2'),
        serviceId: described(v.nullable(uuidShape), 'The service that stands for it; null where none does'),
      }),
    ),
    'The node in trouble that accounts for it; null where none does',
    null,
  ),
  events: described(v.array(eventShape), 'The newest 50'),
})

const filterParameters = {
  ...timeParameters,
  serviceId: idParameter,
  status: v.optional(described(wordParameter(STATUSES), 'Only those that go on, or that are over')),
  severity: severityParameter,
  source: sourceParameter,
  silenced: described(flagParameter, '1: only silenced alerts; 0: only the others'),
  q: v.optional(
    described(
      v.pipe(v.string(), v.maxLength(200, 'too long; at most 200 characters')),
      'Words that name or summary hold, all of them',
      'restarting container',
    ),
  ),
}

export const alertRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/alerts',
    summary: 'Alerts, newest start first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...filterParameters }),
    answers: {
      ...success(listShape(alertShape), 'A page of alerts; from and to bound the start: from ≤ startsAt < to'),
      ...refusals(503),
    },
    handle: async (call) => {
      const { deps, reader, identity, query } = call
      const page = pageOf(query)
      const asked = [identity.organizationId, query, page] as const
      const isSearch = MATCHES.some((name) => query[name] !== undefined)
      const search = query.status === 'firing' ? 'listFiringAlerts' : 'listMatchingAlerts'
      const listed = isSearch ? await reader.read(search, ...asked) : listAlerts(deps.db, ...asked)
      return answerList(call, page, listed, showAlert)
    },
  }),
  rest({
    method: 'GET',
    path: '/api/alerts/:id',
    summary: 'One alert with its newest events',
    scope: 'read',
    answers: success(alertWithEventsShape, 'The alert and its newest 50 events'),
    handle: answerAlert,
  }),
  rest({
    method: 'PATCH',
    path: '/api/alerts/:id',
    summary: 'End an alert by hand',
    scope: 'write',
    body: v.object({ status: described(wordParameter(['resolved']), 'The only change there is') }),
    answers: success(alertWithEventsShape, 'The alert, resolved'),
    handle: (call) => {
      const { deps, identity } = call
      const { id, status } = requireAlert(call)
      if (status === 'firing') resolveAlert(deps, identity.organizationId, id, identity.tokenName)
      return answerAlert(call)
    },
  }),
]

/** Returns an alert for a response. */
export function showAlert(alert: AlertRecord): v.InferInput<typeof alertShape> {
  return {
    id: alert.id,
    serviceId: alert.serviceId,
    source: alert.source,
    name: alert.name,
    severity: alert.severity,
    status: alert.status,
    resolution: alert.resolution,
    summary: alert.summary,
    labels: alert.labels,
    annotations: alert.annotations,
    fingerprint: alert.fingerprint,
    startsAt: shownInstant(alert.startsAt),
    endsAt: shownInstant(alert.endsAt),
    lastSeenAt: shownInstant(alert.lastSeenAt),
    occurrences: alert.occurrences,
    incidentId: alert.incidentId,
    links: alert.links,
    silencedBy: [...alert.silencedBy],
  }
}

function answerAlert(call: Call<unknown, unknown>): Reply {
  const { deps, identity } = call
  const alert = requireAlert(call)
  const events = listEventsOfAlert(deps.db, identity.organizationId, alert.id, RECENT_EVENTS)
  return json({
    ...showAlert(alert),
    rules: alert.rules,
    suspectedCause: suspectedCauseOf(call, alert),
    events: events.map(showEvent),
  })
}

function suspectedCauseOf({ deps, identity }: Call<unknown, unknown>, { id }: AlertRecord) {
  const placed = findPlacedAlert(deps.db, identity.organizationId, id)
  if (!placed || !explainedByNodes([placed.alert], placed.troubles).has(id)) return null
  return { kind: 'node' as const, ref: `node/${placed.alert.node}`, serviceId: placed.nodeServiceId }
}

function requireAlert({ deps, identity, id }: Call<unknown, unknown>): AlertRecord {
  const alert = findAlert(deps.db, identity.organizationId, id)
  if (!alert) throw notFound('alert', 'GET /api/alerts')
  return alert
}
