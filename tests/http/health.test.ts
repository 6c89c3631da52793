/** /healthz, /readyz and /openapi.json are public, for Charlie as well. */
import assert from 'node:assert/strict'
import { renameSync } from 'node:fs'
import { test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeWorld } from '../helpers/app.ts'
import { alertGroup } from '../helpers/payloads.ts'

for (const path of ['/healthz', '/readyz']) {
  test(`${path} responds ok without a token, and with Charlie's`, async (t) => {
    const { charlie, request } = makeWorld(t)
    const answers = [await request('GET', path), await request('GET', path, { token: charlie.token })]
    assert.deepEqual(
      answers.map(({ status, body }) => [status, body.status]),
      [
        [200, 'ok'],
        [200, 'ok'],
      ],
    )
  })
}

test('/readyz lists every check with its state', async (t) => {
  const checks = () => [{ name: 'disk', detail: 'full; make room' }]
  const { db, request } = makeWorld(t, undefined, undefined, { checks })
  const { status, body } = await request('GET', '/readyz')
  assert.deepEqual([status, body.detail], [503, 'full; make room'])
  assert.deepEqual(body.checks, [
    { name: 'migrations', state: 'ok' },
    { name: 'store', state: 'ok' },
    { name: 'disk', state: 'failing', detail: 'full; make room' },
  ])
  assert.ok(!JSON.stringify(body).includes(db.file))
})

test('a database without the current migrations is alive but not ready', async (t) => {
  const { db, request } = makeWorld(t)
  db.execute("DELETE FROM schema_migrations; INSERT INTO schema_migrations VALUES (99, 'none', 0)")
  const [lives, ready] = [await request('GET', '/healthz'), await request('GET', '/readyz')]
  assert.deepEqual([lives.status, ready.status, ready.headers.get('retry-after')], [200, 503, '5'])
  assert.match(ready.body.detail, /incmon migrate/)
})

test('a database locked by another process is not ready', async (t) => {
  const { db, request } = makeWorld(t)
  db.pragma('busy_timeout = 1')
  const other = openStore(db.file)
  other.execute('BEGIN IMMEDIATE')
  const { status, body } = await request('GET', '/readyz')
  other.close()
  assert.equal(status, 503)
  assert.match(body.detail, /SQLITE_BUSY/)
})

test('a server whose database file was moved is not ready and stores nothing until the file is back', async (t) => {
  const { db, acme, request } = makeWorld(t)
  const send = () => request('POST', '/api/webhooks/metrics', { token: acme.token, body: alertGroup(1) })
  renameSync(db.file, `${db.file}.away`)
  assert.deepEqual(
    [(await send()).status, (await request('GET', '/api/alerts', { token: acme.token })).status],
    [503, 200],
  )
  assert.match(
    (await request('GET', '/readyz')).body.detail,
    /SQLITE_READONLY_DBMOVED\); .+ put the original file back/,
  )
  renameSync(`${db.file}.away`, db.file)
  assert.deepEqual([(await send()).status, (await request('GET', '/readyz')).status], [200, 200])
})

test('a database is not ready if a write failed since the last check, and ready again at the next one', async (t) => {
  const { db, request } = makeWorld(t)
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  const write = () => {
    throw full
  }
  assert.throws(() => db.transaction(write))
  const [first, second] = [await request('GET', '/readyz'), await request('GET', '/readyz')]
  assert.deepEqual([first.status, second.status], [503, 200])
  assert.match(first.body.detail, /SQLITE_FULL.+the disk is full.+incmon doctor/)
})

test('a read-only database is not ready', async (t) => {
  const { db, request } = makeWorld(t)
  db.pragma('query_only = ON')
  const { status, body } = await request('GET', '/readyz')
  db.pragma('query_only = OFF')
  assert.equal(status, 503)
  assert.match(body.detail, /SQLITE_READONLY/)
})

test('openapi.json is OpenAPI 3.1 and describes itself', async (t) => {
  const { request } = makeWorld(t)
  const { status, body } = await request('GET', '/openapi.json')
  assert.deepEqual([status, body.openapi], [200, '3.1.1'])
  assert.ok(body.paths['/openapi.json'].get)
})

test('every operation has a summary, responses, and a security scheme unless it is public', async (t) => {
  const { request } = makeWorld(t)
  const { paths } = (await request('GET', '/openapi.json')).body
  const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, byMethod]) =>
    Object.values(byMethod).map((operation) => ({ path, ...operation })),
  )
  const bare = operations.filter(({ summary, responses }) => !summary || !responses['500'])
  const open = operations.filter(({ security }) => security.length === 0).map(({ path }) => path)
  assert.deepEqual([bare, open], [[], ['/healthz', '/readyz', '/openapi.json', '/docs']])
})
type Operation = { summary: string; responses: Record<string, object>; security: object[] }

test('a parameter in openapi.json has its limits', async (t) => {
  const { request } = makeWorld(t)
  const { parameters } = (await request('GET', '/openapi.json')).body.paths['/api/alerts'].get
  const limit = parameters.find(({ name }: { name: string }) => name === 'limit')
  assert.deepEqual(limit.schema, { type: 'integer', minimum: 1, maximum: 500, default: 50 })
})
