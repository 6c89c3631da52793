/** A long history: senders, readers, pages, backups, scans and pruning at the same time do not block each other. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, copyFileSync, fsyncSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { changeOrganization } from '../../src/actions/organizations.ts'
import { systemDeps } from '../../src/deps.ts'
import { findOrganizationByName } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { uuidBytes } from '../../src/store/sqlite/uuid.ts'
import { forget, SEEDED_NOW, seededDatabase } from '../bench/seed.ts'
import { ORGANIZATION, tokenFor } from '../bench/servers.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually, readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, quantile } from './generator.ts'
import { acknowledged } from './load.ts'
import { PROGRAM_LINE, type Server, startServer } from './server.ts'
import { sized } from './size.ts'

const ALERTS = sized(1_050_000, 250_000)
const DAY = 86_400_000
/** Of 400 days: slightly more than half of the events, so that pruning needs no confirmation. */
const KEPT_DAYS = 204
const WEBHOOKS = 200
const READS = 50
const STREAMS = 100
const MIXED_SECONDS = sized(300, 30)
const SCAN_SECONDS = sized(60, 10)
const LOG_LIMIT = 64 * 1_048_576
/** The first page of each list, and a path that only depends on the event loop. */
const LISTS = ['/api/alerts?limit=50', '/api/services', '/api/incidents?limit=50', '/healthz']
const DEEP = ['page=20000&limit=50', 'page=1000000000']
const WRONG = ['limit=1000000000', 'limit=0', 'limit=-1', 'limit=1.5', 'limit=x', 'from=2026-02-01&to=2026-01-01']

type After = { after: (work: () => void | Promise<void>) => void }
type Served = Awaited<ReturnType<typeof served>>

/** Starts a server on the file, with clients that send to it and read from it. */
async function served(t: After, file: string) {
  const token = tokenFor(file)
  const server: Server = await startServer(t, file, [], ['--max-connections-per-address', '4000'], 1_800_000)
  const { post, atRate, tally, close } = createGenerator({ url: server.url, token }, 64)
  t.after(close)
  const headers = { Authorization: `Bearer ${token}` }
  const stored: string[] = []
  const send = async (number: number) => {
    const labels = { service: `svc-${number % 400}`, instance: `i${number % 5_000}`, severity: 'warning' }
    const reply = await post('/api/webhooks/metrics', JSON.stringify(alertmanager([alert('Mixed', labels)])))
    if (reply) stored.push(...acknowledged({ status: reply.status, body: JSON.parse(reply.text) }))
  }
  /** Returns the milliseconds until the complete response has arrived. */
  const timeOf = async (path: string, status = 200) => {
    const began = performance.now()
    const response = await fetch(server.url + path, { headers })
    await response.arrayBuffer()
    assert.equal(response.status, status, path)
    return performance.now() - began
  }
  /** Returns the longest stall of the event loop since the last call. */
  const stall = async () => {
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    return Math.round(1000 * Number(/^nodejs_eventloop_lag_max_seconds (\S+)/m.exec(text)?.[1]))
  }
  return { ...server, file, headers, stored, send, atRate, tally, timeOf, stall }
}

const p99 = (times: readonly number[]) => Math.round(quantile(times, 0.99))

/** Sends webhooks until the work is done. Returns its result and the webhooks' 99th percentile. */
async function meanwhile<Result>({ send, tally }: Served, perSecond: number, work: () => Promise<Result>) {
  tally.times.length = 0
  let isOver = false
  const began = performance.now()
  const sending = (async () => {
    const all: Promise<void>[] = []
    for (let number = 0; !isOver; await pause(2))
      for (; number < ((performance.now() - began) / 1000) * perSecond; number += 1) all.push(send(number))
    await Promise.all(all)
  })()
  const result = await work()
  isOver = true
  await sending
  return { result, webhook: p99(tally.times) }
}

