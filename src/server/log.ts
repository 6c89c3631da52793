/** The log: one line of JSON for each happening, without secrets. */
import { type Logger, pino, stdTimeFunctions } from 'pino'
import { redact } from '../intake/redact.ts'
import { errorCode, remedyOf } from '../store/sqlite/fault.ts'

export type Log = Pick<Logger, 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'isLevelEnabled' | 'level'>

/**
 * Each line bears `level`, `time` and `message`, and what the happening itself says. Errors are told with their causes;
 * whatever looks like a secret is replaced.
 * @param level `debug`, `info`, `warn` or `error`; it may be set later on
 * @param write takes a line with its end; on purpose no transport of pino's, which would be looked for at run time
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

/** To standard error; a log that nobody takes any more is no reason to stop. */
export function createProcessLog(level: string): Log {
  process.stderr.on('error', () => {})
  return createLog(level, (line) => void process.stderr.write(line))
}

function withErrors(happening: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(happening).map(([key, value]) => [key, told(value)]))
}

/** An error with what caused it, as deep as anyone reads, and what is to be done about a fault of the store. */
function told(value: unknown, depth = 0): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack } = value
  const remedy = remedyOf(errorCode(value))
  const cause = value.cause && depth < 4 ? told(value.cause, depth + 1) : null
  return { name, message, stack, ...(remedy && { remedy }), ...(cause ? { cause } : {}) }
}
