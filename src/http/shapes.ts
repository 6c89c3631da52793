/**
 * Builds the schemas of requests and responses. A schema validates data, and the schema's descriptions become the
 * documentation.
 */
import * as v from 'valibot'
import { SOURCES } from '../domain/event/event.ts'
import { formatInstant } from '../domain/instant.ts'
import { SEVERITIES } from '../domain/severity.ts'
import type { Schema } from './route.ts'

/** The UUID used in examples. */
export const EXAMPLE_ID = '01997b3e-5c1a-7d20-9f4e-3a8c6b2d1e05'

/** Adds a description and examples to a schema. Returns the schema unchanged if there is no description. */
export function described<Described extends Schema>(
  schema: Described,
  description?: string,
  ...examples: unknown[]
): Described {
  if (description === undefined) return schema
  const metadata = v.metadata(examples.length > 0 ? { description, examples } : { description })
  // Metadata must precede any transformation. Otherwise, the metadata would describe the output instead of the input.
  const [first, ...rest] = ('pipe' in schema ? schema.pipe : [schema]) as [
    Schema,
    ...v.PipeItem<unknown, unknown, never>[],
  ]
  return v.pipe(first, metadata as v.PipeItem<unknown, unknown, never>, ...rest) as unknown as Described
}

type Description = [description?: string, ...examples: unknown[]]

const UUID = v.pipe(v.string(), v.uuid(), v.metadata({ examples: [EXAMPLE_ID] }))
const INSTANT = v.pipe(v.string(), v.isoTimestamp(), v.metadata({ examples: ['2026-11-20T09:33:00.000Z'] }))
const COUNT = v.pipe(v.number(), v.integer(), v.minValue(0))
const TEXTS = v.record(v.string(), v.string())

/** Schemas of common values, each with an optional description and examples. `instant`: a time in ISO 8601 UTC. */
export const text = (...description: Description) => described(v.string(), ...description)
export const flag = (...description: Description) => described(v.boolean(), ...description)
export const count = (...description: Description) => described(COUNT, ...description)
export const uuid = (...description: Description) => described(UUID, ...description)
export const instant = (...description: Description) => described(INSTANT, ...description)
export const texts = (...description: Description) => described(TEXTS, ...description)

/** Returns the schema of a field that accepts only the given words. */
export function choice<const Words extends readonly string[]>(words: Words, ...description: Description) {
  return described(v.picklist(words), ...description)
}

/** Returns the schema of a value or null. */
export function nullable<Item extends Schema>(item: Item, ...description: Description) {
  return described(v.nullable(item), ...description)
}

/** Returns the schema of a field that can be omitted. */
export function optional<Item extends Schema>(item: Item, ...description: Description) {
  return v.optional(described(item, ...description))
}
export function list<Item extends Schema>(item: Item, ...description: Description) {
  return described(v.array(item), ...description)
}

/** Returns the schema of an object with these fields. */
export function object<Entries extends v.ObjectEntries>(entries: Entries, ...description: Description) {
  return described(v.object(entries), ...description)
}

/** Returns the schema of a list of objects with these fields. */
export function objects<Entries extends v.ObjectEntries>(entries: Entries, ...description: Description) {
  return list(v.object(entries), ...description)
}

/** The schemas that the OpenAPI document defines once, by the names of their types in clients. */
export const NAMED = new Map<Schema, string>()

/** Gives a schema its name in the OpenAPI document. */
export function name<Named extends Schema>(type: string, schema: Named): Named {
  NAMED.set(schema, type)
  return schema
}

/** Returns the schema of an object with these fields, which has this name in the OpenAPI document. */
export function named<Entries extends v.ObjectEntries>(type: string, entries: Entries) {
  return name(type, v.object(entries))
}

/** Fields that many records have in common. */
export const id = uuid('The UUID of the record')
export const severity = choice(SEVERITIES, 'The severity')
export const source = choice(SOURCES, 'The webhook that received the data')
export const reasons = objects(
  {
    code: text('A machine-readable code', 'during'),
    text: text('A human-readable explanation', 'began 2 min after the change started'),
  },
  'The reasons for the score',
)
export const bySeverity = v.object({
  critical: count('The count for this severity', 2),
  error: count('The count for this severity', 1),
  warning: count('The count for this severity', 0),
  info: count('The count for this severity', 0),
})

const pagination = object(
  {
    page: count('The number of this page', 1),
    limit: count('Records per page', 50),
    total: count('The number of records on all pages', 1),
    totalPages: count('Number of pages', 1),
  },
  'The position of this page in the list',
)
export function page<Item extends Schema>(item: Item) {
  return v.object({ data: list(item, 'The records of this page'), pagination })
}

/** The fields of a record before conversion. Times are Unix times in milliseconds. */
type Fields<Shown> = { readonly [Name in keyof Shown]: Field<Shown[Name]> }
type Field<Shown> = Shown extends (infer Item)[] ? readonly Item[] : string extends Shown ? Shown | number : Shown

/**
 * Returns a function that converts records to their API format. The result has exactly the fields of the shape, with
 * times in ISO 8601 UTC.
 */
export function shower<Entries extends v.ObjectEntries>(shape: v.ObjectSchema<Entries, undefined>) {
  type Shown = v.InferInput<typeof shape>
  const fields = Object.entries(shape.entries).map(([name, field]) => ({ name, isTime: isInstant(field) }))
  return (record: Fields<Shown>): Shown => {
    const shown: Record<string, unknown> = {}
    for (const { name, isTime } of fields) {
      const value: unknown = record[name as keyof Shown]
      shown[name] = isTime && typeof value === 'number' ? formatInstant(value) : value
    }
    return shown as Shown
  }
}

function isInstant(schema: object): boolean {
  if ('wrapped' in schema) return isInstant(schema.wrapped as object)
  return 'pipe' in schema && (schema.pipe as { type: string }[]).some(({ type }) => type === 'iso_timestamp')
}

/** Returns a time in ISO 8601 UTC, or null for null. */
export function instantText<Ms extends number | null>(ms: Ms): string | (null & Ms) {
  return ms === null ? (ms as null & Ms) : formatInstant(ms)
}
