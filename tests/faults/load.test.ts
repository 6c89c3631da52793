/** Load: accepted requests are stored and answered in time, and everything else is rejected properly. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { createGenerator, figure, judging, memoryOf, quantile, type Reply } from './generator.ts'
import { fromClients } from './load.ts'
import { makeDatabase, startServer } from './server.ts'
import { sized } from './size.ts'

/** More than can wait for the disk at the same time. */
const CROWD = 2_600
/** The number of alerts that fire repeatedly during the overload. */
const FLEET = 40_000
const OVERLOAD_SECONDS = sized(30, 10)
const METRICS = '/api/webhooks/metrics'
/** For a machine with two cores that also runs the load generator. */
const [SUSTAINED, SUSTAINED_SECONDS] = [1_500, sized(60, 15)]
/** Alerts per second. */
const STORM = 5_000
const STORM_SECONDS = sized(30, 5)

async function served(t: TestContext, connections: number) {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const most = ['--max-connections', '4000', '--max-connections-per-address', '4000']
  const server = await startServer(t, file, [], most)
  const generator = createGenerator({ url: server.url, token }, connections)
  t.after(generator.close)
  const alerts = () => {
    const db = openStore(file)
    try {
      return db.all(db.sql.selectFrom('alerts').select((eb) => eb.fn.countAll<number>().as('count')))[0]?.count
    } finally {
      db.close()
    }
  }
  return { ...server, ...generator, alerts }
}

/**
 * Opens more connections than can be served at the same time. Sends 40 of the repeated alerts per request, and collects
 * the rejections.
 */
async function overloaded(t: TestContext) {
  const server = await served(t, CROWD)
  const refusals = new Set<string>()
  const refuse = (reply: Reply | null) => {
    if (reply && reply.status !== 200) refusals.add(`${reply.status} ${reply.headers['retry-after']}`)
  }
  const bodies = Array.from({ length: FLEET / 40 }, (_, index) => Buffer.from(group(index * 40, 40, 'warning')))
  const send = async (number: number) => refuse(await server.post(METRICS, bodies[number % bodies.length] ?? ''))
  return { ...server, refusals, refuse, send }
}

function group(first: number, count: number, severity = 'critical'): string {
  const labels = (number: number) => ({ deployment: `shop-${number % 50}`, instance: `i${number}`, severity })
  return JSON.stringify(alertmanager(Array.from({ length: count }, (_, index) => alert('Slow', labels(first + index)))))
}

