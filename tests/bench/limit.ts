/** The limit: what one process of Node can take at most, with our own readers and a token, storing nothing. */
import { createHash, randomUUIDv7 } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { READERS } from '../../src/intake/index.ts'
import { parseBody } from '../../src/intake/json.ts'

const TOKENS = new Set([hashOf(process.env.TOKEN ?? '')])

const app = new Hono()
app.post('/api/webhooks/metrics', async (c) => {
  const [, token = ''] = /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '') ?? []
  if (!TOKENS.has(hashOf(token))) return c.json({ title: 'unauthorized' }, 401)
  const body = parseBody(new Uint8Array(await c.req.raw.arrayBuffer()))
  const { accepted } = READERS.metrics(body, Date.now())
  return c.json({ received: true, eventIds: accepted.map(() => randomUUIDv7()) })
})

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}

const server = createServer(getRequestListener(app.fetch))
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`limit listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
})
process.on('SIGTERM', () => process.exit(0))
