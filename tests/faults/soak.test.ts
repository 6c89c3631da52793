/**
 * Load, backups, pruning and changing readers: memory, descriptors and the log stay bounded, and nothing is lost. `npm
 * run test:soak` runs for two hours, or for SOAK_MINUTES.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { alert, alertmanager, type Body } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, descriptorsOf, figure, type Generator, judging, memoryOf, quantile } from './generator.ts'
import { acknowledged, request, type Target } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'
import { sized } from './size.ts'

const MINUTES = Number(process.env.SOAK_MINUTES ?? sized(3, 1))
const PER_SECOND = 200
const WEBHOOK = '/api/webhooks/metrics'
/**
 * More than the caches of SQLite hold, 16 MB for each connection. Otherwise, they grow with the database, which looks
 * like a leak.
 */
const HISTORY = sized(40_000, 2_000)
/** The number of alerts that fire at the same time while the history is written, so that it takes little memory. */
const CHUNK = 100
/** In a soak of several hours, each step takes the ten minutes between two backups. */
const STEPS = Math.max(10, MINUTES / 10)
const STREAMS = 50
/** A checkpoint cuts the log to 64 MiB. It grows further while a backup reads. */
const LOG_LIMIT = 80 * 1_048_576
/** In the first minutes, a thread might start, which opens seven files. */
const MAX_LEAKED = MINUTES >= 10 ? 5 : 12

/** Runs a command alongside the server. */
async function run(...words: string[]): Promise<void> {
  const [command = '', ...args] = [...PROGRAM_LINE, ...words]
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  child.stderr.on('data', (chunk) => {
    said += chunk
  })
  const [code] = await once(child, 'close')
  assert.equal(code, 0, `${words.join(' ')}: ${said}`)
}

/** Opens streams and closes them after the first event. */
async function churn(url: string, token: string): Promise<void> {
  const closing = new AbortController()
  const open = () =>
    fetch(`${url}/api/stream`, { headers: { Authorization: `Bearer ${token}` }, signal: closing.signal })
  const opened = await Promise.all(Array.from({ length: STREAMS }, open))
  assert.ok(opened.every(({ status }) => status === 200))
  closing.abort()
  await Promise.allSettled(opened.map(({ body }) => body?.cancel()))
}

/** Writes a history of resolved alerts and reads all of it. */
async function fillCaches(target: Target, post: Generator['post']): Promise<void> {
  for (let first = 0; first < HISTORY; first += CHUNK) {
    const instances = Array.from({ length: CHUNK }, (_, index) => `old-${first + index}`)
    for (const status of ['firing', 'resolved'] as const) {
      const reply = await post(WEBHOOK, notification(instances.map((instance) => soaked('old', instance, status))))
      assert.equal(reply?.status, 200)
    }
  }
  for (let page = 1; page <= HISTORY / CHUNK; page += 1) {
    const { body } = await request(target, 'GET', `/api/alerts?limit=${CHUNK}&page=${page}`)
    assert.equal(body.data.length, CHUNK)
  }
}

function soaked(deployment: string, instance: string, status: 'firing' | 'resolved' = 'firing'): Body {
  return alert('Soak', { deployment, instance, severity: 'warning' }, { status })
}

function notification(alerts: readonly Body[]): string {
  return JSON.stringify(alertmanager(alerts))
}

/** One of a thousand alerts that fire repeatedly. */
function repeated(number: number): Body {
  return soaked(`shop-${number % 40}`, `i${number % 1_000}`)
}

/** Returns a function that returns a new alert and the resolution of the previous one: a live alert takes 1 kB. */
function replacing(): (instance: string) => Body[] {
  let previous = 'new'
  return (instance) => {
    const alerts = [soaked('new', instance), soaked('new', previous, 'resolved')]
    previous = instance
    return alerts
  }
}

