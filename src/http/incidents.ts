/** /api/incidents: what people work on. */
import * as v from 'valibot'
import { INCIDENT_STATUSES } from '../domain/incident.ts'
import { SEVERITIES } from '../domain/severity.ts'
import { timelineOf } from '../domain/timeline.ts'
import { addNote, changeIncident, createIncident } from '../operations/incidents.ts'
import { listAlertsOfIncident } from '../store/alerts.ts'
import { listCorrelationsOfIncident } from '../store/correlations.ts'
import { findIncidentFacts } from '../store/incident-facts.ts'
import { findIncidentRow } from '../store/incident-rows.ts'
import { findIncident, type IncidentRecord, listIncidents } from '../store/incidents.ts'
import { alertShape, showAlert } from './alerts.ts'
import { instantField, textField } from './body.ts'
import { correlationShape, showCorrelation } from './correlations.ts'
import { notFound } from './problem.ts'
import { idParameter, pageOf, pageParameters, severityParameter, timeParameters, wordParameter } from './query.ts'
import { type Call, type Route, rest } from './route.ts'
import {
  answerList,
  countShape,
  instantShape,
  listShape,
  refusals,
  shownInstant,
  success,
  uuidShape,
} from './shapes.ts'

const MAX_TITLE = 200
const MAX_NOTE = 10_000

/** An incident in an answer, without its alerts and timeline. */
export const incidentShape = v.object({
  id: uuidShape,
  title: v.string(),
  serviceId: uuidShape,
  severity: v.picklist(SEVERITIES),
  status: v.picklist(INCIDENT_STATUSES),
  origin: v.picklist(['manual', 'automatic']),
  createdAt: instantShape,
  startedAt: instantShape,
  acknowledgedAt: v.nullable(instantShape),
  resolvedAt: v.nullable(instantShape),
  alertCount: countShape,
  hasPostmortem: v.boolean(),
})

const timelineShape = v.array(
  v.object({
    at: instantShape,
    /** The last time, and how often, where it repeated. */
    until: instantShape,
    count: countShape,
    kind: v.string(),
    text: v.string(),
    actor: v.nullable(v.string()),
    /** `alert/<uuid>`, `event/<uuid>`, `correlation/<uuid>`, `incident/<uuid>`: its record. */
    ref: v.string(),
  }),
)

const wholeIncidentShape = v.object({
  ...incidentShape.entries,
  alerts: v.array(alertShape),
  correlations: v.array(correlationShape),
  timeline: timelineShape,
})

export const incidentRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/incidents',
    summary: 'Incidents, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      ...timeParameters,
      serviceId: idParameter,
      severity: severityParameter,
      status: v.optional(wordParameter(INCIDENT_STATUSES)),
    }),
    answers: success(
      listShape(incidentShape),
      'A page of incidents; from and to bound createdAt: from ≤ createdAt < to',
    ),
    handle: ({ c, deps, identity, query }) => {
      const page = pageOf(query)
      return answerList(c, page, listIncidents(deps.db, identity.organizationId, query, page), showIncident)
    },
  }),
  rest({
    method: 'POST',
    path: '/api/incidents',
    summary: 'Open an incident',
    scope: 'write',
    body: v.object({
      title: textField(MAX_TITLE),
      serviceId: v.pipe(v.string(), v.uuid('expected a UUID')),
      severity: wordParameter(SEVERITIES),
    }),
    answers: { ...success(incidentShape, 'The incident; Location is its address', 201), ...refusals(422) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      const id = createIncident(deps, identity.organizationId, body, identity.tokenName)
      c.header('Location', `/api/incidents/${id}`)
      return c.json(showIncident(requireIncident({ ...call, id })), 201)
    },
  }),
  rest({
    method: 'GET',
    path: '/api/incidents/:id',
    summary: 'One incident with its alerts, suspected causes and timeline',
    scope: 'read',
    answers: success(wholeIncidentShape, 'The incident'),
    handle: (call) => {
      const { c, deps, identity } = call
      const incident = requireIncident(call)
      const { organizationId } = identity
      return c.json({
        ...showIncident(incident),
        alerts: listAlertsOfIncident(deps.db, organizationId, incident.key).map(showAlert),
        correlations: listCorrelationsOfIncident(deps.db, organizationId, incident.key).map(showCorrelation),
        timeline: showTimeline(call),
      })
    },
  }),
  rest({
    method: 'PATCH',
    path: '/api/incidents/:id',
    summary: 'Change the status, title, severity or start of an incident',
    scope: 'write',
    body: v.object({
      status: v.optional(wordParameter(INCIDENT_STATUSES)),
      title: v.optional(textField(MAX_TITLE)),
      severity: v.optional(wordParameter(SEVERITIES)),
      startedAt: v.optional(instantField),
    }),
    answers: { ...success(incidentShape, 'The incident'), ...refusals(409) },
    handle: (call) => {
      const { c, deps, identity, body } = call
      changeIncident(deps, identity.organizationId, requireIncident(call).id, body, identity.tokenName)
      return c.json(showIncident(requireIncident(call)))
    },
  }),
  rest({
    method: 'POST',
    path: '/api/incidents/:id/notes',
    summary: 'Write into the timeline of an incident',
    scope: 'write',
    body: v.object({ text: textField(MAX_NOTE) }),
    answers: success(v.object({ timeline: timelineShape }), 'The timeline with the note', 201),
    handle: (call) => {
      const { c, deps, identity, body } = call
      const incident = requireIncident(call)
      addNote(deps, identity.organizationId, incident.id, body.text, identity.tokenName)
      return c.json({ timeline: showTimeline({ ...call, id: incident.id }) }, 201)
    },
  }),
]

/** An incident as answers show it. */
export function showIncident(incident: IncidentRecord): v.InferInput<typeof incidentShape> {
  return {
    id: incident.id,
    title: incident.title,
    serviceId: incident.serviceId,
    severity: incident.severity,
    status: incident.status,
    origin: incident.origin,
    createdAt: shownInstant(incident.createdAt),
    startedAt: shownInstant(incident.startedAt),
    acknowledgedAt: shownInstant(incident.acknowledgedAt),
    resolvedAt: shownInstant(incident.resolvedAt),
    alertCount: incident.alertCount,
    hasPostmortem: incident.hasPostmortem,
  }
}

/** The incident that the path names. @throws IncmonError `not-found` */
export function requireIncident({ deps, identity, id }: Call<unknown, unknown>): IncidentRecord {
  const incident = findIncident(deps.db, identity.organizationId, id)
  if (!incident) throw notFound('incident', 'GET /api/incidents')
  return incident
}

function showTimeline({ deps, identity, id }: Call<unknown, unknown>) {
  const incident = findIncidentRow(deps.db, identity.organizationId, id)
  if (!incident) throw notFound('incident', 'GET /api/incidents')
  const rows = timelineOf(findIncidentFacts(deps.db, incident, deps.now()))
  return rows.map((row) => ({ ...row, at: shownInstant(row.at), until: shownInstant(row.until) }))
}
