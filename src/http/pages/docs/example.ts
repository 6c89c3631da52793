/** Examples out of schemas: what a request or an answer looks like, composed of the examples of its fields. */
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts'

/** Stands for a text of which nothing more is known. */
const SOME_TEXT = '…'

/** A value that fits the schema: its own example where it has one, else made of those of its parts. */
export function exampleOf(schema: JsonSchema, document: OpenApiDocument): unknown {
  const { examples, properties, items, anyOf } = schema
  if (examples && examples.length > 0) return examples[0]
  if (schema.$ref) return exampleOf(named(schema.$ref, document), document)
  if (properties) {
    return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, exampleOf(one, document)]))
  }
  if (items) return [exampleOf(items, document)]
  if (anyOf?.[0]) return exampleOf(anyOf[0], document)
  return plainExample(schema)
}

/** The shape that a reference names. */
function named(ref: string, document: OpenApiDocument): JsonSchema {
  return document.components.schemas[nameOf(ref)] ?? {}
}

/** `Alert` of `#/components/schemas/Alert`. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function plainExample(schema: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 0
  return schema.type === 'object' ? {} : SOME_TEXT
}
