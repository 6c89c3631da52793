/** openapi.json: its descriptions are complete, and its examples match their schemas. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleOf } from '../../src/http/docs/curl.ts'
import type { JsonSchema, OpenApiOperation } from '../../src/http/docs/openapi-document.ts'
import { DOCUMENT, fits, fitsSchema, pointerTo } from '../helpers/openapi.ts'

type Place = { readonly parts: readonly string[]; readonly schema: JsonSchema }

const OPERATIONS = Object.entries(DOCUMENT.paths).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
)

type Media = { readonly schema: JsonSchema; readonly example?: unknown }

const MESSAGES = Object.entries(DOCUMENT.webhooks).flatMap(([path, byMethod]) =>
  Object.entries(byMethod).map(([method, operation]) => ({ path, method, operation })),
)

/** Every schema in the document with its location. */
const PLACES: readonly Place[] = [
  ...Object.entries(DOCUMENT.components.schemas).map(([name, schema]) => ({
    parts: ['components', 'schemas', name],
    schema,
  })),
  ...OPERATIONS.flatMap(({ path, method, operation }) => placesOf(['paths', path, method], operation)),
]

test('every example is valid against its schema', () => {
  assert.ok(PLACES.length > OPERATIONS.length)
  for (const { parts, schema } of PLACES) fits(pointerTo(parts), exampleOf(schema, DOCUMENT), parts.join(' '))
})

test('an invalid example is found', () => {
  const alert = exampleOf(DOCUMENT.components.schemas.Alert ?? {}, DOCUMENT) as object
  const wrong = { ...alert, severity: 'dreadful' }
  assert.throws(() => fits('#/components/schemas/Alert', wrong, 'Alert'), /severity must be equal to one of/)
})

test('every example of a body and a response is valid', () => {
  for (const { path, method, operation } of [...OPERATIONS, ...MESSAGES]) {
    const bodies = [operation.requestBody, ...Object.values(operation.responses)].map((one) => one?.content ?? {})
    for (const [type, { schema, example }] of bodies.flatMap((content) => Object.entries<Media>(content))) {
      if (!type.includes('json')) continue
      assert.notEqual(example, undefined, `${method} ${path}`)
      fitsSchema(schema, example, `${method} ${path}`)
    }
  }
})

const examplesOf = (status: string) =>
  OPERATIONS.flatMap(({ path, method, operation }) => {
    const media = Object.values<Media>(operation.responses[status]?.content ?? {})
    // biome-ignore lint/suspicious/noExplicitAny: an example is any JSON
    return media.map(({ example }) => ({ of: `${method} ${path}`, operation, example: example as any }))
  })

test('the example of an error names no parameter that its operation lacks, and has no checks', () => {
  for (const status of ['400', '404', '409', '503'])
    for (const { of, operation, example } of examplesOf(status)) {
      const names = new Set(operation.parameters.map(({ name }) => name))
      for (const { path } of example.errors ?? []) assert.ok(names.has(path), `${of}: ${path}`)
      assert.equal(example.checks, undefined, of)
    }
})

test('an unready server is described by its checks, and not by the database alone', () => {
  const told = DOCUMENT.paths['/readyz']?.get?.responses['503']?.description
  assert.equal(told, 'At least one check fails; checks lists all of them')
})

test('a filter by a record says which record it is', () => {
  const filters = OPERATIONS.flatMap(({ operation }) => operation.parameters.filter((one) => one.in === 'query'))
  for (const { name, description } of filters.filter((one) => /\wId$/.test(one.name)))
    assert.match(description, new RegExp(`this ${name.slice(0, -2)}$`))
})

test('every record in a path has a UUID, except an action item, which can have the name of a rule', () => {
  const parameters = OPERATIONS.flatMap(({ operation }) => operation.parameters.filter((one) => one.in === 'path'))
  const others = parameters.filter(({ schema }) => schema.format !== 'uuid').map(({ name }) => name)
  assert.deepEqual([...new Set(others)], ['actionId'])
})

test('the score of a suspect is no share: those of one incident can add up to more than 1', () => {
  const { score } = DOCUMENT.components.schemas.Suspect?.properties ?? {}
  assert.match(score?.description ?? '', /^How likely it is that this caused the incident/)
})

test('the error for a missing record names every record in the path', () => {
  const item = DOCUMENT.paths['/api/incidents/{id}/actions/{actionId}']
  assert.match(item?.delete?.responses['404']?.description ?? '', /has no incident or action with this id$/)
})

test('the postmortem says that it may be missing or not generated yet, whether it is read or changed', () => {
  const { get, patch } = DOCUMENT.paths['/api/incidents/{id}/postmortem'] ?? {}
  for (const one of [get, patch]) {
    assert.match(one?.responses['404']?.description ?? '', /or the incident has no postmortem$/)
    assert.match(one?.responses['503']?.description ?? '', /not written yet$/)
  }
})

