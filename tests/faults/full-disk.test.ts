/** A disk that fills up and is freed again while the server is running. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure } from './generator.ts'
import { type Answer, acknowledged, deliver, fromClients, request, type Target } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, startServer } from './server.ts'

const SIZE = '16m'
const CLIENTS = 16

test('a full disk', async (t) => {
  const disk = mountDisk(t)
  if (!disk) return t.skip('a small disk can be mounted by root alone')
  try {
    await fillUp(t, disk)
  } finally {
    spawnSync('umount', ['--lazy', disk])
  }
})

async function fillUp(t: TestContext, disk: string): Promise<void> {
  const { file, token } = makeDatabase(disk)
  const { file: second } = makeDatabase(mkdtempSync(join(disk, 'second-')))
  const server = await startServer(t, file)
  const target = { url: server.url, token }
  const before = await send(target, 0, 40)
  const free = fill(disk)
  const full = await send(target, 40, 200)

  await t.test('webhooks get 503 and are told when to retry', (t) => {
    figure(t, 7, `${full.refused.length} of 200 requests got 503, ${full.stored.length} stored`)
    assert.deepEqual([before.refused.length, full.refused.length > 0], [0, true])
    for (const { status, headers, body } of full.refused) {
      assert.deepEqual([status, headers.get('retry-after')], [503, '5'])
      assert.match(
        body.detail,
        /^the database disk is full, or its quota is used up \("incmon doctor" shows how much is free\): nothing from this request was stored/,
      )
    }
  })

  await t.test('the log says why', async () => {
    await server.untilSaid(/"level":"error".*"path":"\/api\/webhooks\/.*database or disk is full/)
  })

  await t.test('readiness fails within five seconds, with the reason', async () => {
    const ready = await fetch(`${server.url}/readyz`, { signal: AbortSignal.timeout(5_000) })
    assert.equal(ready.status, 503)
    const text = await ready.text()
    assert.match(text, /less than min-free-disk = 8; free some space/)
    assert.match(text, /"name":"store","state":"failing"/)
  })

  await t.test('reads are answered', async () => {
    for (const path of ['/healthz', '/api/services', '/api/alerts', '/api/events'])
      assert.equal((await request(target, 'GET', path)).status, 200, path)
  })

  await t.test('a server started on it says what to do', async () => {
    await assert.rejects(startServer(t, second), /the disk is full: free some space and try again/)
  })

  await t.test('once there is free space, the next delivery is accepted without a restart', async () => {
    free()
    assert.equal((await deliver(target, 240)).status, 200)
    assert.deepEqual(missing(file, [...before.stored, ...full.stored]), [])
  })

  await t.test(
    'a server that was killed and starts on it serves, and accepts deliveries once there is space',
    async (t) => {
      await server.kill()
      const free = fill(disk)
      const again = await startServer(t, file)
      const target = { url: again.url, token }
      assert.equal((await request(target, 'GET', '/api/alerts')).status, 200)
      const { refused, stored } = await send(target, 300, 100)
      for (const { status } of refused) assert.equal(status, 503)
      free()
      assert.equal((await deliver(target, 500)).status, 200)
      assert.deepEqual(missing(file, [...before.stored, ...full.stored, ...stored]), [])
    },
  )
}

/** Mounts a separate disk. Returns null if this user is not allowed to. */
function mountDisk(t: TestContext): string | null {
  const disk = join(temporaryDirectory(t), 'disk')
  mkdirSync(disk)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE}`, 'incmon-test', disk]).status === 0 ? disk : null
}

/** Fills a disk completely. Returns a function that frees the space again. */
function fill(disk: string): () => void {
  const ballast = join(disk, 'ballast')
  for (const size of [65_536, 4_096, 1]) {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(size))
    } catch (error) {
      assert.match(String(error), /ENOSPC/)
    }
  }
  return () => rmSync(ballast)
}

async function send(target: Target, first: number, count: number) {
  const stored: string[] = []
  const refused: Answer[] = []
  const work = async (number: number) => {
    const answer = await deliver(target, number)
    stored.push(...acknowledged(answer))
    if (answer.status !== 200) refused.push(answer)
  }
  await fromClients(CLIENTS, count, work, first)
  return { stored, refused }
}
