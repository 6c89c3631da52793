/** SIGTERM and SIGINT: the server says that it stops, answers what is under way, and leaves one file behind. */
import type { Running } from '../serve.ts'
import { emptyWal } from '../store/sqlite/checkpoint.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { Log } from './log.ts'

/** A terminal and npm each pass the same Ctrl-C on: signals this close together are one. In milliseconds. */
const ONE_SIGNAL = 500

/** The first signal ends in order, another one at once. Only SIGTERM has the grace: whoever types Ctrl-C waits for it. */
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
    inform(log, { signal }, 'stopping', 'incmon answers what is under way and ends; once more ends it at once')
    await running.close(signal === 'SIGTERM')
    finish(db, log)
    release()
    inform(log, { signal }, 'stopped')
    process.exit(0)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}

/** What happens in order: a line for the log, or for a person at a terminal one in words, where there is any. */
export function inform(log: Log, happening: object, message: string, inWords?: string): void {
  if (!process.stderr.isTTY) log.info(happening, message)
  else if (inWords) process.stderr.write(`${inWords}\n`)
}

/** Everything is on disk already; what can still fail here costs the next start a moment, and no event. */
function finish(db: Db, log: Log): void {
  try {
    if (!emptyWal(db)) log.warn('another process reads the database: its write-ahead log stays')
    db.close()
  } catch (error) {
    log.error({ error }, 'the write-ahead log could not be emptied')
  }
}
