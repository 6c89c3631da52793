/** Triggers checkpoints: the server monitors the size of the log, and a worker thread runs the checkpoints. */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import type { Db } from '../store/sqlite/open.ts'

/** How often the size is checked, in milliseconds. A check takes about 40 µs. */
const LOOK_EVERY = 250
/** The minimum number of pages in the log (8 MB) that makes a checkpoint worthwhile. */
export const CHECKPOINT_PAGES = 2_000

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

  const look = () => {
    if (isCopying) return
    // A damaged log must never be copied. With this check, an idle server also notices that the log is gone.
    db.guardLog()
    const { log, copied } = db.checkpoint('NOOP')
    if (log - copied < CHECKPOINT_PAGES) return
    isCopying = true
    worker ??= started()
    worker.postMessage('copy')
  }

  const timer = setInterval(look, every)
  return async () => {
    clearInterval(timer)
    await worker?.terminate()
  }
}
