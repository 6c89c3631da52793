/**
 * SIGTERM and SIGINT shut the server down gracefully and leave a single database file. SIGHUP reloads the configuration
 * and the certificate.
 */
import { isDeepStrictEqual } from 'node:util'
import { type Config, type Flags, readConfig } from '../config.ts'
import { forTerminal } from '../domain/terminal.ts'
import { truncateWal } from '../store/sqlite/commit.ts'
import type { Db } from '../store/sqlite/open.ts'
import { readTls } from './connection/tls.ts'
import type { Log } from './log.ts'
import type { Running } from './running.ts'

/**
 * The terminal and npm both send a signal for the same Ctrl-C. Signals within this many milliseconds are treated as
 * one.
 */
const ONE_SIGNAL = 500

/**
 * The first signal shuts down gracefully, and the second signal shuts down immediately. Only SIGTERM waits for
 * `stop-grace`, because after Ctrl-C somebody is waiting.
 */
export function endBySignal(parts: {
  readonly running: Running
  readonly db: Db
  readonly release: () => void
  readonly log: Log
}): void {
  const { running, db, release, log } = parts
  let since: number | null = null
  const end = async (signal: NodeJS.Signals) => {
    const now = performance.now()
    if (since !== null && now - since < ONE_SIGNAL) return
    if (since !== null) process.exit(1)
    since = now
    inform(
      log,
      { signal },
      'stopping',
      'incmon is finishing the requests in progress and will then stop; press Ctrl-C again to stop immediately',
    )
    await running.close(signal === 'SIGTERM')
    finish(db, log)
    release()
    inform(log, { signal }, 'stopped')
    process.exit(0)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

/** Logs a message, or prints it as text on a terminal. */
export function inform(log: Log, happening: object, message: string, inWords?: string): void {
  if (!process.stderr.isTTY) log.info(happening, message)
  else if (inWords) process.stderr.write(`${forTerminal(inWords)}\n`)
}

/** All data is already on disk. A failure here only slows down the next start. */
function finish(db: Db, log: Log): void {
  try {
    if (!truncateWal(db)) log.warn('another process has the database open, so the write-ahead log was not emptied')
    db.close()
  } catch (error) {
    log.error({ error }, 'the write-ahead log could not be moved into the database file')
  }
}

/** Settings that take effect only after a restart. */
const FIXED = ['host', 'port', 'database', 'kubernetes'] as const

/** Reloads the configuration on each SIGHUP. @param started the configuration with which the server was started */
export function reloadBySignal(
  running: Running,
  options: {
    readonly flags: Flags
    readonly started: Config
    readonly log: Log
    readonly now: () => number
    /** Returns why the users that a proxy names have no organization, or null. */
    readonly usersFaultOf: (config: Config) => string | null
  },
): void {
  process.on('SIGHUP', () => reload(running, options))
}

/** Applies all changes, or none if there is an error. Logs the result in one line. */
function reload(running: Running, options: Parameters<typeof reloadBySignal>[1]): void {
  const { flags, started, log, now, usersFaultOf } = options
  const read = readable(readConfig({ flags }), now(), usersFaultOf)
  if ('faults' in read) {
    log.error({ faults: read.faults }, 'the configuration was not reloaded and nothing has changed')
    return
  }
  const { config, tls, warning } = read
  log.level = config['log-level']
  running.change(config, tls)
  const waiting = FIXED.filter((name) => !isDeepStrictEqual(config[name], started[name])).map(String)
  if ((tls === null) !== (started['tls-cert'] === '')) waiting.push('tls-cert')
  const happening = { ...(waiting.length > 0 ? { 'after a restart': waiting } : {}), ...(warning ? { warning } : {}) }
  if (warning) log.warn(happening, 'reloaded')
  else log.info(happening, 'reloaded')
}

/** Returns the configuration with its certificate, or what is wrong with them. */
function readable(read: ReturnType<typeof readConfig>, now: number, usersFaultOf: (config: Config) => string | null) {
  if ('faults' in read) return read
  const { config } = read
  const certificate = readTls({ cert: config['tls-cert'], key: config['tls-key'] }, now)
  if ('fault' in certificate) return { faults: [certificate.fault] }
  const fault = usersFaultOf(config)
  return fault === null ? { config, ...certificate } : { faults: [fault] }
}
