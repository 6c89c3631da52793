/** Reports why a command failed: messages for people and an exit code for scripts. */
import { CommanderError } from 'commander'
import { IncmonError } from '../domain/error.ts'
import { StartError } from '../server/running.ts'
import { remedyOf, StoreError } from '../store/sqlite/fault.ts'

/** Incorrect usage of an argument, an option or a setting. Each line says what is allowed. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
  readonly lines: readonly string[]
  constructor(...lines: string[]) {
    super(lines.join('\n'))
    this.lines = lines
  }
}

/** Thrown if a command fails. The message says why the command failed and what to do. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

/** An error response from the API. The message is the response's `detail`. */
export class ErrorResponse extends CommandError {
  readonly status: number
  /** Errors about invalid fields or rejected webhook items. */
  readonly errors: readonly { readonly path: string; readonly message: string }[]
  constructor(status: number, message: string, errors: ErrorResponse['errors']) {
    super(message)
    this.status = status
    this.errors = errors
  }
}

/** Thrown after a command has printed a negative result, to exit with code 1 without a message. */
export class NegativeAnswer extends Error {
  override readonly name = 'NegativeAnswer'
}

/** Errors whose message is all that a person needs. */
const REPORTED = [StoreError, IncmonError, StartError, CommandError] as const

/** What to do about an unknown file system error. */
const UNKNOWN = 'check the file, its owner and its mode'

/**
 * Returns the lines for stderr, with a stack trace if the error is a bug. Also returns the exit code, which is 2 for
 * incorrect usage and otherwise 1.
 */
export function explainFailure(error: unknown): { readonly lines: readonly string[]; readonly exitCode: number } {
  // Commander has already printed the help or the version.
  if (error instanceof CommanderError) return { lines: [], exitCode: error.exitCode === 0 ? 0 : 2 }
  if (error instanceof NegativeAnswer) return { lines: [], exitCode: 1 }
  if (error instanceof UsageError) return { lines: error.lines.map(oneLine), exitCode: 2 }
  if (REPORTED.some((kind) => error instanceof kind)) return { lines: [oneLine((error as Error).message)], exitCode: 1 }
  const code = error instanceof Error && 'code' in error ? String(error.code) : null
  if (code === null || code.startsWith('ERR_'))
    return { lines: [`a bug: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`], exitCode: 1 }
  return { lines: [oneLine(`${(error as Error).message} (${code}); ${remedyOf(code) ?? UNKNOWN}`)], exitCode: 1 }
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/g, ' ')
}
