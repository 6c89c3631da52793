/** The schemas that the OpenAPI document defines once, by the names of their types in clients. */

import { toJsonSchemaDefs } from '@valibot/to-json-schema'
import * as v from 'valibot'
import type { JsonSchema, OpenApiAnswer } from '../../docs/openapi-document.ts'
import type { Route, Schema } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { checkShape } from '../health.ts'

shape.named('Problem', {
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
  const others = Object.entries([...new Set(schemas)]).map(([index, schema]) => [schema, `own-${index}`] as const)
  const names = new Map([...others, ...shape.NAMED])
  const definitions = Object.fromEntries([...names].map(([schema, name]) => [name, schema as v.GenericSchema]))
  const converted: Readonly<Record<string, unknown>> = toJsonSchemaDefs(definitions, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    overrideRef: ({ referenceId }) => refTo(referenceId),
  })
  const jsonSchema: ToJsonSchema = (schema) => {
    const name = shape.NAMED.get(schema)
    return (name ? { $ref: refTo(name) } : converted[names.get(schema) ?? '']) as JsonSchema
  }
  return {
    jsonSchema,
    named: Object.fromEntries([...shape.NAMED.values()].sort().map((name) => [name, converted[name] as JsonSchema])),
  }
}

function refTo(name: string): string {
  return `#/components/schemas/${name}`
}
