/** Triggers checkpoints: the server monitors the size of the log, and a worker thread runs the checkpoints. */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import { errorCode } from '../store/sqlite/fault.ts'
import { UNSAVED } from '../store/sqlite/log-file.ts'
import type { Db } from '../store/sqlite/open.ts'
import { freeCache } from '../store/sqlite/space.ts'

/** How often the size is checked, in milliseconds. A check takes about 40 µs. */
const LOOK_EVERY = 250
/** The minimum number of pages in the log (8 MB) that makes a checkpoint worthwhile. */
export const CHECKPOINT_PAGES = 2_000

/** A thread without work for this long ends, and SQLite frees the pages that it keeps, in milliseconds. */
const IDLE = 5_000

/** How long to wait before another attempt to save the data of a missing file, or to copy the log, in milliseconds. */
const RETRY = 10_000

/** Runs until the returned function is called. The first checkpoint starts the thread. */
export function startCheckpointer(
  db: Db,
  { start = startWorker, every = LOOK_EVERY, idle: most = IDLE, failed = (_: unknown) => {} } = {},
): () => Promise<void> {
  let worker: Worker | null = null
  let isCopying = false
  let copyAt = 0
  let idle: NodeJS.Timeout | undefined
  let rested: Promise<unknown> | undefined

  const started = (): Worker => {
    const made = start('checkpoint', db.file)
    made.on('message', () => {
      isCopying = false
      idle = setTimeout(rest, most).unref()
    })
    made.on('error', (error) => {
      copyAt = performance.now() + RETRY
      failed(error)
    })
    made.on('exit', () => {
      if (worker !== made) return
      worker = null
      isCopying = false
    })
    return made
  }
  const rest = () => {
    rested = worker?.terminate()
    worker = null
    freeCache(db)
  }

  const guardContent = db.guardContent()
  let retryAt = 0
  const look = () => {
    if (performance.now() < retryAt) return
    try {
      guard()
    } catch (error) {
      if (errorCode(error) !== UNSAVED) throw error
      retryAt = performance.now() + RETRY
      return failed(error)
    }
    if (isCopying || performance.now() < copyAt) return
    const { log, copied } = db.checkpoint('NOOP')
    if (log - copied < CHECKPOINT_PAGES) return
    isCopying = true
    clearTimeout(idle)
    worker ??= started()
    worker.postMessage('copy')
  }

  const guard = () => {
    // A damaged log must never be copied. With these checks, an idle server also notices that a file is gone.
    db.guardLog()
    guardContent()
  }

  const timer = setInterval(look, every)
  return async () => {
    clearInterval(timer)
    clearTimeout(idle)
    // A message would start the timer again.
    worker?.removeAllListeners('message')
    await Promise.all([rested, worker?.terminate()])
  }
}
