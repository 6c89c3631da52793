/** Builds an example of a request or response from its schema. */
import type { JsonSchema, OpenApiDocument } from './openapi-document.ts'

/** The example of a string without format. */
const SOME_TEXT = '…'

/** Returns a valid value: the schema's own example, or a value built from the examples of its fields. */
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

/** Returns the schema that `ref` refers to. */
function named(ref: string, document: OpenApiDocument): JsonSchema {
  return document.components.schemas[nameOf(ref)] ?? {}
}

/** Returns `Alert` for `#/components/schemas/Alert`. */
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
