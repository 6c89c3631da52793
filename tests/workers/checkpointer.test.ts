/** Checkpoints in a thread: the log is copied into the file and restarted, without delaying the writer. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { startWorker } from '../../src/assets.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { startCheckpointer } from '../../src/workers/checkpointer.ts'
import { makeOrganization, makeRejection } from '../helpers/factory.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryStore } from '../helpers/store.ts'

/** Creates a store whose log is checked constantly, and returns the threads that were started for it. */
function checkpointed(t: TestContext, start = startWorker, idle = 60_000) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Pro')
  const threads: Worker[] = []
  const stop = startCheckpointer(db, {
    ...{ every: 5, idle },
    start: (name, data) => {
      const thread = start(name, data)
      threads.push(thread)
      return thread
    },
  })
  t.after(stop)
  const write = (megabytes: number) =>
    db.transaction(() => {
      for (let i = 0; i < megabytes; i++) makeRejection(db, acme, 'x'.repeat(1_000_000))
    })
  return { db, threads, write, stop }
}

async function untilCopied(db: Db): Promise<void> {
  await eventually(
    async () => db.checkpoint('NOOP'),
    ({ log, copied }) => log === copied,
  )
}

test('the thread checkpoints a long log, and the next write restarts it', async (t) => {
  const { db, write, threads } = checkpointed(t)
  write(20)
  await untilCopied(db)
  write(1)
  assert.equal(threads.length, 1)
  assert.ok(db.checkpoint('NOOP').log < 1_000)
})

/** Returns this process's locks on a file, as listed by Linux. */
function locksOn(file: string): string[] {
  const inode = `:${statSync(file).ino} `
  const lines = readFileSync('/proc/locks', 'utf8').split('\n')
  return lines.filter((line) => line.includes(inode) && line.includes(` ${process.pid} `))
}

test('the server keeps its lock, so that a reader does not delete the log', {
  skip: !existsSync('/proc/locks') && 'no /proc/locks: locks are listed by Linux alone',
}, async (t) => {
  const { db, write } = checkpointed(t)
  const before = locksOn(db.file)
  assert.equal(before.length, 1)
  write(20)
  await untilCopied(db)
  assert.equal(locksOn(db.file).length, 1)
})

test('an idle thread ends, the server keeps its lock, and the next long log starts another thread', async (t) => {
  const { db, write, threads } = checkpointed(t, startWorker, 20)
  write(20)
  const ended = await eventually(
    async () => threads[0]?.threadId,
    (id) => id === -1,
  )
  assert.equal(ended, -1)
  if (existsSync('/proc/locks')) assert.equal(locksOn(db.file).length, 1)
  write(20)
  await untilCopied(db)
  assert.ok(threads.length > 1)
})

test('a short log starts no thread', async (t) => {
  const { write, threads, stop } = checkpointed(t)
  write(1)
  await pause(50)
  await stop()
  assert.equal(threads.length, 0)
})

test('a log in use by a reader is checkpointed later', async (t) => {
  const { db, write } = checkpointed(t)
  const reader = openStore(db.file)
  t.after(() => reader.close())
  reader.execute('BEGIN; SELECT count(*) FROM rejections')
  write(20)
  const { log, copied } = db.checkpoint('NOOP')
  assert.ok(copied < log)
  reader.execute('COMMIT')
  await untilCopied(db)
})

test('an ended thread is started again', async (t) => {
  let isFirst = true
  const { db, write, threads } = checkpointed(t, (name, data) => {
    const source = 'process.exit(1)'
    const thread = isFirst ? new Worker(source, { eval: true }) : startWorker(name, data)
    isFirst = false
    return thread
  })
  write(20)
  await untilCopied(db)
  assert.equal(threads.length, 2)
})

test('after a thread that fails, the next attempt waits, so that the log is not full of failures', async (t) => {
  const failures: unknown[] = []
  const fail = () => new Worker('throw new Error("EACCES")', { eval: true })
  const db = temporaryStore(t)
  t.after(startCheckpointer(db, { every: 5, start: fail, failed: (error) => failures.push(error) }))
  const acme = makeOrganization(db, 'Acme', 'Pro')
  for (let i = 0; i < 20; i++) makeRejection(db, acme, 'x'.repeat(1_000_000))
  await eventually(
    async () => failures.length,
    (count) => count > 0,
  )
  await pause(300)
  assert.equal(failures.length, 1)
})
