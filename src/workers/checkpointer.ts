/** Starts checkpoints: the server watches the size of the log, and a worker thread checkpoints it. */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import type { Db } from '../store/sqlite/open.ts'

/** Interval of the check in milliseconds. A check takes about forty microseconds. */
const LOOK_EVERY = 250
/** Pages after which a checkpoint is worthwhile, 8 MB. */
export const CHECKPOINT_PAGES = 2_000

/** Runs until the returned function is called. The thread starts with the first checkpoint. */
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
    // An incomplete log must never be copied. An idle server notices a lost log here.
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
