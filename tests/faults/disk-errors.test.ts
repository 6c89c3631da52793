/** A failing disk: what could not be stored is rejected with a clear message, and what was acknowledged is kept. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { eventually, readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createDisk } from './disk.ts'
import { type Answer, acknowledged, deliver, fromClients, handleIncident, request, type Target } from './load.ts'
import { findLost, missing, promisesOf } from './promise.ts'
import { injecting, lacksStrace, makeDatabase, startServer, tracing } from './server.ts'
import { readTrace } from './trace.ts'

const CLIENTS = 16
const DELIVERIES = 200

suite('disk errors', { skip: lacksStrace(), concurrency: 2 }, () => {
  test('after a failed sync nothing is acknowledged, the server ends, and all acknowledged requests are stored', async (t) => {
    const disk = await failingDisk(t, 'fdatasync:error=EIO:when=4')
    const { stored, refused } = await sendMany(disk.target)
    assert.ok(stored.length > 0 && refused.length > 0)
    assert.ok(refused.every(({ status }) => status === 503))
    assert.ok(refused.some(({ body }) => /^the disk failed, [^\n]+: send it again$/.test(body.detail)))
    assert.equal(await disk.ended, 1)
    assert.match(disk.said(), /"level":"fatal".*-wal cannot be synced.*EIO/)
    // Responses to the previous batch can be written after the failure, because that batch was synced.
    assert.deepEqual([await disk.lostAfterRestart(stored), disk.lostAfterPowerCut()], [[], []])
  })

  test('a log that cannot be written also ends the server', async (t) => {
    const disk = await failingDisk(t, 'pwrite64:error=EIO:when=800')
    const { stored, refused } = await sendMany(disk.target)
    assert.ok(stored.length > 0 && refused.length > 0)
    assert.equal(await disk.ended, 1)
    assert.deepEqual([await disk.lostAfterRestart(stored), disk.lostAfterPowerCut()], [[], []])
  })

  test('while a disk is full, requests are rejected and the log says why; then requests are accepted without a restart', async (t) => {
    const disk = await failingDisk(t, 'pwrite64:error=ENOSPC:when=800..803')
    const { stored, refused } = await sendMany(disk.target)
    assert.ok(refused.length > 0)
    for (const { status, headers } of refused) assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
    await disk.untilSaid(/SQLITE_FULL|database or disk is full/)
    assert.equal((await deliver(disk.target, DELIVERIES)).status, 200)
    await disk.kill()
    assert.deepEqual([await disk.lostAfterRestart(stored), disk.lostAfterPowerCut()], [[], []])
  })

  test('while a quota is used up, requests are rejected as on a full disk; then requests are accepted without a restart', async (t) => {
    const disk = await failingDisk(t, 'pwrite64:error=EDQUOT:when=800..807')
    const { stored, refused } = await sendMany(disk.target)
    assert.ok(refused.length > 0)
    for (const { status, headers } of refused) assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
    await disk.untilSaid(/the disk quota is used up/)
    assert.equal((await deliver(disk.target, DELIVERIES)).status, 200)
    await disk.kill()
    assert.deepEqual([await disk.lostAfterRestart(stored), disk.lostAfterPowerCut()], [[], []])
  })

  test('a disk that turns out to be full only at the sync ends the server, which says so', async (t) => {
    const disk = await failingDisk(t, 'fdatasync:error=EDQUOT:when=4')
    const { stored } = await sendMany(disk.target)
    assert.equal(await disk.ended, 1)
    assert.match(disk.said(), /"level":"fatal".*the disk, or its quota, was full when written data was synced/)
    assert.deepEqual([await disk.lostAfterRestart(stored), disk.lostAfterPowerCut()], [[], []])
  })

  test('a manual change whose sync failed is rejected, and the server ends', async (t) => {
    const disk = await failingDisk(t, 'fdatasync:error=EIO:when=4')
    await deliver(disk.target, 0)
    const [{ id }] = (await request(disk.target, 'GET', '/api/services')).body
    let last: Answer | undefined
    do last = (await handleIncident(disk.target, id)).at(-1)
    while (last && last.status < 300)
    assert.deepEqual([last?.status, await disk.ended], [503, 1])
    assert.deepEqual([await disk.lostAfterRestart([]), disk.lostAfterPowerCut()], [[], []])
  })
})

/** Starts a server on a disk whose calls fail as `fault` describes, and returns functions to examine it afterwards. */
async function failingDisk(t: TestContext, fault: string) {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const [db, trace] = [readFileSync(file), join(directory, 'trace')]
  const server = await startServer(t, file, tracing(trace, injecting(fault)))
  const steps = () => readTrace(trace, file)
  return {
    ...server,
    target: { url: server.url, token },
    lostAfterPowerCut: () => {
      const disk = createDisk(db)
      const all = steps()
      for (const step of all) disk.take(step)
      return findLost(
        join(directory, 'cut.db'),
        disk.afterPowerCut(() => false),
        all.flatMap(promisesOf),
      )
    },
    lostAfterRestart: async (stored: readonly string[]) => {
      const again = await startServer(t, file)
      // A start first writes the postmortems that are due.
      await eventually(
        () => readiness(again.url),
        (status) => status === 200,
      )
      return missing(file, stored)
    },
  }
}

/** Returns the acknowledged and the rejected requests. A request without a response was promised nothing. */
async function sendMany(target: Target) {
  const stored: string[] = []
  const refused: Answer[] = []
  await fromClients(CLIENTS, DELIVERIES, async (number) => {
    const answer = await deliver(target, number).catch(() => null)
    if (answer) stored.push(...acknowledged(answer))
    if (answer && answer.status !== 200) refused.push(answer)
  })
  return { stored, refused }
}
