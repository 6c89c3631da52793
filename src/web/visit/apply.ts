/** Processes a form with the schema and the function of the corresponding API request. */
import * as v from 'valibot'
import { IncmonError } from '../../domain/error.ts'
import { capitalized } from '../../domain/text.ts'
import { faults } from '../../http/middleware/query.ts'
import type { Fault } from '../kit/form.tsx'

/**
 * The element id and the label of the form field for each API field. The key is the path of the API field, with `[]` for
 * any index. `#` stands for the index in the id, and for the number, which starts at 1, in the label.
 */
export type FieldNames = Readonly<Record<string, readonly [id: string, label: string]>>

/** Validates a form against a request body's schema. @throws IncmonError `invalid` with the path of each field */
export function validated<Output>(schema: v.GenericSchema<unknown, Output>, body: unknown): Output {
  const result = v.safeParse(schema, body)
  if (!result.success) throw faults(result.issues, 'body')
  return result.output
}

/** Runs an action. If the input is invalid, returns the errors by form field. Other errors are rethrown. */
export async function withFormErrors<Result>(
  fields: FieldNames,
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

function faultOf(fields: FieldNames, path: string, message: string): Fault {
  const found = fields[path.replaceAll(/\[\d+\]/g, '[]')]
  if (!found) return { path: '', message: sentence(message) }
  const [id, label] = found
  const index = Number(/\[(\d+)\]/.exec(path)?.[1] ?? 0)
  return { path: id.replace('#', `${index}`), label: label.replace('#', `${index + 1}`), message: sentence(message) }
}

/** Formats an API message as a sentence. */
export function sentence(text: string): string {
  const capital = capitalized(text)
  return /[.?!]$/.test(capital) ? capital : `${capital}.`
}
