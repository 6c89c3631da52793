/** SIGTERM and SIGINT: shuts the server down gracefully and leaves a single database file. */

import { forTerminal } from '../domain/terminal.ts'
import type { Running } from '../serve.ts'
import { truncateWal } from '../store/sqlite/checkpoint.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { Log } from './log.ts'

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
