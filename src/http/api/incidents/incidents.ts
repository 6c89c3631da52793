/** /api/incidents: list, open, show and change incidents. */
import * as v from 'valibot'
import { INCIDENT_STATUSES } from '../../../domain/incident/incident.ts'
import { figuresOf } from '../../../domain/incident/lasted.ts'
import { problemAt } from '../../../domain/incident/problem.ts'
import { SEVERITIES } from '../../../domain/severity.ts'
import {
  acknowledgeIncidents,
  addNote,
  changeIncident,
  createIncident,
} from '../../../engine/changes/incidents/incident-changes.ts'
import { mergeIncidents } from '../../../engine/changes/incidents/merge.ts'
import { findGroup, findGroups } from '../../../store/incident/groups.ts'
import { findIncident, type IncidentRecord, listIncidents } from '../../../store/incident/incidents.ts'
import { findSuspects } from '../../../store/incident/suspects.ts'
import { findTimeline } from '../../../store/incident/timeline-facts.ts'
import { findIncidentRecords } from '../../../store/views.ts'
import { instantField, textField, uuidField } from '../../middleware/body.ts'
import { originOf } from '../../middleware/header.ts'
import { MEANINGS, required } from '../../middleware/problem.ts'
import {
  idParameter,
  pageParameters,
  severityParameter,
  timeParameters,
  wordParameter,
} from '../../middleware/query.ts'
import { json } from '../../middleware/reply.ts'
import { type Call, type Route, rest } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { showAlert } from '../alerts.ts'
import { answerAll, answerPage, refusals, success, successPage } from '../answers.ts'
import { showCorrelation } from '../correlations.ts'
import { incidentShape, MAX_RECORDS, wholeIncidentShape, wholeTimelineShape } from './incident-shape.ts'

const MAX_TITLE = 200
const FULL = 'The incident has the maximum number of notes and changes, or the maximum length of their text'
const OPENING = {
  409: 'The organization has the maximum number of incidents',
  422: 'serviceId names no service of the organization',
}
const MERGING = {
  409: 'The two incidents are the same one, or the remaining incident is resolved',
  422: 'into names no incident of the organization',
}
const MAX_NOTE = 10_000

const showFields = shape.shower(incidentShape)

/** Returns a function that converts an incident to its API format, with its present problem and group. */
export async function incidentShower({ deps, own }: Call) {
  const now = deps.now()
  const groups = await own.read(findGroups)
  return (incident: IncidentRecord) => {
    const group = groups.get(incident.id)
    const state = {
      problem: problemAt(incident.problem, now),
      ...figuresOf(incident, incident.reportedAt ?? now),
      isEndInferred: incident.problem.isGuess || incident.reportedAt !== null,
      group: group ? { leader: group.leader, size: group.members.length } : null,
    }
    return showFields({ ...incident, ...state })
  }
}

async function showIncident(call: Call, incident: IncidentRecord) {
  return (await incidentShower(call))(incident)
}

