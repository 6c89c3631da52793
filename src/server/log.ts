/** The log: one JSON object per line, without secrets. */
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { forTerminal } from '../domain/terminal.ts'
import { redact } from '../intake/redact.ts'
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'

export type Log = Pick<Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'isLevelEnabled' | 'level'>

/**
 * Creates a log. Each line has `level`, `time`, `message` and other fields. Errors include their causes. Secrets are
 * redacted.
 * @param level `debug`, `info`, `warn` or `error`; can be changed later
 * @param write receives complete lines. pino's transports are not used because they load files at run time.
 */
export function createLog(level: string, write: (line: string) => void): Log {
  const options = {
    level,
    base: null,
    messageKey: 'message',
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (happening: Record<string, unknown>) => redact(withErrors(happening)) as Record<string, unknown>,
    },
  }
  return pino(options, { write })
}

/** Creates a log that writes to standard error. If standard error is closed, the server keeps running. */
export function createProcessLog(level: string): Log {
  process.stderr.on('error', () => {})
  return createLog(level, (line) => void process.stderr.write(forTerminal(line)))
}

function withErrors(happening: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(happening).map(([key, value]) => [key, told(value)]))
}

/** Returns an error with its causes and, if the database caused it, a remedy. */
function told(value: unknown, depth = 0): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack } = value
  const remedy = remedyOf(errorCode(value))
  const cause = value.cause && depth < 4 ? told(value.cause, depth + 1) : null
  return { name, message, stack, ...(remedy && { remedy }), ...(cause ? { cause } : {}) }
}
