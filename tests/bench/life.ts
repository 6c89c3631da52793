/**
 * Measures the whole life of alerts: they start to fire, are repeated five times, and end, 20 per request over 200
 * services. The end must not take longer than the start. Also measures the disk space of one life.
 */
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import type { Bench } from './options.ts'
import { type Part, rounded, type Table, verdict } from './report.ts'
import { type Server, startIncmon } from './servers.ts'

const ALERTS = 20_000
const PER_REQUEST = 20
const SERVICES = 200
const REPEATS = 5
const NAMES = ['HighLatency', 'HighErrorRate', 'QueueGrows', 'CacheMisses', 'SlowQueries']
const CONNECTIONS = 16
const MAX_RATIO = 1
const MAX_BYTES = 1_600
const SETTLED_AFTER_MS = 7_000

export async function benchLife(bench: Bench): Promise<Part[]> {
  const rounds: (readonly number[])[] = []
  let bytes = 0
  for (let round = 0; round < bench.rounds; round += 1) {
    const database = join(bench.directory, `life-${round}.db`)
    const server = await startIncmon(bench.program, database)
    const times = await live(server)
    bench.tell(`life, round ${round + 1}: ${times.map((ms) => Math.round(ms)).join(', ')} ms`)
    rounds.push(times)
    await sleep(SETTLED_AFTER_MS)
    await server.child.stop()
    bytes = bytesOf(database) / ALERTS
  }
  return [table(rounds), `Bytes on disk for one life: ${Math.round(bytes)} (${verdict(bytes, { most: MAX_BYTES })}).`]
}

/** Sends all alerts in each state. Returns the duration of each pass in ms. */
async function live(server: Server): Promise<number[]> {
  const startsAt = new Date(Date.now() - 60_000).toISOString()
  const times: number[] = []
  for (let pass = 0; pass < REPEATS + 2; pass += 1) {
    const isEnd = pass === REPEATS + 1
    const started = performance.now()
    await postAll(server, (first) => body(first, startsAt, isEnd ? new Date().toISOString() : null))
    times.push(performance.now() - started)
  }
  return times
}

async function postAll(server: Server, bodyOf: (first: number) => string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  let next = 0
  const work = async () => {
    for (; next < ALERTS; ) {
      const first = next
      next += PER_REQUEST
      await post(server, agent, bodyOf(first))
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work))
  agent.destroy()
}

function post({ url, token }: Server, agent: Agent, text: string): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/webhooks/metrics`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => (response.statusCode === 200 ? resolve() : reject(new Error(`${response.statusCode}`))))
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

function body(first: number, startsAt: string, endsAt: string | null): string {
  const alerts = Array.from({ length: PER_REQUEST }, (_, n) => alertOf(first + n, startsAt, endsAt))
  const group = { receiver: 'incmon', version: '4', groupKey: `{}:{batch="${first}"}`, truncatedAlerts: 0 }
  return JSON.stringify({ ...group, status: 'firing', externalURL: 'http://alertmanager.example:9093', alerts })
}

function alertOf(n: number, startsAt: string, endsAt: string | null) {
  return {
    status: endsAt === null ? 'firing' : 'resolved',
    labels: {
      ...{
        alertname: NAMES[Math.floor(n / SERVICES) % NAMES.length],
        job: 'shop',
        namespace: 'shop',
        team: 'checkout',
      },
      ...{ instance: `10.${n >>> 16}.${(n >>> 8) & 255}.${n & 255}:8080`, severity: 'critical' },
      service: `svc-${n % SERVICES}`,
    },
    annotations: {
      description: `The 99th percentile of request ${n} was above one second for five minutes.`,
      runbook_url: 'https://runbooks.example/latency',
      summary: 'p99 latency is high',
    },
    startsAt,
    endsAt: endsAt ?? '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example:9090/graph?g0.expr=latency%3E1&g0.tab=1',
    fingerprint: (BigInt(n + 1) * 0x9e3779b97f4a7c15n).toString(16).slice(-16).padStart(16, '0'),
  }
}

/** Returns the used pages of a closed database, in bytes. */
function bytesOf(database: string): number {
  const sqlite = new SQLite(database)
  try {
    const get = (name: string) => Number(sqlite.pragma(name, { simple: true }))
    sqlite.pragma('wal_checkpoint(TRUNCATE)')
    return (get('page_count') - get('freelist_count')) * get('page_size')
  } finally {
    sqlite.close()
  }
}

function table(rounds: readonly (readonly number[])[]): Table {
  return {
    title: `The life of ${rounded(ALERTS)} critical alerts of ${SERVICES} services`,
    columns: ['round', 'start', `${REPEATS} repeats`, 'end', 'end ÷ start'],
    rows: rounds.map((times, index) => {
      const [start = 0, end = 0] = [times[0], times.at(-1)]
      const repeats = times.slice(1, -1).reduce((sum, ms) => sum + ms, 0)
      const ratio = end / start
      const figures = [start, repeats, end].map((ms) => `${Math.round(ms)} ms`)
      return [String(index + 1), ...figures, `${ratio.toFixed(2)} (${verdict(ratio, { most: MAX_RATIO })})`]
    }),
    note: `${PER_REQUEST} alerts a request over ${CONNECTIONS} connections. One client process, so only ratios count.`,
  }
}
