/** The thread that copies the log into the file: neither its writing nor its syncs hold up who answers. */
import { parentPort, workerData } from 'node:worker_threads'
import { openBeside } from '../store/sqlite/open.ts'

/** Pages of a log that has to begin anew, lest it grow without end while more is written than was copied: 64 MB. */
const LONG = 16_000
/** How long the writer may be waited for, in milliseconds; it is asked again soon. */
const PATIENCE = 20

const db = openBeside(String(workerData), { busyMs: PATIENCE })

parentPort?.on('message', () => {
  const { log } = db.checkpoint('PASSIVE')
  if (log > LONG) db.checkpoint('RESTART')
  parentPort?.postMessage('done')
})
