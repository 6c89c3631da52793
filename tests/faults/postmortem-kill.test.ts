/** kill -9 around a resolution: once the server is ready again, a resolved incident has exactly one postmortem. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'
import { request, type Target } from './load.ts'
import { addOrganization, makeDatabase, startServer } from './server.ts'

const [REQUESTS, ALERTS_EACH] = [4, 1_000]
/** The time from the request to the first kill, and by how much longer it is for each further kill. */
const [FIRST_MS, FACTOR] = [5, 1.6]
/** INCMON_KILLS=200 takes the long form. */
const KILLS = Number(process.env.INCMON_KILLS ?? 6)
const LONGEST_MS = 1_000

test('kill -9 while a postmortem is generated leaves the incident open, or resolved with one postmortem', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  let server = await startServer(t, file)
  await sendStorm({ url: server.url, token })
  const shown = await shownBy({ url: server.url, token })
  for (let ms = FIRST_MS; ; ms *= FACTOR) {
    const resolving = resolve({ url: server.url, token }).catch(() => null)
    await Promise.race([resolving, pause(ms)])
    await server.kill()
    const answer = await resolving
    server = await startServer(t, file)
    await ready(server.url)
    const after = await shownBy({ url: server.url, token })
    const isResolved = after.incident.status === 'resolved'
    assert.equal(countPostmortems(file), isResolved ? 1 : 0)
    assert.deepEqual(after, isResolved ? { ...after, firing: shown.firing } : shown)
    if (answer) assert.deepEqual(after.incident, unclocked(answer.body))
    if (isResolved) break
  }
  assert.equal((await resolve({ url: server.url, token })).status, 200)
  assert.equal(countPostmortems(file), 1)
})

test('after kill -9 at random times, every resolved incident has its postmortem once the server is ready', async (t) => {
  const { file, token } = makeDatabase(temporaryDirectory(t))
  const db = openStore(file)
  const tokens = [token, addOrganization(db, 'Basil', 'Team')]
  db.close()
  let resolved = 0
  for (let kill = 0; kill < KILLS; kill += 1) {
    const server = await startServer(t, file)
    await ready(server.url)
    assert.deepEqual(unwritten(file), [], `before kill ${kill}`)
    const answers = tokens.map((own) => openAndResolve({ url: server.url, token: own }, kill).catch(() => null))
    await Promise.race([Promise.all(answers), pause(Math.random() * LONGEST_MS)])
    await server.kill()
    resolved += (await Promise.all(answers)).filter((answer) => answer?.status === 200).length
  }
  await ready((await startServer(t, file)).url)
  assert.deepEqual(unwritten(file), [])
  t.diagnostic(`${KILLS} kills, ${resolved} answered resolutions`)
})

/** Opens an incident of a new service by a webhook, and resolves it. */
async function openAndResolve(target: Target, n: number) {
  await request(target, 'POST', '/api/webhooks/metrics', alertmanager([alert('Down', { deployment: `cart-${n}` })]))
  const open = (await request(target, 'GET', '/api/incidents?status=open')).body.data
  const last = open.map(({ id }: { id: string }) => request(target, 'PATCH', `/api/incidents/${id}`, RESOLVED))
  return (await Promise.all(last)).at(-1)
}
const RESOLVED = { status: 'resolved' }

/** Resolves when `/readyz` returns 200. */
function ready(url: string): Promise<unknown> {
  return eventually(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 200,
  )
}

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
  return { incident: unclocked(incident), firing, services: await get('/api/services') }
}

/** Leaves out how long the incident has been critical, which grows while the server restarts. */
function unclocked({ criticalSeconds: _, ...incident }: Record<string, unknown>) {
  return incident
}

async function resolve(target: Target) {
  const [{ id }] = (await request(target, 'GET', '/api/incidents')).body.data
  return request(target, 'PATCH', `/api/incidents/${id}`, RESOLVED)
}

function countPostmortems(file: string): number {
  const db = openStore(file)
  try {
    return db.all(db.sql.selectFrom('postmortems').select('id')).length
  } finally {
    db.close()
  }
}

/** Returns the row ids of resolved incidents without a postmortem. */
function unwritten(file: string): number[] {
  const db = openStore(file)
  try {
    const resolved = db.sql.selectFrom('incidents').where('status', '=', 'resolved')
    const written = db.sql.selectFrom('postmortems').select('incident_id')
    return db.all(resolved.select('id').where('id', 'not in', written)).map(({ id }) => id)
  } finally {
    db.close()
  }
}
