/** SIGTERM with the real program under load: nothing acknowledged is lost, and every response is completed. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { call, incmonServe } from '../helpers/cli.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const CLIENTS = 16

async function serving(t: TestContext, env: Record<string, string> = {}) {
  const cwd = temporaryDirectory(t)
  const server = await incmonServe(t, cwd, env)
  const { out } = await call(cwd, ['token', 'create', '--json', '--scopes', 'ingest'])
  return { ...server, file: join(cwd, 'incmon.db'), token: String(JSON.parse(out).token) }
}

type Outcome = { readonly status: number | string; readonly eventId?: string; readonly connection?: string | undefined }

/** Sends one event. Returns the status, or the code of the connection error. */
function post(url: string, token: string, agent: Agent, name: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const headers = { Authorization: `Bearer ${token}` }
    const sent = request(`${url}/api/webhooks/cluster`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('error', (error: NodeJS.ErrnoException) => resolve({ status: String(error.code) }))
      response.on('end', () => {
        const { eventId } = JSON.parse(text)
        resolve({ status: response.statusCode ?? 0, eventId, connection: response.headers.connection })
      })
    })
    sent.on('error', (error: NodeJS.ErrnoException) => resolve({ status: String(error.code) }))
    sent.end(
      JSON.stringify({ reason: 'Failed', message: name, involvedObject: { kind: 'Pod', name, namespace: 'shop' } }),
    )
  })
}

/** Sends events one after another on a kept-alive connection until the server stops listening. */
async function sendUntilRefused(url: string, token: string, client: number, seen: Outcome[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let number = 0; ; number += 1) {
    const outcome = await post(url, token, agent, `cart-${client}-${number}`)
    seen.push(outcome)
    if (outcome.status === 'ECONNREFUSED') break
  }
  agent.destroy()
}

function storedIn(file: string): Set<string> {
  const db = openStore(file)
  try {
    return new Set(db.all(db.sql.selectFrom('events').select('uuid')).map(({ uuid }) => uuidFromBytes(uuid)))
  } finally {
    db.close()
  }
}

suite('SIGTERM', { concurrency: 3 }, () => {
  test('under load answers every request, loses nothing and leaves a single file', async (t) => {
    const { url, file, token, stop } = await serving(t)
    const other = openStore(file)
    t.after(() => other.close())
    const seen: Outcome[] = []
    const clients = Array.from({ length: CLIENTS }, (_, client) => sendUntilRefused(url, token, client, seen))
    await eventually(
      async () => seen.length,
      (count) => count > 10 * CLIENTS,
    )
    assert.equal(await stop('SIGTERM'), 0)
    await Promise.all(clients)
    const others = seen.map(({ status }) => status).filter((status) => ![200, 503, 'ECONNREFUSED'].includes(status))
    assert.deepEqual(others, [])
    assert.equal(statSync(`${file}-wal`).size, 0)
    const stored = storedIn(file)
    const acknowledged = seen.flatMap(({ status, eventId }) => (status === 200 ? [String(eventId)] : []))
    assert.deepEqual(
      acknowledged.filter((id) => !stored.has(id)),
      [],
    )
  })

  test('makes /readyz fail while requests are still accepted', async (t) => {
    const { url, token, child, said } = await serving(t, { INCMON_STOP_GRACE: '60000' })
    child.kill('SIGTERM')
    const { status } = await eventually(
      async () => {
        const response = await fetch(`${url}/readyz`)
        return { status: response.status, body: (await response.json()) as { detail?: string } }
      },
      (answer) => answer.body.detail === 'incmon is stopping',
    )
    assert.equal(status, 503)
    const { connection, ...outcome } = await post(url, token, new Agent({ keepAlive: true }), 'cart-1')
    assert.deepEqual([outcome.status, connection], [200, 'close'])
    await eventually(
      async () => said.err,
      (log) => log.includes('"signal":"SIGTERM","message":"stopping"'),
    )
  })

  test('twice ends the server immediately', async (t) => {
    const { child } = await serving(t, { INCMON_STOP_GRACE: '60000' })
    const closed = once(child, 'close')
    child.kill('SIGTERM')
    const again = setInterval(() => child.kill('SIGTERM'), 600)
    const [code] = await closed
    clearInterval(again)
    assert.equal(code, 1)
  })

  test('stops gracefully even if a client never finishes its request', async (t) => {
    const { url, stop } = await serving(t)
    const hanging = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {})
    hanging.write('POST /api/webhooks/metrics HTTP/1.1\r\nHost:')
    await once(hanging, 'connect')
    const [code] = await Promise.all([stop('SIGTERM'), once(hanging, 'close')])
    assert.equal(code, 0)
  })

  test('has a grace period, and SIGINT has none', async (t) => {
    const { stop } = await serving(t, { INCMON_STOP_GRACE: '60000' })
    assert.equal(await stop('SIGINT'), 0)
  })
})
