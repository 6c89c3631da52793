/** Slow reads in separate threads: up to date, bounded, isolated from everything else, and stopped with the server. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { IncmonError } from '../../src/domain/error.ts'
import { findAlertsJson } from '../../src/store/alertmanager/alerts.ts'
import { findGroupsJson } from '../../src/store/alertmanager/groups.ts'
import { listEvents } from '../../src/store/events.ts'
import { listMatchingAlerts } from '../../src/store/history/alert-search.ts'
import { listIncidents } from '../../src/store/incident/incidents.ts'
import { listRejections } from '../../src/store/rejections.ts'
import { findCountedSilence } from '../../src/store/silences.ts'
import { openReader } from '../../src/store/sqlite/open.ts'
import { createReader, LIMITS, queryByName } from '../../src/workers/reader.ts'
import { makeWorld } from '../helpers/app.ts'
import { startBundled } from '../helpers/bundle.ts'
import { makeAlert, makeOrganization, makeService } from '../helpers/factory.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'
import { temporaryStore } from '../helpers/store.ts'

const FIRST = { page: 1, limit: 50 }

/** Creates a store with an alert and a reader, and returns the threads it started. */
function reading(t: TestContext, start = startBundled, limits = LIMITS) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const service = makeService(db, acme, 'cart')
  makeAlert(db, acme, service)
  const threads: Worker[] = []
  const starting: typeof startBundled = (name, data) => {
    const thread = start(name, data)
    threads.push(thread)
    return thread
  }
  const reader = createReader(db, starting, () => {}, limits)
  t.after(reader.close)
  const search = (q = 'slow') => reader.read(listMatchingAlerts, acme.key, { q }, FIRST)
  const events = (organization = acme) => reader.read(listEvents, organization.key, {}, FIRST)
  return { db, acme, service, reader, threads, search, events }
}

const isUnavailable = (why: RegExp) => (error: unknown) =>
  error instanceof IncmonError && error.code === 'unavailable' && why.test(error.message)

test('a thread returns the same records as the main thread', async (t) => {
  const { db, acme, search } = reading(t)
  assert.deepEqual(await search(), listMatchingAlerts(db, acme.key, { q: 'slow' }, FIRST))
})

test('a read that starts after a commit always sees it', async (t) => {
  const { db, acme, service, search } = reading(t)
  for (let total = 1; total <= 20; total += 1) {
    assert.equal((await search()).total, total)
    makeAlert(db, acme, service)
  }
})

test('over HTTP, the next search finds an event that was answered 200', async (t) => {
  const { request, get } = await startServer(t)
  for (const name of ['First', 'Second', 'Third']) {
    const body = JSON.stringify(alertmanager([alert(name, { service: 'cart' })]))
    assert.equal((await request('POST', '/api/webhooks/metrics', body)).status, 200)
    assert.deepEqual(
      (await get(`/api/alerts?q=${name}`)).data.map((one: { name: string }) => one.name),
      [name],
    )
  }
})

test('a slow search delays neither webhooks nor other reads', async (t) => {
  const silent = () => new Worker('setInterval(() => {}, 1e6)', { eval: true })
  const { app, acme } = makeWorld(t, undefined, (db) => createReader(db, silent))
  const headers = { Authorization: `Bearer ${acme.token}` }
  let searched = false
  void (async () => {
    await app.request('/api/alerts?q=slow', { headers })
    searched = true
  })()
  const body = JSON.stringify(alertmanager([alert('CartDown', { service: 'cart' })]))
  const sent = await app.request('/api/webhooks/metrics', { method: 'POST', headers, body: Buffer.from(body) })
  const listed = await app.request('/api/alerts', { headers })
  assert.deepEqual([sent.status, listed.status, searched], [200, 200, false])
})

for (const [what, path] of [
  ['what fires', '/api/alerts?status=firing&q=slow'],
  ['what was said', '/api/events'],
  ['an incident', '/api/incidents'],
] as const) {
  test(`${what} is answered while a search scans the whole history`, async (t) => {
    const endless = [new Worker('setInterval(() => {}, 1e6)', { eval: true })]
    const start: typeof startBundled = (name, file) => endless.pop() ?? startBundled(name, file)
    const { acme, request, app } = makeWorld(t, undefined, (db) => createReader(db, start))
    void app.request('/api/alerts?q=slow', { headers: { Authorization: `Bearer ${acme.token}` } })
    const { status, body } = await request('GET', path, { token: acme.token })
    assert.deepEqual([endless.length, status, body.pagination.total], [0, 200, 0])
  })
}

test('a thread starts when it is needed, at most one for each kind of read', async (t) => {
  const { acme, reader, threads, search, events } = reading(t)
  assert.equal(threads.length, 0)
  await Promise.all([search(), search()])
  assert.equal(threads.length, 1)
  await Promise.all([1, 2].map(() => reader.read(listIncidents, acme.key, {}, FIRST)))
  assert.equal(threads.length, 2)
  await Promise.all([events(), search(), events()])
  assert.equal(threads.length, 3)
})

