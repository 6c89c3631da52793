/** /openapi.json: the routes as OpenAPI 3.1, from the very schemas that validate. */
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import { alertShape } from './alerts.ts'
import { correlationShape } from './correlations.ts'
import { eventShape } from './events.ts'
import { incidentShape } from './incidents.ts'
import { postmortemShape } from './postmortem-shape.ts'
import { TITLES } from './problem.ts'
import type { Route, Schema } from './route.ts'
import { success } from './shapes.ts'

/** Of the interface, not of the program: it rises when a client would have to change. */
const INTERFACE_VERSION = '1.0.0'

const problemShape = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  detail: v.string(),
  errors: v.optional(v.array(v.object({ path: v.string(), message: v.string() }))),
})

/** Shapes that several answers hold: written once, referred to by name. */
const NAMED = {
  Alert: alertShape,
  Correlation: correlationShape,
  Event: eventShape,
  Incident: incidentShape,
  Postmortem: postmortemShape,
  Problem: problemShape,
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'Authorization: Bearer <API_TOKEN>' },
  ci: { type: 'apiKey', in: 'header', name: 'X-Ci-Token', description: 'The token alone; X-Gitlab-Token is its equal' },
}

/** The route that answers with the document of all the others and itself. */
export function openApiRoute(others: readonly Route[]): Route {
  const route: Route = {
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    auth: null,
    query: null,
    body: null,
    answers: success(v.record(v.string(), v.unknown()), 'OpenAPI 3.1'),
    handle: (c) => c.json(document()),
  }
  let made: object | null = null
  const document = () => {
    made ??= openApi([...others, route])
    return made
  }
  return route
}

/** The OpenAPI 3.1 document of these routes. */
export function openApi(routes: readonly Route[]): object {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route) }
  }
  const schemas = Object.fromEntries(Object.entries(NAMED).map(([name, schema]) => [name, jsonSchema(schema, name)]))
  return {
    openapi: '3.1.1',
    info: { title: 'incmon', version: INTERFACE_VERSION, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    paths,
    components: { schemas, securitySchemes: SECURITY_SCHEMES },
  }
}

function operation(route: Route): object {
  const { auth, body, summary } = route
  return {
    summary,
    ...(auth ? { description: `Scope: ${auth.scope}.`, security: [{ [auth.carrier]: [] }] } : { security: [] }),
    parameters: [...pathParameters(route), ...queryParameters(route)],
    ...(body ? { requestBody: { required: true, content: { 'application/json': { schema: jsonSchema(body) } } } } : {}),
    responses: { ...refusalsOf(route), ...Object.fromEntries(Object.entries(route.answers).map(answered)) },
  }
}

function pathParameters({ path }: Route): object[] {
  const uuid = { type: 'string', format: 'uuid' }
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: uuid }))
}

function queryParameters({ query }: Route): object[] {
  if (!query) return []
  const { properties = {}, required = [] } = jsonSchema(query)
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }))
}

/** What any route of this kind may answer: 404, 409 and 422 never come from a webhook, whose refusals senders count. */
function refusalsOf(route: Route): Record<string, object> {
  const isWebhook = route.auth?.scope === 'ingest'
  const hasId = route.path.includes(':id')
  const statuses: (keyof typeof TITLES)[] = [500]
  if (route.query || route.body) statuses.push(400)
  if (route.auth) statuses.push(401)
  if (route.auth && !isWebhook) statuses.push(403)
  if (hasId) statuses.push(404)
  if (route.body) statuses.push(413)
  if (route.body && !isWebhook) statuses.push(415)
  if (route.method !== 'GET' || route.path === '/readyz') statuses.push(503)
  return Object.fromEntries(statuses.map((status) => answered([String(status), PROBLEM(TITLES[status])])))
}

const PROBLEM = (description: string) => ({ description, body: 'problem' as const })

function answered([status, answer]: [string, Route['answers'][number]]): [string, object] {
  const { description, body, text } = answer
  if (body === null) return [status, { description }]
  if (body !== 'problem') {
    const other = text ? { [text]: { schema: { type: 'string' } } } : {}
    return [status, { description, content: { 'application/json': { schema: jsonSchema(body) }, ...other } }]
  }
  const schema = { $ref: '#/components/schemas/Problem' }
  return [status, { description, content: { 'application/problem+json': { schema } } }]
}

/** Named shapes become references, but for the one that is being defined. */
function jsonSchema(schema: Schema, defining?: string): JsonSchema {
  const definitions = Object.fromEntries(Object.entries(NAMED).filter(([name]) => name !== defining))
  const { $schema, $defs, ...own } = toJsonSchema(schema as v.GenericSchema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    definitions,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  })
  return own
}