suite('load', { concurrency: 1 }, () => {
  test('1,500 webhooks per second are all accepted, quickly and with little memory', async (t) => {
    const { post, atRate, tally, pid, alerts } = await served(t, 64)
    await fromClients(64, 2_000, (number) => post(METRICS, group(number, 1, 'warning')))
    tally.times.length = 0
    const judge = judging(t, 17, pid)
    await atRate(SUSTAINED, SUSTAINED_SECONDS, (number) => post(METRICS, group(10_000 + number, 1, 'warning')))
    const [p50, p99] = [quantile(tally.times, 0.5), quantile(tally.times, 0.99)]
    const { highest } = memoryOf(pid)
    figure(t, 17, `p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms, ${highest} MB in ${SUSTAINED_SECONDS} s`)
    const sent = 2_000 + SUSTAINED * SUSTAINED_SECONDS
    assert.deepEqual([[...tally.statuses], tally.broken, alerts()], [[[200, sent]], 0, sent])
    judge(p50 <= 25 && p99 <= 250, `p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms`)
    assert.ok(highest <= 400, `${highest} MB`)
  })

  test('a storm of critical alerts, 500 per request, is stored completely', async (t) => {
    const { post, tally, alerts, pid } = await served(t, 20)
    const [began, judge] = [performance.now(), judging(t, 18, pid)]
    const ids = new Set<string>()
    let sent = 0
    const client = async () => {
      for (; performance.now() - began < STORM_SECONDS * 1000; ) {
        const reply = await post(METRICS, group(sent++ * 500, 500))
        for (const id of JSON.parse(reply?.text ?? '{}').eventIds ?? []) ids.add(id)
      }
    }
    await Promise.all(Array.from({ length: 20 }, client))
    const perSecond = Math.round((500 * sent) / ((performance.now() - began) / 1000))
    figure(t, 18, `${perSecond} alerts/s for ${STORM_SECONDS} s`)
    assert.deepEqual([[...tally.statuses], ids.size, alerts()], [[[200, sent]], sent * 500, sent * 500])
    judge(perSecond >= STORM, `${perSecond} alerts/s`)
  })

  test('one request with 5,000 alerts gets 5,000 different ids', async (t) => {
    const { post, pid } = await served(t, 1)
    await post(METRICS, group(0, 1))
    const [began, judge] = [performance.now(), judging(t, 19, pid)]
    const reply = await post(METRICS, group(1, 5_000, 'warning'))
    const ms = Math.round(performance.now() - began)
    figure(t, 19, `${ms} ms`)
    assert.deepEqual([reply?.status, new Set(JSON.parse(reply?.text ?? '{}').eventIds).size], [200, 5_000])
    judge(ms <= 1_500, `${ms} ms`)
  })

  test('three times the capacity is rejected with 503 and Retry-After, and the server recovers immediately', async (t) => {
    const { send, refusals, atRate, tally, pid, alerts } = await overloaded(t)
    await fromClients(16, FLEET / 40, send)
    const began = performance.now()
    await fromClients(16, 1_000, send)
    const perSecond = Math.round((3 * 1_000_000) / (performance.now() - began))
    const before = tally.statuses.get(200) ?? 0
    tally.times.length = 0
    const judge = judging(t, 21, pid)
    await atRate(perSecond, OVERLOAD_SECONDS, send)
    const [p99, { highest }] = [quantile(tally.times, 0.99), memoryOf(pid)]
    tally.times.length = 0
    const accepted = (tally.statuses.get(200) ?? 0) - before
    await fromClients(8, 200, send)
    const after = quantile(tally.times, 0.99)
    const words = `${accepted} of ${perSecond * OVERLOAD_SECONDS} accepted, p99 ${Math.round(p99)} ms, ${highest} MB, p99 afterwards ${Math.round(after)} ms`
    figure(t, 21, words)
    assert.deepEqual([tally.broken, [...refusals], alerts()], [0, ['503 5'], FLEET])
    judge(p99 <= 2_000 && after <= 250, words)
    assert.ok(highest <= 512, `${highest} MB`)
  })

  test('a crowd of 2,600 clients gets one response each, and what was accepted is stored', async (t) => {
    const { post, refusals, refuse, tally, pid, alerts } = await overloaded(t)
    await fromClients(CROWD, 8_000, async (number) => refuse(await post(METRICS, group(number * 20, 20, 'warning'))))
    const [accepted, { highest }] = [tally.statuses.get(200) ?? 0, memoryOf(pid)]
    figure(t, 21, `${accepted} of 8,000 simultaneous requests accepted: ${highest} MB`)
    assert.deepEqual([tally.broken, [...refusals], alerts()], [0, ['503 5'], accepted * 20])
    assert.ok(highest <= 512, `${highest} MB`)
  })

  test('160 bodies of 17,000 alerts at once use bounded memory, and each is stored completely or rejected', async (t) => {
    const { post, tally, pid, alerts } = await served(t, 160)
    const body = Buffer.from(group(0, 17_000, 'warning'))
    await fromClients(160, 160, () => post(METRICS, body))
    const { highest } = memoryOf(pid)
    figure(t, 21, `160 bodies of ${Math.round(body.length / 1e6)} MB: ${highest} MB`)
    // A rejected client might still be sending and find the connection closed.
    assert.deepEqual([[...tally.statuses.keys()].sort(), alerts()], [[200, 503], 17_000])
    assert.ok(highest <= 512, `${highest} MB`)
  })
})
