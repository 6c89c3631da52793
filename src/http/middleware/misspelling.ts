/**
 * Rejects misspelled parameters and fields in REST requests. If a misspelled name were ignored, the request would do
 * something that the caller did not intend.
 */
import type * as v from 'valibot'
import { type FieldError, IncmonError, invalidField } from '../../domain/error.ts'
import { misspelled } from '../../domain/suggestion.ts'

type Schema = v.GenericSchema<unknown, unknown>
/** The parts of valibot's schemas that contain field names. */
type Inside = {
  readonly entries?: Readonly<Record<string, Schema>>
  readonly item?: Schema
  readonly wrapped?: Schema
  readonly pipe?: readonly unknown[]
}

/**
 * The maximum number of names to compare. If there are more unknown names, they are probably not misspelled, and
 * comparing them would be slow.
 */
const MAX_NAMES = 200
const DRY_RUN = 'dryRun'

/** @throws IncmonError `invalid` that lists each misspelled parameter or field with its correct name */
export function refuseMisspelled(where: 'query' | 'body', schema: Schema, value: unknown): void {
  const what = where === 'query' ? 'parameter' : 'field'
  const fields = faultsIn(schema, value, '').map(({ path, meant }): FieldError => {
    return { path, message: `unknown ${what}; did you mean ${meant}?` }
  })
  const [first] = fields
  if (first) throw new IncmonError('invalid', `${where}: ${first.path}: ${first.message}`, fields)
}

/**
 * Rejects `dryRun` and its misspellings on paths without a dry run. If the parameter were ignored, the request would
 * change data.
 * @throws IncmonError `invalid` that names the parameter
 */
export function refuseUnknownDryRun(schema: Schema | undefined, query: Readonly<Record<string, string>>): void {
  if (schema && namesOf(schema).includes(DRY_RUN)) return
  const name = Object.keys(query).find((one) => one === DRY_RUN || misspelled(one, [DRY_RUN]) !== null)
  if (name !== undefined) throw invalidField('query', name, 'this path does not support dryRun; nothing was changed')
}

/**
 * Rejects a PATCH without any known field, which would return 200 without changing anything.
 * @throws IncmonError `invalid` that lists the known fields
 */
export function refuseEmptyPatch(schema: Schema, body: unknown): void {
  const known = namesOf(schema)
  if (known.length === 0 || typeof body !== 'object' || body === null) return
  if (known.some((name) => Object.hasOwn(body, name))) return
  throw new IncmonError('invalid', `body: contains no known field; send at least one of ${known.join(', ')}`)
}

function faultsIn(schema: Schema, value: unknown, path: string): { path: string; meant: string }[] {
  if (typeof value !== 'object' || value === null) return []
  const { entries, item } = insideOf(schema)
  if (item && Array.isArray(value)) return value.flatMap((one, index) => faultsIn(item, one, `${path}[${index}]`))
  if (!entries || Array.isArray(value)) return []
  const known = Object.keys(entries)
  const names = Object.keys(value).slice(0, MAX_NAMES)
  return names.flatMap((name) => {
    const own = path === '' ? name : `${path}.${name}`
    const child = Object.hasOwn(entries, name) ? entries[name] : undefined
    if (child) return faultsIn(child, (value as Record<string, unknown>)[name], own)
    const meant = misspelled(name, known) ?? beginningOf(name, known)
    return meant === null ? [] : [{ path: own, meant }]
  })
}

const SHORTEST_BEGINNING = 4

/** Returns the known name that begins with an unknown name, as `matchers` with `match`, or null. */
function beginningOf(name: string, known: readonly string[]): string | null {
  if (known.includes(name) || name.length < SHORTEST_BEGINNING) return null
  return known.find((one) => one.startsWith(name)) ?? null
}

function namesOf(schema: Schema): string[] {
  return Object.keys(insideOf(schema).entries ?? {})
}

/** Returns the schema that `optional`, `nullable` or a pipe wraps. The fields of both schemas are the same. */
function insideOf(schema: Schema): Inside {
  const inside = schema as Inside
  if (inside.entries || inside.item || !inside.wrapped) return inside
  return insideOf(inside.wrapped)
}
