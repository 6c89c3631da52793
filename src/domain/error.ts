/** Errors: the one class for what a caller did wrong or must know; anything else thrown is a bug. */

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

/** An answer that is no success: `message` is one line for the caller, `fields` names what to mend. */
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
