/** The worker thread of a lane. The thread runs one query at a time, on the data committed before the query started. */
import { parentPort, workerData } from 'node:worker_threads'
import { errorCode } from '../store/sqlite/fault.ts'
import { openReader } from '../store/sqlite/open.ts'
import { type Answer, type Question, queryByName } from './reader.ts'

const db = openReader(String(workerData))

parentPort?.on('message', ({ name, args }: Question) => {
  const query = queryByName(name)
  const answer = answerOf(() => db.transaction(() => query(db, ...(args as never[]))))
  // Megabytes of bytes are handed over instead of copied.
  const isBytes = 'result' in answer && answer.result instanceof Uint8Array
  parentPort?.postMessage(answer, isBytes ? [answer.result.buffer as ArrayBuffer] : [])
})

function answerOf(read: () => unknown): Answer {
  try {
    return { result: read() }
  } catch (error) {
    // Errors lose their `code` when they are passed between threads.
    return { error, code: errorCode(error) }
  }
}
