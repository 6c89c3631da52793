/** The memory for all pending bodies: beyond the limit, a request is rejected immediately and without buffering. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { type TestContext, test } from 'node:test'
import { createOrganization } from '../../src/actions/organizations.ts'
import { createToken } from '../../src/actions/tokens.ts'
import { limitPendingBodies } from '../../src/server/connection/pending-bodies.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'
import { eventually, startServer } from '../helpers/server.ts'

const METRICS = '/api/webhooks/metrics'
const MEBIBYTE = 1_048_576

test('bytes count until their request is answered', () => {
  const pending = limitPendingBodies(100)
  const [one, two] = [{}, {}]
  assert.deepEqual([pending.add(one, 60), pending.add(two, 41), pending.add(two, 40)], [true, false, true])
  assert.equal(pending.fits(1), false)
  pending.release(one)
  assert.deepEqual([pending.fits(60), pending.fits(61)], [true, false])
})

test('large bodies leave memory for small ones', () => {
  const pending = limitPendingBodies(5 * MEBIBYTE)
  const [large, other, small] = [{}, {}, {}]
  assert.deepEqual([pending.add(large, MEBIBYTE), pending.add(other, MEBIBYTE)], [true, false])
  assert.deepEqual([pending.add(small, 100_000), pending.add(small, 100_000)], [true, false])
})

test('one organization uses at most three quarters, and what it releases it can use again', () => {
  const pending = limitPendingBodies(100)
  const [one, two, three] = [{}, {}, {}]
  assert.deepEqual([pending.add(one, 75, 1), pending.add(two, 1, 1), pending.fits(1, 1)], [true, false, false])
  assert.deepEqual([pending.fits(25, 2), pending.add(three, 25, 2), pending.fits(1, 2)], [true, true, false])
  pending.release(one)
  assert.deepEqual(
    [pending.fits(75, 1), pending.fits(76, 1), pending.fits(50, 2), pending.fits(51, 2)],
    [true, false, true, false],
  )
})

test('large bodies of an organization leave memory for its own small ones', () => {
  const pending = limitPendingBodies(20 * MEBIBYTE)
  assert.deepEqual([pending.add({}, 11 * MEBIBYTE, 1), pending.fits(MEBIBYTE, 1)], [true, false])
  assert.deepEqual([pending.fits(100_000, 1), pending.fits(MEBIBYTE, 2)], [true, true])
})

test('releasing an uncounted body changes nothing', () => {
  const pending = limitPendingBodies(100)
  const one = {}
  pending.add(one, 100)
  for (const request of [{}, one, one]) pending.release(request)
  assert.deepEqual([pending.fits(100), pending.fits(101)], [true, false])
})

test('a request rejected for another reason releases its memory', async (t) => {
  const { acme, charlie, request } = makeWorld(t, undefined, undefined, { pendingBodies: limitPendingBodies(2_000) })
  for (let sent = 0; sent < 5; sent += 1) {
    assert.equal((await request('POST', METRICS, { token: acme.token, body: 'x'.repeat(1_500) })).status, 400)
    assert.equal((await request('POST', METRICS, { body: 'x'.repeat(1_500) })).status, 401)
  }
  assert.equal((await request('POST', METRICS, { token: charlie.token, body: alertGroup(1) })).status, 200)
})

/** Opens a connection that sends this many bytes of a body with one more, and then stalls. */
async function stalled(t: TestContext, url: string, token: string, bytes: number): Promise<void> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  t.after(() => void socket.destroy())
  const head = `POST ${METRICS} HTTP/1.1\r\nHost: incmon\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${bytes + 1}\r\n\r\n`
  await new Promise<void>((sent) =>
    socket.write(Buffer.concat([Buffer.from(head), Buffer.alloc(bytes, 0x20)]), () => sent()),
  )
}

/**
 * Returns whether a body of this declared length is rejected before it is sent, so that the test itself uses no memory.
 */
function isRefusedByLength(url: string, token: string, bytes: number): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
  socket.write(
    `POST ${METRICS} HTTP/1.1\r\nHost: incmon\r\nAuthorization: Bearer ${token}\r\nContent-Length: ${bytes}\r\n\r\n`,
  )
  return new Promise<boolean>((resolve) => {
    socket.once('data', (text) => resolve(text.toString().startsWith('HTTP/1.1 503')))
    socket.setTimeout(200, () => resolve(false))
  }).finally(() => socket.destroy())
}

