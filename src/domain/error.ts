/** Errors to report to the caller. Any other thrown error is a bug. */

type ErrorCode =
  | 'invalid'
  | 'unauthorized'
  | 'forbidden'
  | 'not-found'
  | 'conflict'
  | 'unprocessable'
  | 'too-slow'
  | 'too-large'
  | 'head-too-large'
  | 'unsupported'
  | 'unavailable'

export type FieldError = { readonly path: string; readonly message: string }

/** An error to report to the caller. `message` is one line. `fields` lists the invalid fields. */
export class IncmonError extends Error {
  readonly code: ErrorCode
  readonly fields: readonly FieldError[]

  constructor(code: ErrorCode, message: string, fields: readonly FieldError[] = []) {
    super(message)
    this.name = 'IncmonError'
    this.code = code
    this.fields = fields
  }
}

/** Returns the error for an invalid field of the body or an invalid parameter of the query. */
export function invalidField(where: 'body' | 'query', path: string, message: string): IncmonError {
  return new IncmonError('invalid', `${where}: ${path}: ${message}`, [{ path, message }])
}
