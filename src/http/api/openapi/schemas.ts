/** Converts schemas and responses to the form of the OpenAPI document. */
import { toJsonSchema } from '@valibot/to-json-schema'
import type * as v from 'valibot'
import type { JsonSchema, OpenApiAnswer } from '../../docs/openapi-document.ts'
import type { Route, Schema } from '../../route.ts'
import { NAMED } from './named-schemas.ts'

/** Returns the documentation of an error response. */
export function problemAnswer(description: string) {
  return { description, body: 'problem' as const }
}

/** Returns a response in the form of the document, with its status. */
export function answered([status, answer]: [string, Route['answers'][number]]): [string, OpenApiAnswer] {
  const { description, body, text } = answer
  const other = text ? { [text]: { schema: { type: 'string' } } } : null
  if (body === null) return [status, other ? { description, content: other } : { description }]
  if (body !== 'problem') {
    return [status, { description, content: { 'application/json': { schema: jsonSchema(body) }, ...other } }]
  }
  const schema = { $ref: '#/components/schemas/Problem' }
  return [status, { description, content: { 'application/problem+json': { schema } } }]
}

/** Returns a schema as JSON Schema. Named schemas become references, except the schema that is being defined. */
export function jsonSchema(schema: Schema, defining?: string): JsonSchema {
  const definitions = Object.fromEntries(Object.entries(NAMED).filter(([name]) => name !== defining))
  const { $schema, $defs, ...own } = toJsonSchema(schema as v.GenericSchema, {
    target: 'draft-2020-12',
    typeMode: 'input',
    errorMode: 'ignore',
    definitions,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`,
  })
  return own as JsonSchema
}
