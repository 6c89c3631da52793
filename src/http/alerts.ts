/** /api/alerts: conditions of services, and ending one by hand. */
import * as v from 'valibot'
import { SOURCES } from '../domain/event.ts'
import { explainedByNodes } from '../domain/node-trouble.ts'
import { SEVERITIES } from '../domain/severity.ts'
import { resolveAlert } from '../operations/alerts.ts'
import { type AlertRecord, findAlert, listAlerts } from '../store/alerts.ts'
import { findPlacedAlert } from '../store/conditions.ts'
import { listEventsOfAlert } from '../store/events.ts'
import { eventShape, showEvent } from './events.ts'
import { notFound } from './problem.ts'
import {
  idParameter,
  pageOf,
  pageParameters,
  severityParameter,
  sourceParameter,
  timeParameters,
  wordParameter,
} from './query.ts'
import { type Call, type Route, rest } from './route.ts'
import {
  answerList,
  countShape,
  instantShape,
  listShape,
  shownInstant,
  success,
  textsShape,
  uuidShape,
} from './shapes.ts'

const STATUSES = ['firing', 'resolved'] as const
const RECENT_EVENTS = 50

/** An alert in an answer. */
export const alertShape = v.object({
  id: uuidShape,
  serviceId: uuidShape,
  source: v.picklist(SOURCES),
  name: v.string(),
  severity: v.picklist(SEVERITIES),
  status: v.picklist(STATUSES),
  resolution: v.nullable(v.picklist(['reported', 'inferred', 'expired', 'manual'])),
  summary: v.string(),
  labels: textsShape,
  annotations: textsShape,
  fingerprint: v.string(),
  startsAt: instantShape,
  endsAt: v.nullable(instantShape),
  lastSeenAt: instantShape,
  occurrences: countShape,
  incidentId: v.nullable(uuidShape),
  links: textsShape,
})

const alertWithEventsShape = v.object({
  ...alertShape.entries,
  /** The rule behind each decision, for whoever asks why. */
  rules: v.object({ service: v.string(), severity: v.string(), identity: v.string() }),
  /** The node in trouble that accounts for it; null where none does. */
  suspectedCause: v.nullable(v.object({ kind: v.literal('node'), ref: v.string(), serviceId: v.nullable(uuidShape) })),
  events: v.array(eventShape),
})

const filterParameters = {
  ...timeParameters,
  serviceId: idParameter,
  status: v.optional(wordParameter(STATUSES)),
  severity: severityParameter,
  source: sourceParameter,
  q: v.optional(v.pipe(v.string(), v.maxLength(200, 'too long; at most 200 characters'))),
}

export const alertRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/alerts',
    summary: 'Alerts, newest start first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...filterParameters }),
    answers: success(listShape(alertShape), 'A page of alerts; from and to bound the start: from ≤ startsAt < to'),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listAlerts(deps.db, identity.organizationId, query, page), showAlert)
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
    body: v.object({ status: wordParameter(['resolved']) }),
    answers: success(alertWithEventsShape, 'The alert, resolved'),
    handle: (call) => {
      const { deps, identity } = call
      const { id, status } = requireAlert(call)
      if (status === 'firing') resolveAlert(deps, identity.organizationId, id, identity.tokenName)
      return answerAlert(call)
    },
  }),
]

/** An alert as answers show it. */
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
  }
}

function answerAlert(call: Call<unknown, unknown>): Response {
  const { c, deps, identity } = call
  const alert = requireAlert(call)
  const events = listEventsOfAlert(deps.db, identity.organizationId, alert.id, RECENT_EVENTS)
  return c.json({
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