test('the records of an example do not contradict each other', () => {
  for (const { of, example } of examplesOf('200')) {
    for (const one of [example].flat()) {
      if (one?.recentAlerts === undefined) continue
      assert.ok(
        one.recentAlerts.every((alert: { status: string }) => alert.status === 'firing'),
        of,
      )
      const [incident] = one.openIncidents
      assert.deepEqual([one.status, incident.problem, incident.problemState], ['critical', 'on', 'on'], of)
      assert.deepEqual([incident.alertCount, incident.firingAlerts], [1, 1], of)
      assert.equal(one.score, 100 - one.health[0].penalty, of)
    }
  }
  const silence = exampleOf(DOCUMENT.components.schemas.Silence ?? {}, DOCUMENT) as Record<string, unknown>
  assert.ok(String(silence.startsAt) < String(silence.endsAt))
  assert.deepEqual(
    [silence.status, silence.nextWindow],
    ['pending', { startsAt: silence.startsAt, endsAt: silence.endsAt }],
  )
})

test('every operation has its own name', () => {
  const names = [...OPERATIONS, ...MESSAGES].map(({ operation }) => operation.operationId)
  assert.equal(new Set(names).size, names.length)
  assert.deepEqual(
    names.filter((name) => !/^[a-z]+[A-Z]\w+$/.test(name)),
    [],
  )
})

test('every record of a response has a named schema, whatever the method and the status', () => {
  const recordsOf = (schema: JsonSchema): readonly JsonSchema[] => {
    const { anyOf, items, properties } = schema
    if (anyOf) return anyOf.flatMap(recordsOf)
    if (items) return recordsOf(items)
    return properties?.data?.items ? recordsOf(properties.data) : [schema]
  }
  const contents = OPERATIONS.flatMap(({ method, path, operation }) =>
    Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
      Object.values<Media>(content).map(({ schema }) => ({ at: `${method} ${path} ${status}`, schema })),
    ),
  )
  const nameless = contents.filter(({ schema }) => recordsOf(schema).some(({ properties }) => properties !== undefined))
  assert.ok(contents.length > 200)
  assert.deepEqual(
    nameless.map(({ at }) => at),
    [],
  )
})

test('every named schema is used', () => {
  const text = JSON.stringify(DOCUMENT)
  const names = Object.keys(DOCUMENT.components.schemas)
  assert.deepEqual(
    names.filter((name) => !text.includes(`#/components/schemas/${name}"`)),
    [],
  )
})

test('the document has the stream and the outgoing webhooks', () => {
  assert.ok(DOCUMENT.paths['/api/stream']?.get?.responses['200']?.content?.['text/event-stream'])
  assert.deepEqual(Object.keys(DOCUMENT.webhooks), ['incident', 'group', 'digest', 'test', 'channel'])
})

test('every operation has one tag with a description', () => {
  const known = DOCUMENT.tags.filter(({ description }) => description !== '').map(({ name }) => name)
  for (const { path, operation } of OPERATIONS) {
    assert.deepEqual([operation.tags.length, known.includes(operation.tags[0] ?? '')], [1, true], path)
  }
})

test('every tag has an operation', () => {
  const used = OPERATIONS.flatMap(({ operation }) => operation.tags)
  assert.deepEqual(
    DOCUMENT.tags.filter(({ name }) => !used.includes(name)),
    [],
  )
})

test('every parameter has a description', () => {
  const silent = OPERATIONS.flatMap(({ path, operation }) =>
    operation.parameters.filter(({ description }) => description === '').map(({ name }) => `${path} ${name}`),
  )
  assert.deepEqual(silent, [])
})

test('every error response has a description', () => {
  for (const { operation } of OPERATIONS) {
    for (const [status, { description }] of Object.entries(operation.responses)) {
      assert.ok(Number(status) < 400 || description.split(' ').length > 4, `${status}: ${description}`)
    }
  }
})

test('every field has a description', () => {
  const silent = PLACES.flatMap(({ parts, schema }) => silentFields(schema, parts.join(' ')))
  assert.deepEqual(silent, [])
})

/** Returns the fields without a description, including nested ones. */
function silentFields(schema: JsonSchema, where: string): string[] {
  const { properties = {}, items, anyOf = [] } = schema
  const inside = [...(items ? [items] : []), ...anyOf].flatMap((one) => silentFields(one, where))
  const own = Object.entries(properties).flatMap(([name, one]) => [
    ...(one.description || one.const !== undefined ? [] : [`${where} ${name}`]),
    ...silentFields(one, `${where} ${name}`),
  ])
  return [...inside, ...own]
}

/** Returns the schemas of an operation's body and responses with their locations. */
function placesOf(at: readonly string[], { requestBody, responses }: OpenApiOperation): Place[] {
  const contents = [
    ...Object.entries(requestBody?.content ?? {}).map(([type, one]) => ({ at: [...at, 'requestBody'], type, one })),
    ...Object.entries(responses).flatMap(([status, { content = {} }]) =>
      Object.entries(content).map(([type, one]) => ({ at: [...at, 'responses', status], type, one })),
    ),
  ]
  return contents.map(({ at, type, one }) => ({ parts: [...at, 'content', type, 'schema'], schema: one.schema }))
}
