/** The schemas that the OpenAPI document defines once, by the names of their types in clients. */

import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { NOTIFICATION_KINDS } from '../../../domain/notification/kind.ts'
import type { JsonSchema, OpenApiAnswer } from '../../docs/openapi-document.ts'
import type { Route, Schema } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { alertShape, alertWithEventsShape } from '../alerts.ts'
import { channelShape, deliveryShape, outcomeShape } from '../channels/channels.ts'
import { correlationShape } from '../correlations.ts'
import { eventShape, eventWithPayloadShape } from '../events.ts'
import { checkShape, readyShape } from '../health.ts'
import { itemShape } from '../incidents/action-items.ts'
import { incidentShape, timelineEntryShape, wholeIncidentShape } from '../incidents/incident-shape.ts'
import { suspectShape } from '../incidents/incidents.ts'
import { postmortemShape } from '../incidents/postmortem-shape.ts'
import { organizationShape } from '../organization.ts'
import { reliabilityShape } from '../reports.ts'
import { changesShape, historyShape } from '../service-history.ts'
import { serviceShape, wholeServiceShape } from '../services.ts'
import { matcherShape, previewShape, silenceShape } from '../silences.ts'
import { rejectionShape, senderShape } from '../sources.ts'
import { createdShape, tokenShape } from '../tokens.ts'

const { id, number, title, status, startedAt, acknowledgedBy, problem, group } = incidentShape.entries
/** The problem stands beside the incident. */
const shown = v.omit(incidentShape, ['serviceId', 'createdAt', 'group', 'recoveredAt', 'problem']).entries
const { source, name, severity, summary, labels, annotations, startsAt, endsAt } = alertShape.entries

const text = shape.object(
  {
    title: shape.text('The first line', 'checkout has been critical since 14:02 UTC (4 min).'),
    body: shape.text('The other lines', 'HighErrorRate: 40 % of all requests fail. 12 alerts. Incident #12.'),
    links: shape.objects(
      {
        text: shape.text('What the link opens', 'Runbook: HighErrorRate'),
        url: shape.text('The address', 'https://wiki.example.com/high-error-rate'),
      },
      'The links of the message: acknowledge, runbooks, incident; empty if there are none',
    ),
  },
  'The message for people',
)
const service = shape.object(
  {
    name: shape.text('The name of the service', 'checkout'),
    namespace: shape.text('Its namespace', 'shop'),
    cluster: shape.text('Its cluster; may be empty', 'production'),
  },
  'The affected service',
)
const incident = shape.object(shown, 'The incident')
const alerts = shape.objects(
  { id: shape.id, source, name, severity, summary, labels, annotations, startsAt, endsAt },
  'At most 20 alerts, firing ones first',
)
const { kind, ref, serviceId, score } = suspectShape.entries
const suspects = shape.objects({ kind, ref, serviceId, score }, 'The most probable causes')
const url = shape.nullable(
  v.string(),
  'The page; null if public-url is not set',
  'https://incmon.example.com/incidents/1',
)
const acknowledgeUrl = shape.nullable(v.string(), 'The link to acknowledge; null unless the incident is open', null)
const item = {
  at: shape.instant('When the incident changed'),
  actor: shape.nullable(v.string(), 'Who changed the incident; null for incmon', null),
  problem,
  conditions: shape.described(v.array(v.string()), 'The critical conditions of the message', ['HighErrorRate']),
  incident,
  service,
  alerts,
  group,
}
const timestamp = shape.instant('When the message was sent')
const kinds = NOTIFICATION_KINDS.filter((kind) => kind !== 'group' && kind !== 'sender-silent')

const shared = { ...item, suspects, message: text, url, acknowledgeUrl }

const incidentMessageShape = v.object({
  type: shape.choice([...kinds.map((kind) => `incident.${kind}`), 'sender.silent'], 'What happened'),
  timestamp,
  data: shape.object(shared, 'The incident at the time of sending'),
})
const member = { id, number, title, severity, status, startedAt, acknowledgedBy, problem, service }
const groupShape = v.object({
  type: v.literal('incident.group'),
  timestamp,
  data: shape.object(
    {
      ...shared,
      cause: shape.text('The common cause', 'postgres'),
      leader: shape.object(member, 'The incident that leads the group'),
      incidents: shape.objects(member, 'All incidents of the group'),
      incident: shape.object(member, 'The same as leader'),
    },
    'The group at the time of sending',
  ),
})
const digestShape = v.object({
  type: v.literal('incidents.digest'),
  timestamp,
  data: shape.object(
    {
      notifications: shape.objects(
        { type: shape.choice(NOTIFICATION_KINDS, 'What happened'), ...item, acknowledgeUrl },
        'In order',
      ),
      message: text,
      url,
    },
    'Several notifications in one message',
  ),
})
const testShape = v.object({
  type: v.literal('test'),
  timestamp,
  data: shape.object({ message: text, url }, 'A test message'),
})

