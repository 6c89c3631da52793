/** /openapi.json: generates OpenAPI 3.1 from the schemas that validate requests. */
import * as v from 'valibot'
import { builtDocument, programVersion } from '../../../assets.ts'
import { once } from '../../../domain/memoize.ts'
import { capitalized } from '../../../domain/text.ts'
import { createAsset } from '../../../server/web.ts'
import type { JsonSchema, OpenApiDocument, OpenApiOperation, OpenApiParameter } from '../../docs/openapi-document.ts'
import { MAX_KEY } from '../../middleware/header.ts'
import { MEANINGS } from '../../middleware/problem.ts'
import { answerAsset } from '../../middleware/reply.ts'
import type { Answers, Route, Schema } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { success } from '../answers.ts'
import { withExamples } from './examples.ts'
import { MESSAGES } from './messages.ts'
import { answered, convertSchemas, problemAnswer, type ToJsonSchema } from './named-schemas.ts'

/** The stream is documented like a route, and served with the pages. */
type Documented = Omit<Route, 'handle'>

/** The groups of operations, in the order in which the documentation shows them. */
const TAGS = {
  webhooks: 'Senders push events to these endpoints. A 200 response means that the events are on disk.',
  services: 'The monitored workloads, each with its status and score.',
  alerts: 'Problems with services. Many events can belong to one alert.',
  events: 'The items that senders sent. Events never change.',
  incidents: 'Problems that need a response, tracked from the first alert to the postmortem.',
  correlations: 'Suspected links between a change and a condition of the same service.',
  reports: 'Reliability figures for a period, with their definitions.',
  silences: 'Silences mute alerts. A silenced alert opens no incident and sends no notifications.',
  channels: 'The receivers of messages about incidents.',
  deliveries: 'The messages to channels, with the errors of failed deliveries.',
  sources: 'The senders, each with the time of its last item.',
  rejections: 'Webhook items that could not be used, each with its error.',
  organization: 'The organization of the token.',
  tokens: 'The tokens that authenticate requests.',
  server: 'The server itself: health, metrics and documentation.',
} as const

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The Authorization: Bearer <API_TOKEN> header' },
  ci: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Ci-Token',
    description: 'The token without Bearer. X-Gitlab-Token is also accepted.',
  },
}

export const UNCHANGED: Answers = {
  304: { description: 'The document is unchanged: it still has the ETag in If-None-Match', body: null },
}
export function openApiRoute(document: () => OpenApiDocument): Route {
  const asset = once(() => createAsset(builtDocument('openapi.json') ?? JSON.stringify(document()), 'application/json'))
  return {
    method: 'GET',
    path: '/openapi.json',
    summary: 'Show this document',
    answers: { ...success(v.record(v.string(), v.unknown()), 'OpenAPI 3.1'), ...UNCHANGED },
    handle: (c) => answerAsset(c, asset(), { 'cache-control': 'no-cache' }),
  }
}

/** Generates the OpenAPI 3.1 document of these routes. */
export function openApi(routes: readonly Route[]): OpenApiDocument {
  const { jsonSchema, named } = convertSchemas(routes.flatMap(schemasOf))
  const paths: Record<string, Record<string, OpenApiOperation>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, jsonSchema) }
  }
  paths[STREAM.path] = { get: { ...operation(STREAM, jsonSchema), parameters: [LAST_EVENT_ID] } }
  return withExamples({
    openapi: '3.1.1',
    info: { title: 'incmon', version: programVersion(), license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    webhooks: Object.fromEntries(
      Object.entries(MESSAGES).map(([name, [told, schema]]) => [name, sent(name, told, jsonSchema(schema))]),
    ),
    components: { schemas: named, securitySchemes: SECURITY_SCHEMES },
  })
}

function schemasOf({ query, body, answers }: Route): Schema[] {
  return [query, body, ...Object.values(answers).map((answer) => answer.body)].filter(isSchema)
}

function isSchema(body: Schema | 'problem' | null | undefined): body is Schema {
  return body !== null && body !== undefined && body !== 'problem'
}

