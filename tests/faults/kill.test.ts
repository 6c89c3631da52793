/**
 * Repeated kill -9 under load: nothing acknowledged is lost, and a request that is retried until it succeeds is stored
 * once.
 */
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openStore } from '../../src/store/sqlite/open.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { eventually, readiness } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { figure, judging, quantile } from './generator.ts'
import { acknowledged, deliver, type Target } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, startServer } from './server.ts'
import { sized } from './size.ts'

const ROUNDS = sized(50, 20)
const CLIENTS = 16
const RETRY_AFTER = 50

test('kill -9 under 16 clients that retry', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const retrying = startClients(token)
  // Otherwise, the clients of a failed test would retry forever.
  t.after(retrying.stop)
  const [lost, ready]: [string[], number[]] = [[], []]
  const judge = judging(t, 4, process.pid)
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now()
    const server = await startServer(t, file)
    await untilReady(server.url)
    ready.push(performance.now() - began)
    lost.push(...missing(file, [...retrying.stored]))
    retrying.sendTo(server.url)
    await retrying.untilStored(20 + (round % 10) * 5)
    await server.kill()
  }
  const last = await startServer(t, file)
  retrying.sendTo(last.url)
  const sent = await retrying.end()
  lost.push(...missing(file, [...retrying.stored]))
  const [median, slowest] = [quantile(ready, 0.5), Math.max(...ready)].map(Math.round)
  const words = `ready after ${median} ms (median) and at most ${slowest} ms`
  figure(t, 4, `${retrying.stored.size} acknowledged, ${lost.length} lost, ${words}`)
  judge((slowest ?? 0) <= 1_000, words)

  await t.test('every acknowledged event is present after every kill, and the file is intact', () => {
    // Node takes gigabytes of memory to describe the difference between an empty and a long list.
    assert.deepEqual(lost.slice(0, 9), [])
  })

  await t.test('each delivery is one alert, however often it was attempted', (t) => {
    assert.ok(retrying.refusals() > 0)
    const { alerts, acknowledged } = countAlerts(file, retrying.stored)
    figure(t, 12, `${sent} sent, ${retrying.refusals()} failed attempts, ${alerts} alerts`)
    assert.deepEqual([alerts, acknowledged], [sent, sent])
  })
})

/** Waits until a server has loaded its state. How long that takes is measured. */
const untilReady = (url: string) =>
  eventually(
    () => readiness(url),
    (status) => status === 200,
  )

/**
 * Starts clients that send one delivery after another, retrying each until it is acknowledged. Every other client uses
 * an Idempotency-Key.
 */
function startClients(token: string) {
  const [stored, progress] = [new Set<string>(), new EventEmitter()]
  const target: { -readonly [Name in keyof Target]: Target[Name] } = { url: '', token }
  let [sent, refusals, ending, stopped] = [0, 0, false, false]
  const deliverOnce = async (number: number, headers: Record<string, string>) => {
    const answer = await deliver(target, number, headers).catch(() => null)
    const ids = answer ? acknowledged(answer) : []
    for (const id of ids) stored.add(id)
    return ids.length > 0
  }
  const client = async () => {
    while (!ending) {
      const number = sent++
      const headers = number % 2 === 0 ? {} : { 'Idempotency-Key': `delivery ${number}` }
      while (!(await deliverOnce(number, headers)) && !stopped) {
        refusals += 1
        await pause(RETRY_AFTER)
      }
      progress.emit('stored')
    }
  }
  const clients: Promise<void>[] = []
  return {
    stored,
    refusals: () => refusals,
    sendTo: (url: string) => {
      target.url = url
      if (clients.length === 0) clients.push(...Array.from({ length: CLIENTS }, client))
    },
    untilStored: async (more: number) => {
      const wanted = stored.size + more
      while (stored.size < wanted) await once(progress, 'stored')
    },
    stop: () => {
      ending = true
      stopped = true
    },
    end: async () => {
      ending = true
      await Promise.all(clients)
      return sent
    },
  }
}

/** Returns the number of all alerts and of those from acknowledged events. */
function countAlerts(file: string, stored: ReadonlySet<string>) {
  const db = openStore(file)
  try {
    const alerts = db.all(db.sql.selectFrom('alerts').select('id'))
    const events = db.all(db.sql.selectFrom('events').select(['uuid', 'alert_id']))
    const known = events.filter(({ uuid }) => stored.has(uuidFromBytes(uuid)))
    return { alerts: alerts.length, acknowledged: new Set(known.map(({ alert_id }) => alert_id)).size }
  } finally {
    db.close()
  }
}
