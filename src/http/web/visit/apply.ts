/** Processes a form with the schema and the function of the corresponding API request. */
import * as v from 'valibot'
import { IncmonError } from '../../../domain/error.ts'
import { capitalized } from '../../../domain/postmortem/words.ts'
import { faults } from '../../middleware/query.ts'
import type { Fault } from '../../pages/kit/form.tsx'

/**
 * The form field that corresponds to an API field, with its element id and label. `path` has a capturing group for each
 * index.
 */
export type FieldName = {
  readonly path: RegExp
  readonly id: (...groups: readonly string[]) => string
  readonly label: (...groups: readonly string[]) => string
}

/** Returns the name of a field that is not part of a list. */
export function fieldName(path: string, id: string, label: string): FieldName {
  const escaped = path.replaceAll(/[.[\]]/g, '\\$&')
  return { path: new RegExp(`^${escaped}$`), id: () => id, label: () => label }
}

/** Validates a form against a request body's schema. @throws IncmonError `invalid` with the path of each field */
export function validated<Output>(schema: v.GenericSchema<unknown, Output>, body: unknown): Output {
  const result = v.safeParse(schema, body)
  if (!result.success) throw faults(result.issues, 'body')
  return result.output
}

/** Runs an action. If the input is invalid, returns the errors by form field. Other errors are rethrown. */
export async function withFormErrors<Result>(
  fields: readonly FieldName[],
  action: () => Result | Promise<Result>,
): Promise<
  { readonly done: Result; readonly faults: readonly [] } | { readonly faults: readonly [Fault, ...Fault[]] }
> {
  try {
    return { done: await action(), faults: [] }
  } catch (error) {
    if (!(error instanceof IncmonError) || !['invalid', 'conflict'].includes(error.code)) throw error
    const [first, ...rest] = error.fields.map(({ path, message }) => faultOf(fields, path, message))
    return { faults: first ? [first, ...rest] : [{ path: '', message: sentence(error.message) }] }
  }
}

function faultOf(fields: readonly FieldName[], path: string, message: string): Fault {
  for (const { path: pattern, id, label } of fields) {
    const match = pattern.exec(path)
    if (match) return { path: id(...match.slice(1)), label: label(...match.slice(1)), message: sentence(message) }
  }
  return { path: '', message: sentence(message) }
}

/** Formats an API message as a sentence. */
export function sentence(text: string): string {
  const capital = capitalized(text)
  return /[.?!]$/.test(capital) ? capital : `${capital}.`
}
