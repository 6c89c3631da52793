/**
 * A 200 means that the event is synced to disk: a real server is recorded, then replayed on a disk that loses power.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { CHECKPOINT_PAGES } from '../../src/workers/checkpointer.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createDisk } from './disk.ts'
import { figure } from './generator.ts'
import { deliver, fromClients, handleIncident, request, type Target } from './load.ts'
import { findLost, findUnsynced, promisesOf } from './promise.ts'
import { injecting, lacksStrace, makeDatabase, startServer, tracing } from './server.ts'
import { readTrace, type Step } from './trace.ts'

type Recording = { readonly db: Buffer; readonly steps: readonly Step[] }

const IN_TURN = 200
const AT_ONCE = 200
const CLIENTS = 16
const INCIDENTS = 10

test('power loss', { skip: lacksStrace() }, async (t) => {
  const real = await record(t, loadOfAllKinds)

  await t.test('the row of every acknowledged event was synced before its answer was started', (t) => {
    const { checked, unsynced } = findUnsynced(real.steps)
    figure(t, 1, `${checked - unsynced.length}/${checked} synced first`)
    assert.deepEqual({ checked, unsynced }, { checked: IN_TURN + AT_ONCE, unsynced: [] })
  })

  await t.test('after a power cut at any moment the file is complete and contains all acknowledged requests', (t) => {
    const { cuts, kept, lost } = cutPower(t, real)
    figure(t, 2, `${cuts} power cuts, ${kept} promises, ${lost.length} broken`)
    assert.deepEqual(lost.slice(0, 5), [])
    assert.ok(cuts >= 200)
    assert.equal(kept, IN_TURN + AT_ONCE + 3 * INCIDENTS)
  })

  await t.test('the cuts occur before, during and after a checkpoint and a restart of the log', () => {
    const kinds = real.steps.flatMap((step) => ('file' in step && step.file === 'db' ? step.kind : []))
    assert.ok(kinds.includes('write') && kinds.includes('sync-ends'))
    const restarts = real.steps.filter((step) => step.kind === 'write' && step.file === 'wal' && step.offset === 0)
    assert.ok(restarts.length >= 2)
  })

  await t.test('a disk that falsely reports a sync is detected both ways', async (t) => {
    const load = (target: Target) => fromClients(1, 20, (number) => deliver(target, number))
    const faked = await record(t, load, injecting('fsync,fdatasync:retval=0'))
    const { checked, unsynced } = findUnsynced(faked.steps)
    assert.deepEqual([checked, unsynced.length], [20, 20])
    assert.ok(cutPower(t, faked).lost.length > 0)
  })
})

async function loadOfAllKinds(target: Target, file: string): Promise<void> {
  await fromClients(1, IN_TURN, async (number) => {
    await deliver(target, number)
    await untilCopied(file)
  })
  const services = (await request(target, 'GET', '/api/services')).body
  await fromClients(1, INCIDENTS, (number) => handleIncident(target, services[number].id))
  await fromClients(CLIENTS, AT_ONCE, (number) => deliver(target, number), IN_TURN)
}

/** If the log is due for a checkpoint, waits until it is done, so that the next write restarts the log. */
async function untilCopied(file: string): Promise<void> {
  const db = openStore(file)
  const look = async () => db.checkpoint('NOOP')
  try {
    const { log, copied } = await look()
    if (log - copied >= CHECKPOINT_PAGES) await eventually(look, (now) => now.log === now.copied)
  } finally {
    db.close()
  }
}

async function record(t: TestContext, load: (target: Target, file: string) => Promise<void>, faults: string[] = []) {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const db = readFileSync(file)
  const trace = join(directory, 'trace')
  const { url, kill } = await startServer(t, file, tracing(trace, faults))
  await load({ url, token }, file)
  await kill()
  return { db, steps: readTrace(trace, file) }
}

/**
 * Cuts the power after every third response, every hundredth step, and each change of the database file itself. Of the
 * unsynced writes, either none, all, or every other one survive.
 */
function cutPower(t: TestContext, { db, steps }: Recording) {
  const file = join(temporaryDirectory(t), 'incmon.db')
  const disk = createDisk(db)
  const promised = new Set<string>()
  const lost: string[] = []
  let [cuts, answers] = [0, 0]
  for (const [index, step] of steps.entries()) {
    disk.take(step)
    if (step.kind === 'answer') answers += 1
    for (const promise of promisesOf(step)) promised.add(promise)
    const isOfDatabase = 'file' in step && step.file === 'db' && step.kind !== 'write'
    const isDue = isOfDatabase || index % 100 === 0 || (step.kind === 'answer' && answers % 3 === 0)
    if (!isDue) continue
    const through = cuts % 3
    lost.push(
      ...findLost(
        file,
        disk.afterPowerCut((write) => through > 0 && write % through === 0),
        promised,
      ),
    )
    cuts += 1
  }
  return { cuts, kept: promised.size, lost }
}
