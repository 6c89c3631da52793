/** The only class for errors that a caller caused or must know about. Any other thrown error is a bug. */

export type ErrorCode =
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

/** An error for the caller. `message` is one line. `fields` names the fields to correct. */
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
