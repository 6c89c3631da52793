/**
 * Load, backups, pruning and readers that come and go: memory, descriptors and the log stay bounded, and nothing is lost.
 * `npm run test:soak` does so for two hours, SOAK_MINUTES for another time.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, memoryOf, quantile } from './generator.ts'
import { acknowledged } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'
import { sized } from './size.ts'

const MINUTES = Number(process.env.SOAK_MINUTES ?? sized(3, 1))
const PER_SECOND = 200
const STEPS = 10
const STREAMS = 50
const LOG_LIMIT = 64 * 1_048_576

/** Runs a command of the program beside the server. */
async function run(...words: string[]): Promise<void> {
  const [command = '', ...args] = [...PROGRAM_LINE, ...words]
  const [code] = await once(spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] }), 'close')
  assert.equal(code, 0, words.join(' '))
}

/** Opens streams, and leaves them after the first words. */
async function churn(url: string, token: string): Promise<void> {
  const closing = new AbortController()
  const open = () =>
    fetch(`${url}/api/stream`, { headers: { Authorization: `Bearer ${token}` }, signal: closing.signal })
  const opened = await Promise.all(Array.from({ length: STREAMS }, open))
  assert.ok(opened.every(({ status }) => status === 200))
  closing.abort()
  await Promise.allSettled(opened.map(({ body }) => body?.cancel()))
}

test(`${MINUTES} minutes of load, backups, pruning and streams`, { timeout: (MINUTES + 5) * 60_000 }, async (t) => {
  const directory = temporaryDirectory(t)
  const { file, token } = makeDatabase(directory)
  const server = await startServer(t, file, [], [], (MINUTES + 5) * 60_000)
  const { post, atRate, tally, close } = createGenerator({ url: server.url, token }, 32)
  t.after(close)
  const judge = judging(t, 27, server.pid)
  const stored = new Set<string>()
  const [memory, descriptors, logs]: [number[], number[], number[]] = [[], [], []]
  const look = () => {
    memory.push(memoryOf(server.pid).now)
    descriptors.push(readdirSync(`/proc/${server.pid}/fd`).length)
    logs.push(statSync(`${file}-wal`).size)
  }
  for (let step = 0; step < STEPS; step += 1) {
    const beside = [run('backup', join(directory, 'copy.db'), '--force', '--database', file), churn(server.url, token)]
    await atRate(PER_SECOND, (MINUTES * 60) / STEPS, async (number) => {
      // A thousand alerts that fire again and again, and now and then a new one.
      const instance = number % 20 === 0 ? `new-${step}-${number}` : `i${number % 1_000}`
      const body = alertmanager([alert('Soak', { deployment: `shop-${number % 40}`, instance, severity: 'warning' })])
      const reply = await post('/api/webhooks/metrics', JSON.stringify(body))
      for (const id of reply ? acknowledged({ status: reply.status, body: JSON.parse(reply.text) }) : []) stored.add(id)
    })
    await Promise.all(beside)
    await run('prune', '--yes', '--database', file)
    look()
  }
  server.signal('SIGTERM')
  const code = await server.ended
  const lost = missing(file, stored)
  const half = STEPS / 2
  /** Single values vary with the connections of the moment, so the medians of both halves are compared. */
  const growthOf = (values: readonly number[]) =>
    quantile(values.slice(half), 0.5) - quantile(values.slice(0, half), 0.5)
  const [growth, leaked] = [growthOf(memory), growthOf(descriptors)]
  const errors = server.said().match(/"level":(50|60|"error"|"fatal")/g)?.length ?? 0
  const words = `${MINUTES} minutes: ${stored.size} stored, ${lost.length} lost, ${memory.at(-1)} MB (${growth} more than in the first half), ${leaked} descriptors more, log at most ${Math.round(Math.max(...logs) / 1e6)} MB, p99 ${Math.round(quantile(tally.times, 0.99))} ms, ${errors} errors`
  figure(t, 27, words)
  assert.deepEqual([[...tally.statuses.keys()], tally.broken, lost, code, errors], [[200], 0, [], 0, 0], words)
  assert.ok(growth <= Math.max(40, MINUTES / 5) && leaked <= 10 && Math.max(...logs) <= LOG_LIMIT, words)
  judge(quantile(tally.times, 0.99) <= 300, words)
})
