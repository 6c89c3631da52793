/** Checkpoints aside: the server looks how long the log has grown, and a thread of its own copies it into the file. */
import type { Worker } from 'node:worker_threads'
import { startWorker } from '../assets.ts'
import type { Db } from '../store/sqlite/open.ts'

/** How often the log is looked at, in milliseconds; a look takes some forty microseconds. */
const LOOK_EVERY = 250
/** Pages that are worth copying: 8 MB. */
export const ENOUGH = 2_000

/** Runs until it is ended; the thread starts once there is something to copy. */
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
    // A log that is not whole must never be copied; an idle server notices it here.
    db.guardLog()
    const { log, copied } = db.checkpoint('NOOP')
    if (log - copied < ENOUGH) return
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
