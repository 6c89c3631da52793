/**
 * The worker thread that copies the write-ahead log into the database file, so that requests do not have to wait for
 * checkpoints.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { openBeside } from '../store/sqlite/open.ts'

/**
 * After this many pages (64 MB), the log must be restarted. Otherwise, the log could grow without limit under constant
 * load.
 */
const LONG = 16_000
/** How long to wait for the writer, in milliseconds. The next attempt follows soon. */
const BUSY_TIMEOUT_MS = 20

const db = openBeside(String(workerData), { busyMs: BUSY_TIMEOUT_MS })

parentPort?.on('message', () => {
  const { log } = db.checkpoint('PASSIVE')
  if (log > LONG) db.checkpoint('RESTART')
  parentPort?.postMessage('done')
})
