/** Triggers checkpoints: the server monitors the size of the log, and a worker thread runs the checkpoints. */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import { errorCode } from '../store/sqlite/fault.ts'
import { UNSAVED } from '../store/sqlite/log-file.ts'
import type { Db } from '../store/sqlite/open.ts'

/** How often the size is checked, in milliseconds. A check takes about 40 µs. */
const LOOK_EVERY = 250
/** The minimum number of pages in the log (8 MB) that makes a checkpoint worthwhile. */
export const CHECKPOINT_PAGES = 2_000

/** How long to wait before another attempt to save the data of a missing file, in milliseconds. */
const RETRY_SAVING = 10_000

/** Runs until the returned function is called. The first checkpoint starts the thread. */
export function startCheckpointer(
  db: Db,
  { start = startWorker, every = LOOK_EVERY, failed = (_: unknown) => {} } = {},
): () => Promise<void> {
  let worker: Worker | null = null
  let isCopying = false

  const started = (): Worker => {
    const made = start('checkpoint', db.file)
    made.on('message', () => {
      isCopying = false
    })
    made.on('error', failed)
    made.on('exit', () => {
      worker = null
      isCopying = false
    })
    return made
  }

  const guardContent = db.guardContent()
  let retryAt = 0
  const look = () => {
    if (performance.now() < retryAt) return
    try {
      guard()
    } catch (error) {
      if (errorCode(error) !== UNSAVED) throw error
      retryAt = performance.now() + RETRY_SAVING
      return failed(error)
    }
    if (isCopying) return
    const { log, copied } = db.checkpoint('NOOP')
    if (log - copied < CHECKPOINT_PAGES) return
    isCopying = true
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
    await worker?.terminate()
  }
}