function operation(route: Documented, jsonSchema: ToJsonSchema): OpenApiOperation {
  const { auth, body, summary, description } = route
  const told = [description, auth && `Scope: ${auth.scope}.`].filter(Boolean).join(' ')
  return {
    operationId: operationIdOf(route),
    tags: [tagOf(route)],
    summary,
    ...(told === '' ? {} : { description: told }),
    security: auth ? [{ [auth.carrier]: [auth.scope] }] : [],
    parameters: [...pathParameters(route), ...queryParameters(route, jsonSchema), ...headerParameters(route)],
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body) } } } } : {}),
    responses: Object.fromEntries(
      Object.entries({ ...refusalsOf(route), ...route.answers }).map((entry) => answered(jsonSchema, entry)),
    ),
  }
}

/** The operations that are neither a list nor a change of one record. */
const OPERATION_NAMES: Readonly<Record<string, string>> = {
  'POST /api/webhooks/cluster': 'sendKubernetesEvent',
  'POST /api/webhooks/metrics': 'sendAlertmanagerNotification',
  'POST /api/webhooks/dashboard': 'sendGrafanaNotification',
  'POST /api/webhooks/ci': 'sendGitlabEvent',
  'POST /api/services/:id/merge': 'mergeService',
  'GET /api/services/:id/history': 'getServiceHistory',
  'GET /api/services/:id/changes': 'getServiceChanges',
  'PATCH /api/alerts/:id': 'resolveAlert',
  'POST /api/incidents/:id/merge': 'mergeIncident',
  'POST /api/incidents/:id/acknowledge-group': 'acknowledgeIncidentGroup',
  'POST /api/incidents/:id/notes': 'addIncidentNote',
  'GET /api/incidents/:id/postmortem': 'getPostmortem',
  'PATCH /api/incidents/:id/postmortem': 'updatePostmortem',
  'GET /api/reports/reliability': 'getReliabilityReport',
  'DELETE /api/silences/:id': 'expireSilence',
  'POST /api/channels/:id/test': 'testChannel',
  'POST /api/channels/:id/rotate-secret': 'rotateChannelSecret',
  'GET /api/sources': 'listSenders',
  'GET /api/organization': 'getOrganization',
  'DELETE /api/tokens/:id': 'revokeToken',
  'GET /api/stream': 'streamChanges',
  'GET /healthz': 'getHealth',
  'GET /readyz': 'getReadiness',
  'GET /metrics': 'getMetrics',
  'GET /openapi.json': 'getOpenApi',
  'GET /docs': 'getDocs',
}
const VERBS = { GET: 'get', POST: 'create', PATCH: 'update', DELETE: 'delete' } as const

/** Returns the name of an operation, for example `listServices`, `getService` or `createIncidentAction`. */
function operationIdOf({ method, path }: Pick<Route, 'method' | 'path'>): string {
  const known = OPERATION_NAMES[`${method} ${path}`]
  if (known !== undefined) return known
  const nouns = path.split('/').slice(2)
  const isList = method === 'GET' && !nouns.at(-1)?.startsWith(':')
  const words = nouns.filter((noun) => !noun.startsWith(':')).map(capitalized)
  const named = words.map((word, index) => (isList && index === words.length - 1 ? word : word.replace(/s$/, '')))
  return (isList ? 'list' : VERBS[method]) + named.join('')
}

/** Returns the group of a route: the first known noun after /api, or `server`. */
function tagOf({ path }: Documented): string {
  const [, noun = ''] = /^\/api\/([\w-]+)/.exec(path) ?? []
  return noun in TAGS ? noun : 'server'
}

function pathParameters({ path }: Documented): OpenApiParameter[] {
  const text = { type: 'string', examples: [shape.EXAMPLE_ID] }
  return [...path.matchAll(/\/(\w+?)s?\/:(\w+)/g)].map(([, noun, name = '']) => ({
    name,
    in: 'path',
    description: `The id of the ${noun}`,
    required: true,
    // The name of a rule identifies the action item that the rule suggested.
    schema: name === 'actionId' ? text : { ...text, format: 'uuid' },
  }))
}