async function program(...words: string[]): Promise<number> {
  const [command = '', ...args] = [...PROGRAM_LINE, ...words]
  const began = performance.now()
  const [code] = await once(spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close')
  assert.equal(code, 0, words.join(' '))
  return Math.round(performance.now() - began)
}

/** Opens a stream and counts what arrives until it is closed. */
async function follow({ url, headers }: Served, closing: AbortSignal): Promise<() => number> {
  const { status, body } = await fetch(`${url}/api/stream`, { headers, signal: closing })
  assert.equal(status, 200)
  let chunks = 0
  const read = async () => {
    for await (const _ of body ?? []) chunks += 1
  }
  read().catch(() => {})
  return () => chunks
}

/** Returns the acknowledged events that are missing from a file. */
function lostOf(file: string, acknowledged: readonly string[]): string[] {
  const db = openStore(file)
  try {
    const find = (id: string) => db.first(db.sql.selectFrom('events').select('id').where('uuid', '=', uuidBytes(id)))
    return [...new Set(acknowledged)].filter((id) => !find(id))
  } finally {
    db.close()
  }
}

suite(`a history of ${ALERTS} alerts`, { concurrency: 1 }, () => {
  const cleanings: (() => void | Promise<void>)[] = []
  const cleaner: After = { after: (work) => void cleanings.unshift(work) }
  let file = ''
  let server: Served
  before(async () => {
    file = seededDatabase(ALERTS, () => {})
    cleaner.after(() => forget(file))
    server = await served(cleaner, file)
  })
  after(async () => {
    for (const clean of cleanings) await clean()
  })

  test('200 webhooks and 50 reads per second alongside 100 streams', async (t) => {
    const judge = judging(t, 20, server.pid)
    const closing = new AbortController()
    t.after(() => closing.abort())
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => follow(server, closing.signal)))
    const [first, loop]: [number[], number[]] = [[], []]
    const { webhook } = await meanwhile(server, WEBHOOKS, async () => {
      const until = performance.now() + MIXED_SECONDS * 1000
      for (let number = 0; performance.now() < until; number += 1) {
        const path = LISTS[number % LISTS.length] ?? ''
        const ms = await server.timeOf(path)
        if (path === '/healthz') loop.push(ms)
        else first.push(ms)
        await pause(Math.max(0, 1000 / READS - ms))
      }
    })
    const words = `${ALERTS} alerts, ${MIXED_SECONDS} s: p99 of webhooks ${webhook} ms, first pages ${p99(first)} ms, /healthz ${p99(loop)} ms`
    figure(t, 20, words)
    assert.deepEqual([[...server.tally.statuses.keys()], server.tally.broken], [[200], 0])
    assert.ok(streams.every((chunks) => chunks() > 1))
    judge(webhook <= 300 && p99(first) <= 50 && p99(loop) <= 50, words)
  })

  test('pages far from the first, and invalid parameters', async (t) => {
    const judge = judging(t, 22, server.pid)
    const { result: slowest, webhook } = await meanwhile(server, WEBHOOKS, async () => {
      const times: number[] = []
      for (let round = 0; round < 20; round += 1)
        for (const query of DEEP) times.push(await server.timeOf(`/api/alerts?${query}`))
      for (const query of WRONG) await server.timeOf(`/api/alerts?${query}`, 400)
      return Math.round(Math.max(...times))
    })
    const words = `page 20,000 and page 1,000,000,000 in at most ${slowest} ms, p99 of webhooks ${webhook} ms`
    figure(t, 22, words)
    judge(slowest <= 150 && webhook <= 300, words)
  })

  test('a backup during writes contains all earlier records, and can be served quickly', async (t) => {
    const directory = temporaryDirectory(t)
    const [copy, restored] = [join(directory, 'copy.db'), join(directory, 'restored.db')]
    const judge = judging(t, 24, server.pid)
    const { result, webhook } = await meanwhile(server, WEBHOOKS, async () => {
      const promised = [...server.stored]
      return { ms: await program('backup', copy, '--database', file), promised }
    })
    const began = performance.now()
    await program('restore', copy, '--database', restored)
    const { url, kill } = await startServer(t, restored)
    await eventually(
      () => readiness(url),
      (status) => status === 200,
    )
    const startedMs = Math.round(performance.now() - began)
    await kill()
    const gigabytes = statSync(copy).size / 1e9
    const words = `${gigabytes.toFixed(1)} GB in ${result.ms} ms, p99 of webhooks ${webhook} ms, restored and ready in ${startedMs} ms`
    figure(t, 24, words)
    assert.deepEqual(lostOf(restored, result.promised).slice(0, 9), [])
    judge(result.ms <= 30_000 && webhook <= 300 && startedMs <= 10_000 * Math.max(1, gigabytes), words)
  })

  test('the log is bounded again soon after a long read', async (t) => {
    const judge = judging(t, 25, server.pid)
    const reader = new SQLite(file, { readonly: true })
    t.after(() => void reader.close())
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM (SELECT 1 FROM alerts LIMIT 9)').get()
    const size = () => statSync(`${file}-wal`).size
    const { result } = await meanwhile(server, 500, async () => {
      const pages: number[] = []
      const until = performance.now() + SCAN_SECONDS * 1000
      while (performance.now() < until) pages.push(await server.timeOf('/api/alerts?limit=50'))
      const highest = size()
      reader.exec('COMMIT')
      const ended = performance.now()
      while (size() > LOG_LIMIT && performance.now() - ended < 10_000) await pause(50)
      return { highest, page: p99(pages), ms: Math.round(performance.now() - ended) }
    })
    const words = `${Math.round(result.highest / 1e6)} MB after a ${SCAN_SECONDS} s read, ${Math.round(size() / 1e6)} MB ${result.ms} ms later, p99 of first pages ${result.page} ms`
    figure(t, 25, words)
    assert.ok(size() <= LOG_LIMIT, words)
    judge(result.page <= 100, words)
  })

  test('half of the events are pruned during writes, and nobody has to wait', async (t) => {
    server.signal('SIGTERM')
    await server.ended
    const pruned = join(temporaryDirectory(t), 'incmon.db')
    copyFileSync(file, pruned)
    // Otherwise, the copy would still be on its way to the disk and delay the server's syncs.
    const copy = openSync(pruned, 'r+')
    fsyncSync(copy)
    closeSync(copy)
    const db = openStore(pruned)
    t.after(() => db.close())
    const days = Math.round((Date.now() - SEEDED_NOW) / DAY) + KEPT_DAYS
    const settings = { 'retention-events-days': days, 'retention-alerts-days': Math.max(days, 400) }
    await changeOrganization(systemDeps(db), findOrganizationByName(db, ORGANIZATION)?.rowId ?? 0, { settings })
    const eventCount = () =>
      db.first(db.sql.selectFrom('events').select((eb) => eb.fn.countAll<number>().as('count')))?.count ?? 0
    const [total, size] = [eventCount(), statSync(pruned).size]
    const own = await served(t, pruned)
    const judge = judging(t, 23, own.pid)
    await own.stall()
    const began = performance.now()
    const { webhook } = await meanwhile(own, WEBHOOKS, async () => {
      const gone = () => total + own.stored.length - eventCount()
      // Requests in progress make a difference of a few events.
      for (let before = -ALERTS; Math.abs(gone() - before) > WEBHOOKS / 4 || before < 0.4 * ALERTS; ) {
        if (performance.now() - began > 180_000) break
        before = gone()
        await pause(2_000)
      }
    })
    const [stall, seconds] = [await own.stall(), Math.round((performance.now() - began) / 1000)]
    const deleted = total + own.stored.length - eventCount()
    const words = `${deleted} events in ${seconds} s, longest stall ${stall} ms, p99 of webhooks ${webhook} ms, file grew by ${Math.round((statSync(pruned).size - size) / 1e6)} MB`
    figure(t, 23, words)
    assert.ok(deleted >= 0.46 * ALERTS && own.tally.broken === 0, words)
    judge(stall <= 50 && webhook <= 300, words, stall - 50)
  })
})
