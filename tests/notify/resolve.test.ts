/** Host names: a name server without an answer delays no other name, and the hosts file and short names still work. */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { createResolve } from '../../src/notify/resolve.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const [A, AAAA] = [1, 28] as const
/** The response codes of DNS. */
const [SERVFAIL, NXDOMAIN] = [2, 3] as const

/** Starts a name server. `answer`: an IPv4 address, a response code, or null for silence. */
async function resolving(t: TestContext, answer: (name: string, type: number) => string | number | null) {
  const server = createSocket('udp4')
  const asked: string[] = []
  server.on('message', (query, from) => {
    const { name, end } = nameIn(query)
    asked.push(name)
    const found = answer(name, query.readUInt16BE(end))
    if (found === null) return
    const isAddress = typeof found === 'string'
    const head = Buffer.from(query.subarray(0, 12))
    head.writeUInt16BE(0x8180 | (isAddress ? 0 : found), 2)
    head.fill(0, 6)
    head[7] = isAddress ? 1 : 0
    const record = isAddress ? [0xc0, 12, 0, A, 0, 1, 0, 0, 0, 60, 0, 4, ...found.split('.').map(Number)] : []
    server.send(Buffer.concat([head, query.subarray(12, end + 4), Buffer.from(record)]), from.port, from.address)
  })
  server.bind(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const hostsFile = join(temporaryDirectory(t), 'hosts')
  writeFileSync(hostsFile, '10.0.0.5 chat.example.com Chat # old.example.com\n::1 six.example.com\n')
  return { asked, resolve: createResolve({ hostsFile, servers: [`127.0.0.1:${server.address().port}`] }) }
}

function nameIn(query: Buffer) {
  const labels: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

test('names without an answer delay no other name', async (t) => {
  const { resolve } = await resolving(t, (name, type) =>
    name.includes('silent') ? null : type === A ? '192.0.2.1' : NXDOMAIN,
  )
  const silent = Array.from({ length: 40 }, (_, index) =>
    assert.rejects(resolve(`h${index}.silent.example.com`), { name: 'TimeoutError' }),
  )
  const began = performance.now()
  assert.deepEqual(await resolve('works.example.com'), ['192.0.2.1'])
  // A name that only the system knows is found, too.
  assert.ok((await resolve('localhost')).length > 0)
  assert.ok(performance.now() - began < 2_000, `${performance.now() - began} ms`)
  await Promise.all(silent)
})

test('an IPv4 address is enough if the server is silent about IPv6', async (t) => {
  const { resolve } = await resolving(t, (_, type) => (type === AAAA ? null : '192.0.2.2'))
  assert.deepEqual(await resolve('half.example.com'), ['192.0.2.2'])
})

test('the hosts file comes first, and names in comments do not count', async (t) => {
  const { asked, resolve } = await resolving(t, () => SERVFAIL)
  assert.deepEqual(await resolve('chat.example.com'), ['10.0.0.5'])
  assert.deepEqual(await resolve('CHAT'), ['10.0.0.5'])
  assert.deepEqual(await resolve('six.example.com'), ['::1'])
  assert.deepEqual(asked, [])
  assert.deepEqual(await resolve('old.example.com'), [])
})