test(`${MINUTES} minutes of load, backups, pruning and streams`, { timeout: (MINUTES + 5) * 60_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const server = await startServer(t, file, [], [], (MINUTES + 5) * 60_000)
  const { post, atRate, tally, close } = createGenerator({ url: server.url, token }, 32)
  t.after(close)
  const judge = judging(t, 27, server.pid)
  const stored = new Set<string>()
  const [memory, descriptors, logs]: [[minutes: number, megabytes: number][], number[], number[]] = [[], [], []]
  const began = performance.now()
  const minutes = () => (performance.now() - began) / 60_000
  const sampler = setInterval(() => memory.push([minutes(), memoryOf(server.pid).now]), 5_000)
  t.after(() => clearInterval(sampler))
  const look = async () => {
    logs.push(statSync(`${file}-wal`).size)
    // Otherwise, the number would depend on the currently open connections.
    close()
    let before = 0
    const isSteady = (count: number) => {
      const isSame = count === before
      before = count
      return isSame
    }
    descriptors.push(await eventually(async () => descriptorsOf(server.pid).length, isSteady))
  }
  const replaced = replacing()
  await fillCaches({ url: server.url, token }, post)
  for (let step = 0; step < STEPS; step += 1) {
    const backup = run('backup', join(directory, 'copy.db'), '--force', '--database', file)
    const sending = atRate(PER_SECOND, (MINUTES * 60) / STEPS, async (number) => {
      const alerts = number % 400 === 0 ? replaced(`new-${step}-${number}`) : [repeated(number)]
      const reply = await post(WEBHOOK, notification(alerts))
      for (const id of reply ? acknowledged({ status: reply.status, body: JSON.parse(reply.text) }) : []) stored.add(id)
    })
    // All at once, so that a failure is reported when it happens.
    await Promise.all([backup, churn(server.url, token), sending])
    await run('prune', '--yes', '--database', file)
    await look()
  }
  server.signal('SIGTERM')
  const code = await server.ended
  const lost = missing(file, stored)
  clearInterval(sampler)
  const [early, late] = [memory.filter(([at]) => at < MINUTES / 2), memory.filter(([at]) => at >= MINUTES / 2)]
  const [highest, growth] = [medianOf(late), medianOf(late) - medianOf(early)]
  // A shorter soak is still warming up.
  const slope = MINUTES >= 60 ? slopeOf(memory.filter(([at]) => at >= 10)) * 10 : 0
  const leaked = (descriptors.at(-1) ?? 0) - (descriptors[Math.floor(STEPS / 2)] ?? 0)
  const errors = server.said().match(/"level":(50|60|"error"|"fatal")/g)?.length ?? 0
  const slopeWords = MINUTES >= 60 ? `, ${slope.toFixed(1)} MB per ten minutes` : ''
  const words = `${MINUTES} minutes: ${stored.size} stored, ${lost.length} lost, ${highest} MB (${growth} more than in the first half${slopeWords}), ${leaked} additional descriptors, log at most ${Math.round(Math.max(...logs) / 1e6)} MB, p99 ${Math.round(quantile(tally.times, 0.99))} ms, ${errors} errors`
  figure(t, 27, words)
  assert.deepEqual([[...tally.statuses.keys()], tally.broken, lost.length, code, errors], [[200], 0, 0, 0, 0], words)
  assert.ok(growth <= 40 && slope <= 1 && Math.abs(leaked) <= MAX_LEAKED && Math.max(...logs) <= LOG_LIMIT, words)
  judge(quantile(tally.times, 0.99) <= 300, words)
})

function medianOf(samples: readonly (readonly [number, number])[]): number {
  return quantile(
    samples.map(([, value]) => value),
    0.5,
  )
}

/** Returns the slope of the best-fitting line, per unit of the first number. */
function slopeOf(samples: readonly (readonly [number, number])[]): number {
  const mean = (index: 0 | 1) => samples.reduce((sum, sample) => sum + sample[index], 0) / samples.length
  const [x, y] = [mean(0), mean(1)]
  const covariance = samples.reduce((sum, [at, value]) => sum + (at - x) * (value - y), 0)
  return covariance / samples.reduce((sum, [at]) => sum + (at - x) ** 2, 0)
}
