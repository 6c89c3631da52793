/** Converts schemas and responses to the form of the OpenAPI document. */
import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { JsonSchema, OpenApiAnswer } from '../../docs/openapi-document.ts'
import type { Route, Schema } from '../../route.ts'
import { NAMED } from './named-schemas.ts'

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