function queryParameters({ query }: Documented, jsonSchema: ToJsonSchema): OpenApiParameter[] {
  if (!query) return []
  const { properties = {}, required = [] } = jsonSchema(query)
  return Object.entries(properties).map(([name, property]) => {
    const { description = '', ...schema } = property
    return { name, in: 'query', description, required: required.includes(name), schema }
  })
}

function headerParameters({ auth, takesKey }: Documented): OpenApiParameter[] {
  if (auth?.scope !== 'ingest' && !takesKey) return []
  const description =
    'A unique key for this request. Repeating the request with the same key and body within 24 hours changes nothing.'
  const schema = { type: 'string', maxLength: MAX_KEY }
  return [{ name: 'Idempotency-Key', in: 'header', description, required: false, schema }]
}

/** Returns the error responses that apply to every route of this kind. A webhook never returns 404, 409 or 422. */
function refusalsOf(route: Documented): Answers {
  const isWebhook = route.auth?.scope === 'ingest'
  const hasId = route.path.includes(':id')
  const statuses: (keyof typeof MEANINGS)[] = [500]
  if (route.query || route.body) statuses.push(400)
  if (route.auth) statuses.push(401)
  if (route.auth && !isWebhook) statuses.push(403)
  if (hasId) statuses.push(404)
  if (route.body) statuses.push(408, 413)
  if (route.body && !isWebhook) statuses.push(415)
  if (route.method !== 'GET' || route.path === '/readyz') statuses.push(503)
  return Object.fromEntries(statuses.map((status) => [status, problemAnswer(causeOf(status, route))]))
}

/** Returns why this operation answers with an error. */
function causeOf(status: keyof typeof MEANINGS, { auth, path }: Documented): string {
  const isWebhook = auth?.scope === 'ingest'
  const nouns = [...path.matchAll(/\/(\w+?)s?\/:/g)].map(([, noun]) => noun)
  if (status === 403) return `The token does not have the scope ${auth?.scope}`
  if (status === 404) return `The organization of the token has no ${nouns.join(' or ')} with this id`
  if (status === 413) return `The body is larger than ${isWebhook ? '10 MiB' : '1 MiB'}`
  if (status === 401 && isWebhook) return 'The token is missing, unknown, expired or revoked, or lacks the scope ingest'
  return status === 401 ? 'The token is missing, unknown, expired or revoked' : MEANINGS[status]
}

/** The stream is not a route of the API, because a page can open it with its session instead of a token. */
const STREAM: Omit<Route, 'handle'> = {
  method: 'GET',
  path: '/api/stream',
  summary: 'Stream the changes as Server-Sent Events',
  description:
    'Each event has the kind of the changed record as its name and the id as its data, or * if more than 50 records ' +
    'changed. After a gap that the server no longer has, it sends reset.',
  auth: { carrier: 'bearer', scope: 'read' },
  answers: {
    200: { description: 'The stream, which ends when the token is revoked', body: null, text: 'text/event-stream' },
    503: problemAnswer('The organization has the maximum number of open streams'),
  },
}

const LAST_EVENT_ID: OpenApiParameter = {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The id of the last event that the client received, to receive the events that it missed',
  required: false,
  schema: { type: 'string' },
}

/** Returns the operation of a receiver: it gets a message that is signed according to Standard Webhooks. */
function sent(name: string, told: string, schema: JsonSchema): Record<string, OpenApiOperation> {
  const header = (name: string, description: string): OpenApiParameter => {
    return { name, in: 'header', description, required: true, schema: { type: 'string' } }
  }
  const post: OpenApiOperation = {
    operationId: `receive${capitalized(name)}Message`,
    tags: ['channels'],
    summary: told,
    description: 'incmon sends this message to each channel of the kind webhook whose rules match.',
    security: [],
    parameters: [
      header('webhook-id', 'The UUID of the message, the same for all attempts'),
      header('webhook-timestamp', 'When the attempt was made, as Unix time in seconds'),
      header('webhook-signature', 'The signatures of the message with the secret of the channel'),
    ],
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      200: { description: 'Any 2xx status: the message was received' },
      400: { description: 'Also 413 and 422: the message is not sent again' },
      410: { description: 'The channel is disabled' },
      500: { description: 'Any other status: the message is sent again, for 24 hours' },
    },
  }
  return { post }
}