const aboutChannelShape = v.object({
  type: v.literal('channel'),
  timestamp,
  data: shape.object({ message: text, url }, 'Which channel fails, or works again'),
})

/** Each kind of outgoing message, with its description. */
export const MESSAGES = {
  incident: ['An incident opened, changed or was resolved', incidentMessageShape],
  group: ['Three or more incidents have a common cause', groupShape],
  digest: ['Several notifications in one message', digestShape],
  test: ['Somebody tested the channel', testShape],
  channel: ['Another channel fails, or works again', aboutChannelShape],
} as const

const problemShape = v.object({
  type: shape.text('Always about:blank; the status identifies the kind of error', 'about:blank'),
  title: shape.text('The name of the status', 'Bad Request'),
  status: shape.described(v.pipe(v.number(), v.integer()), 'The HTTP status', 400),
  detail: shape.text('What is wrong, and what to do', 'query: limit: expected an integer from 1 to 500'),
  errors: shape.optional(
    v.array(
      v.object({
        path: shape.text('The field or parameter', 'limit'),
        message: shape.text('The error', 'expected an integer from 1 to 500'),
      }),
    ),
    'The invalid fields, if any',
  ),
  checks: shape.optional(v.array(checkShape), 'Only for /readyz: all checks with their results'),
})

/** The order in which the reference lists them. */
const NAMED: Readonly<Record<string, Schema>> = {
  ActionItem: itemShape,
  Alert: alertShape,
  AlertWithEvents: alertWithEventsShape,
  Channel: channelShape,
  ChannelTest: outcomeShape,
  Correlation: correlationShape,
  CreatedToken: createdShape,
  Delivery: deliveryShape,
  ChannelMessage: aboutChannelShape,
  DigestMessage: digestShape,
  Event: eventShape,
  EventWithPayload: eventWithPayloadShape,
  GroupMessage: groupShape,
  Incident: incidentShape,
  IncidentMessage: incidentMessageShape,
  IncidentWithTimeline: wholeIncidentShape,
  Matcher: matcherShape,
  Organization: organizationShape,
  Postmortem: postmortemShape,
  Problem: problemShape,
  Readiness: readyShape,
  Rejection: rejectionShape,
  Reliability: reliabilityShape,
  Sender: senderShape,
  Service: serviceShape,
  ServiceChanges: changesShape,
  ServiceHistory: historyShape,
  ServiceWithAlerts: wholeServiceShape,
  Silence: silenceShape,
  SilencePreview: previewShape,
  Suspect: suspectShape,
  TestMessage: testShape,
  TimelineEntry: timelineEntryShape,
  Token: tokenShape,
}

// Converts schemas and responses to the form of the OpenAPI document.

/** Returns the documentation of an error response. */
export function problemAnswer(description: string) {
  return { description, body: 'problem' as const }
}

/** Returns a response in the form of the document, with its status. */
export function answered(
  jsonSchema: ToJsonSchema,
  [status, answer]: [string, Route['answers'][number]],
): [string, OpenApiAnswer] {
  const { description, body, text } = answer
  const other = text ? { [text]: { schema: { type: 'string' } } } : null
  if (body === null) return [status, other ? { description, content: other } : { description }]
  if (body !== 'problem') {
    return [status, { description, content: { 'application/json': { schema: jsonSchema(body) }, ...other } }]
  }
  const schema = { $ref: refTo('Problem') }
  return [status, { description, content: { 'application/problem+json': { schema } } }]
}

/** Returns a schema as JSON Schema, or a reference to it if it is a named schema. */
export type ToJsonSchema = (schema: Schema) => JsonSchema

/** Converts all schemas of the document in one call, because each call would convert the named schemas again. */
export function convertSchemas(schemas: readonly Schema[]) {
  const others = Object.entries([...new Set(schemas)]).map(([index, schema]) => [`own-${index}`, schema] as const)
  const names = new Map<Schema, string>([...others, ...Object.entries(NAMED)].map(([name, schema]) => [schema, name]))
  const definitions = Object.fromEntries([...names].map(([schema, name]) => [name, schema as v.GenericSchema]))
  const converted: Readonly<Record<string, unknown>> = toJsonSchemaDefs(definitions, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    overrideRef: ({ referenceId }) => refTo(referenceId),
  })
  const jsonSchema: ToJsonSchema = (schema) => {
    const name = names.get(schema) ?? ''
    return (name in NAMED ? { $ref: refTo(name) } : converted[name]) as JsonSchema
  }
  return {
    jsonSchema,
    named: Object.fromEntries(Object.keys(NAMED).map((name) => [name, converted[name] as JsonSchema])),
  }
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}
