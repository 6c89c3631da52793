/** kill -9 while a postmortem is generated: the incident is open without one, or resolved with exactly one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { request, type Target } from './load.ts'
import { makeDatabase, startServer } from './server.ts'

const [REQUESTS, ALERTS_EACH] = [4, 1_000]
/** The time from the request to the first kill, and by how much longer it is for each further kill. */
const [FIRST_MS, FACTOR] = [50, 2]

test('kill -9 while a postmortem is generated leaves the incident open, or resolved with one postmortem', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  let server = await startServer(t, file)
  await sendStorm({ url: server.url, token })
  const shown = await shownBy({ url: server.url, token })
  const survived: number[] = []
  for (let ms = FIRST_MS; ; ms *= FACTOR) {
    const resolving = resolve({ url: server.url, token }).catch(() => null)
    await Promise.race([resolving, pause(ms)])
    await server.kill()
    const answer = await resolving
    server = await startServer(t, file)
    const after = await shownBy({ url: server.url, token })
    const isResolved = after.incident.status === 'resolved'
    assert.equal(countPostmortems(file), isResolved ? 1 : 0)
    assert.deepEqual(after, isResolved ? { ...after, firing: shown.firing } : shown)
    if (answer) assert.deepEqual(after.incident, answer.body)
    if (isResolved) break
    survived.push(Math.round(ms))
  }
  t.diagnostic(`still open after kills at ${survived.join(', ')} ms`)
  assert.ok(survived.length > 0, 'no kill came before the commit')
  assert.equal((await resolve({ url: server.url, token })).status, 200)
  assert.equal(countPostmortems(file), 1)
})

/** Creates an incident with thousands of firing alerts. */
async function sendStorm(target: Target) {
  for (let group = 0; group < REQUESTS; group += 1) {
    const alerts = Array.from({ length: ALERTS_EACH }, (_, index) =>
      alert('Down', { deployment: 'cart', instance: `i-${group}-${index}` }),
    )
    assert.equal((await request(target, 'POST', '/api/webhooks/metrics', alertmanager(alerts))).status, 200)
  }
}

/** Returns what the API shows of the incident, of its service, and of the firing alerts, which are in memory. */
async function shownBy(target: Target) {
  const get = async (path: string) => (await request(target, 'GET', path)).body
  const [incident] = (await get('/api/incidents')).data
  const firing = await get('/api/alerts?status=firing&limit=500')
  assert.equal(firing.pagination.total, REQUESTS * ALERTS_EACH)
  return { incident, firing, services: await get('/api/services') }
}

async function resolve(target: Target) {
  const [{ id }] = (await request(target, 'GET', '/api/incidents')).body.data
  return request(target, 'PATCH', `/api/incidents/${id}`, { status: 'resolved' })
}

function countPostmortems(file: string): number {
  const db = openStore(file)
  try {
    return db.all(db.sql.selectFrom('postmortems').select('id')).length
  } finally {
    db.close()
  }
}