test('Charlie reads no foreign record', async (t) => {
  const { db, reader, events } = reading(t)
  const charlie = makeOrganization(db, 'Charlie', 'Pro')
  assert.deepEqual(await reader.read(listMatchingAlerts, charlie.key, { q: 'slow' }, FIRST), { items: [], total: 0 })
  assert.deepEqual(await events(charlie), { items: [], total: 0 })
})

test('an ended thread fails one read; the pending ones use the next thread', async (t) => {
  const { threads, search } = reading(t)
  await search()
  const [current, next] = [search(), search()]
  void threads[0]?.terminate()
  await assert.rejects(current, isUnavailable(/the reader thread ended: try again in a few seconds/))
  assert.equal((await next).total, 1)
  assert.equal(threads.length, 2)
})

test('if a thread cannot start, pending reads are refused, and the next read tries again', async (t) => {
  let broken = true
  const { search } = reading(t, (name, data) =>
    broken ? new Worker('process.exit(1)', { eval: true }) : startBundled(name, data),
  )
  await assert.rejects(search(), isUnavailable(/ended/))
  broken = false
  assert.equal((await search()).total, 1)
})

test('if a thread cannot be created, each pending read is refused, and the next read tries again', async (t) => {
  let broken = true
  const { search } = reading(t, (name, data) => {
    if (broken) throw new Error('no more threads')
    return startBundled(name, data)
  })
  for (const outcome of await Promise.allSettled([search(), search()])) assert.equal(outcome.status, 'rejected')
  broken = false
  assert.equal((await search()).total, 1)
})

test("a read's error is thrown only to its caller", async (t) => {
  const { db, acme, reader, search } = reading(t)
  db.execute('DROP TABLE rejections')
  await assert.rejects(reader.read(listRejections, acme.key, {}, FIRST), /no such table: rejections/)
  assert.equal((await search()).total, 1)
})

test('a full queue refuses the next read and still answers the pending ones', async (t) => {
  const { search } = reading(t)
  const all = Array.from({ length: 33 }, () => search())
  await assert.rejects(search(), isUnavailable(/^too many slow reads are pending: try again/))
  assert.ok((await Promise.all(all)).every(({ total }) => total === 1))
})

test('views of many incidents for many people wait for each other', async (t) => {
  const { acme, reader } = reading(t)
  const views = Array.from({ length: 300 }, () => reader.read(listRejections, acme.key, {}, FIRST))
  assert.equal((await Promise.all(views)).length, 300)
})

test('a thread without searches ends, and the next search starts another', async (t) => {
  const { search, threads } = reading(t, startBundled, { ...LIMITS, search: { ...LIMITS.search, idleMs: 1 } })
  await search()
  await once(threads[0] ?? assert.fail(), 'exit')
  assert.equal((await search()).total, 1)
  assert.equal(threads.length, 2)
})

test('closing refuses pending and new reads and ends the threads', async (t) => {
  const { reader, threads, search } = reading(t)
  await search()
  const waiting = Promise.allSettled([search(), search()])
  await reader.close()
  assert.deepEqual(
    (await waiting).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  assert.equal(threads[0]?.threadId, -1)
  await assert.rejects(search(), isUnavailable(/^incmon is stopping/))
})

test('a thread cannot write', async (t) => {
  const { db } = reading(t)
  const readOnly = openReader(db.file)
  t.after(() => readOnly.close())
  assert.throws(() => readOnly.run(readOnly.sql.deleteFrom('alerts')), /readonly/)
})

test("all live alerts of Alertmanager's API are read in a thread", async (t) => {
  const { acme, reader, threads } = reading(t)
  const flags = { active: true, silenced: true, inhibited: true }
  const wanted = { matchers: [], receiver: null, ...flags, now: Date.now(), resolveTimeout: 1 }
  const all = new TextDecoder().decode(await reader.read(findAlertsJson, acme.key, wanted))
  const groups = await reader.read(findGroupsJson, acme.key, { ...wanted, groupBy: [], muted: true })
  assert.equal(JSON.parse(all).length, 1)
  assert.equal(JSON.parse(new TextDecoder().decode(groups ?? assert.fail()))[0].alerts.length, 1)
  assert.equal(threads.length, 1)
})

test('a thread says as well as the main thread that a page has too much text', async (t) => {
  const { acme, reader, db, service } = reading(t)
  const labels = JSON.stringify({ log: 'x'.repeat(1_000) })
  for (let index = 0; index < 3; index += 1) makeAlert(db, acme, service, { labels, severity: 'info' })
  const page = { page: 1, limit: 3, most: 2_500 }
  await assert.rejects(reader.read(listMatchingAlerts, acme.key, { severity: 'info' }, page), (error) => {
    return error instanceof IncmonError && error.code === 'invalid' && /such as 2$/.test(error.message)
  })
})

test('the firing alerts that a silence matches are counted in a thread, because there can be tens of thousands', () => {
  assert.equal(queryByName('findCountedSilence'), findCountedSilence)
})