test('while an organization sends 20 MiB of large bodies, its next one gets 503 immediately, by its declared length and without', async (t) => {
  const { url, token, request } = await startServer(t)
  for (let client = 0; client < 3; client += 1) await stalled(t, url, token, 6 * MEBIBYTE)
  const large = `[${' '.repeat(3 * MEBIBYTE)}]`
  await eventually(() => isRefusedByLength(url, token, 3 * MEBIBYTE), Boolean)
  const { status, body } = await request('POST', METRICS, large)
  assert.equal(status, 503)
  assert.match(body.detail, /^too many large requests are pending: nothing was stored, so send the request again$/)
  const chunked = new ReadableStream({
    start: (controller) => {
      controller.enqueue(Buffer.from(large))
      controller.close()
    },
  })
  const init = { method: 'POST', headers: { Authorization: `Bearer ${token}` }, body: chunked, duplex: 'half' } as const
  assert.equal((await fetch(url + METRICS, init as RequestInit)).status, 503)
  assert.equal((await request('POST', METRICS, String(alertGroup(1)))).status, 200)
})

test("an organization's slow bodies do not delay the large body of another organization", async (t) => {
  const { url, token, deps } = await startServer(t)
  for (let client = 0; client < 220; client += 1) await stalled(t, url, token, 120_000)
  await eventually(() => isRefusedByLength(url, token, 200_000), Boolean)
  const { rowId } = createOrganization(deps, { name: 'Charlie', plan: 'Team' })
  const charlie = createToken(deps, { organizationId: rowId, name: 'test', scopes: ['ingest'] })
  const init = {
    method: 'POST',
    headers: { Authorization: `Bearer ${charlie.token}` },
    body: String(alertGroup(1)).padEnd(300_000),
  }
  assert.equal((await fetch(url + METRICS, init)).status, 200)
})

test('large bodies are parsed in order, each when those before it leave enough memory', async () => {
  const { whileParsed } = limitPendingBodies(100, 10)
  const order: string[] = []
  const first = Promise.withResolvers<void>()
  const work = (name: string, until?: Promise<void>) => async () => {
    order.push(name)
    await until
  }
  const all = [
    whileParsed(new Uint8Array(6), work('six', first.promise)),
    whileParsed(new Uint8Array(5), work('five')),
    whileParsed(new Uint8Array(4), work('four')),
  ]
  await new Promise(setImmediate)
  assert.deepEqual(order, ['six'])
  first.resolve()
  await Promise.all(all)
  assert.deepEqual(order, ['six', 'five', 'four'])
})

test('a body above the parsing limit is parsed alone, and one that fails releases its memory', async () => {
  const { whileParsed } = limitPendingBodies(100, 10)
  await assert.rejects(
    whileParsed(new Uint8Array(50), () => Promise.reject(new Error('not JSON'))),
    /not JSON/,
  )
  assert.equal(await whileParsed(new Uint8Array(11), async () => 'parsed'), 'parsed')
})

const bodies = [
  { what: 'stored', token: undefined, status: 200 },
  { what: 'refused before it is read', token: 'wrong', status: 401 },
] as const
for (const { what, token, status } of bodies)
  test(`a large body that is ${what} is freed without a garbage collection`, async (t) => {
    const { url, token: valid } = await startServer(t)
    const body = Buffer.from(`${alertGroup(1)}${' '.repeat(MEBIBYTE)}`)
    const headers = { authorization: `Bearer ${token ?? valid}`, 'content-type': 'application/json' }
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    const send = async () => {
      // fetch would copy the body in this process.
      const sending = httpRequest(url + METRICS, { method: 'POST', headers }).end(body)
      const [response] = await once(sending, 'response')
      assert.equal(response.statusCode, status)
      await once(response.resume(), 'close')
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    for (let round = 0; round < 4; round += 1) await Promise.all(Array.from({ length: 10 }, send))
    assert.ok(most < 16 * MEBIBYTE, `${Math.round(most / MEBIBYTE)} MiB`)
  })
