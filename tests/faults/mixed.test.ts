/** Mixed load on a long history: senders, readers and open pages at once, and nobody waits for the others. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { forget, seededDatabase } from '../bench/seed.ts'
import { tokenFor } from '../bench/servers.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { createGenerator, figure, judging, quantile } from './generator.ts'
import { startServer } from './server.ts'

const ALERTS = 1_000_000
const SECONDS = 30
const WEBHOOKS = 200
const READS = 50
const STREAMS = 100
/** Lists on the first page and far behind it, and a path that only waits for the event loop. */
const LISTS = [
  '/api/alerts?limit=50',
  '/api/services',
  '/api/incidents?limit=50',
  '/api/alerts?limit=50&page=10000',
  '/healthz',
]

/** A server over the seeded history, which is removed afterwards. */
async function served(t: TestContext) {
  const file = seededDatabase(ALERTS, () => {})
  t.after(() => forget(file))
  const token = tokenFor(file)
  const server = await startServer(t, file, [], ['--max-connections-per-address', '4000'])
  const generator = createGenerator({ url: server.url, token }, 32)
  t.after(generator.close)
  return { ...server, ...generator, authorization: { Authorization: `Bearer ${token}` } }
}

/** Opens a stream, and counts what arrives until it is closed. */
async function follow(url: string, headers: Record<string, string>, closing: AbortSignal): Promise<() => number> {
  const { status, body } = await fetch(`${url}/api/stream`, { headers, signal: closing })
  assert.equal(status, 200)
  let chunks = 0
  const read = async () => {
    for await (const _ of body ?? []) chunks += 1
  }
  read().catch(() => {})
  return () => chunks
}

/** Reads one path after another until it is told to stop, and returns the milliseconds that each kind took. */
async function readLists(url: string, headers: Record<string, string>, isOver: () => boolean) {
  const times = { first: [] as number[], deep: [] as number[], loop: [] as number[], refused: 0 }
  for (let number = 0; !isOver(); number += 1) {
    const path = LISTS[number % LISTS.length] ?? ''
    const began = performance.now()
    const response = await fetch(url + path, { headers })
    await response.arrayBuffer()
    const ms = performance.now() - began
    if (response.status !== 200) times.refused += 1
    else if (path === '/healthz') times.loop.push(ms)
    else if (path.includes('page=')) times.deep.push(ms)
    else times.first.push(ms)
    await pause(Math.max(0, 1000 / READS - ms))
  }
  return times
}

test('200 webhooks and 50 reads a second beside 100 streams, on 1,000,000 alerts', async (t) => {
  const { url, pid, post, atRate, tally, authorization } = await served(t)
  const judge = judging(t, 20, pid)
  const closing = new AbortController()
  t.after(() => closing.abort())
  const streams = await Promise.all(Array.from({ length: STREAMS }, () => follow(url, authorization, closing.signal)))
  let isOver = false
  const reading = readLists(url, authorization, () => isOver)
  await atRate(WEBHOOKS, SECONDS, (number) => {
    const labels = { service: `svc-${number % 400}`, instance: `i${number % 5_000}`, severity: 'warning' }
    return post('/api/webhooks/metrics', JSON.stringify(alertmanager([alert('Mixed', labels)])))
  })
  isOver = true
  const reads = await reading
  const [webhook, first, deep, loop] = [tally.times, reads.first, reads.deep, reads.loop].map((times) =>
    Math.round(quantile(times, 0.99)),
  ) as [number, number, number, number]
  const words = `p99 of a webhook ${webhook} ms, of a first page ${first} ms, of page 10,000 ${deep} ms, of /healthz ${loop} ms`
  figure(t, 20, words)
  assert.deepEqual([[...tally.statuses], tally.broken, reads.refused], [[[200, WEBHOOKS * SECONDS]], 0, 0])
  assert.ok(
    streams.every((chunks) => chunks() > 1),
    'every stream is told of new alerts',
  )
  judge(webhook <= 300 && first <= 50 && loop <= 50, words)
})