export const incidentRoutes: readonly Route[] = [
  rest('GET /api/incidents', {
    summary: 'List incidents, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      ...timeParameters,
      serviceId: idParameter('service'),
      severity: severityParameter,
      status: shape.optional(wordParameter(INCIDENT_STATUSES), 'Only incidents with this status'),
    }),
    answers: successPage(incidentShape, 'A page of incidents with createdAt in the half-open range [from, to)'),
    handle: async (call) =>
      answerPage(call, (page) => call.own.read(listIncidents, call.query, page), await incidentShower(call)),
  }),
  rest('POST /api/incidents', {
    summary: 'Open an incident',
    scope: 'write',
    takesKey: true,
    body: v.object({
      title: shape.described(textField(MAX_TITLE), 'The title, in one line', 'Checkout responds slowly'),
      serviceId: shape.described(uuidField, 'The affected service', shape.EXAMPLE_ID),
      severity: shape.described(wordParameter(SEVERITIES), 'The severity', 'error'),
    }),
    answers: {
      ...success(incidentShape, 'The incident. The Location header contains its URL', 201),
      ...refusals(OPENING),
    },
    handle: async (call) => {
      const id = await call.own.change((ctx, now, actor) => createIncident(ctx, call.body, actor, now))
      const location = `${originOf(call.c, call.server)}/api/incidents/${id}`
      return json(await showIncident(call, await requireIncident({ ...call, id })), 201, { location })
    },
  }),
  rest('GET /api/incidents/:id', {
    summary: 'Show an incident with its alerts, links and timeline',
    scope: 'read',
    answers: { ...success(wholeIncidentShape, 'The incident'), ...refusals({ 503: MEANINGS[503] }) },
    handle: async (call) => {
      const incident = await requireIncident(call)
      const [timeline, related] = await Promise.all([showTimeline(call), showRelated(call, incident)])
      return json({ ...(await showIncident(call, incident)), ...related, timeline })
    },
  }),
  rest('PATCH /api/incidents/:id', {
    summary: 'Change the status, title, severity or start of an incident',
    description:
      '{"status":"resolved"} resolves the incident and generates its postmortem on the Team and Pro plans. Any status ' +
      'can change to any other status, and a resolved incident can be reopened. A change to investigating, identified or ' +
      'monitoring sets acknowledgedAt if it is null, and a change to open sets it to null. In the response, ' +
      'firingAlerts is the number of alerts that are still firing. If a critical one still fires 30 minutes after the ' +
      'incident was resolved, its channels are notified. Omitted fields stay unchanged.',
    scope: 'write',
    body: shape.object(
      {
        status: shape.optional(wordParameter(INCIDENT_STATUSES), 'The new status', 'investigating'),
        title: shape.optional(textField(MAX_TITLE), 'The title, in one line', 'Checkout rejects cards'),
        severity: shape.optional(wordParameter(SEVERITIES), 'The severity', 'critical'),
        startedAt: shape.optional(instantField, 'When the problem began'),
      },
      'The changes',
      { status: 'investigating' },
    ),
    answers: { ...success(incidentShape, 'The incident'), ...refusals({ 409: FULL }) },
    handle: async (call) => {
      const { id } = await requireIncident(call)
      await call.own.change((ctx, now, actor) => changeIncident(ctx, id, call.body, actor, now))
      return json(await showIncident(call, await requireIncident(call)))
    },
  }),
  rest('POST /api/incidents/:id/acknowledge-group', {
    summary: 'Acknowledge every open incident in the group of an incident',
    description:
      'Acknowledges the incident and each open incident of its group, which GET /api/incidents/{id} shows as group. Returns all of them.',
    scope: 'write',
    answers: success(v.object({ data: shape.list(incidentShape, 'The incidents') }), 'The incidents of the group'),
    handle: async (call) => {
      const { id } = await requireIncident(call)
      const group = await call.own.read(findGroup, id)
      const ids = group?.members ?? [id]
      await call.own.change((ctx, now, actor) => acknowledgeIncidents(ctx, ids, actor, now))
      const found = await Promise.all(ids.map((id) => requireIncident({ ...call, id })))
      return json({ data: found.map(await incidentShower(call)) })
    },
  }),
  rest('POST /api/incidents/:id/notes', {
    summary: 'Add a note to the timeline of an incident',
    scope: 'write',
    takesKey: true,
    body: v.object({ text: shape.described(textField(MAX_NOTE), 'The note', 'rolled back to the previous release') }),
    answers: {
      ...success(wholeTimelineShape, 'The timeline with the note', 201),
      ...refusals({ 409: FULL }),
    },
    handle: async (call) => {
      const { id } = await requireIncident(call)
      await call.own.change((ctx, now, actor) => addNote(ctx, id, call.body.text, actor, now))
      return json({ timeline: await showTimeline(call) }, 201)
    },
  }),
  rest('POST /api/incidents/:id/merge', {
    summary: 'Merge an incident into another one',
    description:
      'Moves the alerts, their links and the timeline to the other incident, then resolves this incident. The timelines of both incidents record the merge.',
    scope: 'write',
    body: v.object({ into: shape.described(uuidField, 'The remaining incident', shape.EXAMPLE_ID) }),
    answers: { ...success(incidentShape, 'The remaining incident'), ...refusals(MERGING) },
    handle: async (call) => {
      const ids = { from: (await requireIncident(call)).id, into: call.body.into }
      await call.own.change((ctx, now, actor) => mergeIncidents(ctx, ids, actor, now))
      return json(await showIncident(call, await requireIncident({ ...call, id: ids.into })))
    },
  }),
]
/**
 * Returns a hint that names the endpoint for listing incidents. If `id` is a number, the hint also says that the path
 * requires an ID.
 */
function listFor(id: string): string {
  return `${/^\d+$/.test(id) ? `${id} is an incident number, but the path requires the id; ` : ''}GET /api/incidents`
}

/** Returns the incident whose ID is in the path. @throws IncmonError `not-found` */
export function requireIncident({ own, id }: Call): Promise<IncidentRecord> {
  return required(own.read(findIncident, id), 'incident', listFor(id))
}

async function showRelated({ own }: Call, incident: IncidentRecord) {
  const { alerts, links } = await own.read(findIncidentRecords, incident, MAX_RECORDS)
  return { alerts: alerts.map(showAlert), correlations: links.map(showCorrelation) }
}

async function showTimeline({ deps, own, id }: Call) {
  const found = own.read(findTimeline, id, deps.now())
  const rows = await required(found, 'incident', listFor(id))
  return rows.map((row) => ({ ...row, at: shape.instantText(row.at), until: shape.instantText(row.until) }))
}

/** All suspects fit on one page. */
const MAX_SUSPECTS = 20
export const suspectShape = shape.named('Suspect', {
  kind: shape.choice(['pipeline', 'rollout', 'node', 'object'], 'The kind of cause'),
  ref: shape.text('A reference to the cause', 'shop/checkout#4711'),
  serviceId: shape.nullable(shape.uuid(), 'The service of the cause, or null'),
  score: shape.described(
    v.pipe(v.number(), v.minValue(0), v.maxValue(1)),
    'How likely it is that this caused the incident; comparable only within one incident',
    0.76,
  ),
  reasons: shape.reasons,
  evidence: shape.objects(
    { alertId: shape.optional(shape.uuid(), 'An alert'), eventId: shape.optional(shape.uuid(), 'An event') },
    'The records that are the evidence',
  ),
  rollouts: shape.described(
    v.array(v.string()),
    'The rollouts that the suspected pipeline caused. They are not listed as suspects of their own',
    ['shop/checkout@6f8d7b9c5'],
  ),
})

export const suspectRoutes: readonly Route[] = [
  rest('GET /api/incidents/:id/suspects', {
    summary: 'List the probable causes of an incident across all services, most probable first',
    scope: 'read',
    answers: successPage(suspectShape, 'At most 20 probable causes'),
    handle: async (call) => {
      const { deps, own } = call
      const incident = await requireIncident(call)
      const items = await own.read(findSuspects, incident, deps.now())
      return answerAll(call, items, MAX_SUSPECTS)
    },
  }),
]
