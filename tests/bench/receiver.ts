/** A baseline server: Hono with a token and a schema for Alertmanager's notifications, and nothing else. */
import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import * as v from 'valibot'

const TOKENS = new Set([hashOf(process.env.TOKEN ?? '')])

const texts = v.record(v.string(), v.string())
const alert = v.object({
  status: v.picklist(['firing', 'resolved']),
  labels: texts,
  annotations: texts,
  startsAt: v.string(),
  endsAt: v.string(),
  generatorURL: v.string(),
  fingerprint: v.string(),
})
const notification = v.object({
  version: v.string(),
  groupKey: v.string(),
  truncatedAlerts: v.number(),
  status: v.picklist(['firing', 'resolved']),
  receiver: v.string(),
  groupLabels: texts,
  commonLabels: texts,
  commonAnnotations: texts,
  externalURL: v.string(),
  alerts: v.array(alert),
})

export type Notified = v.InferOutput<typeof alert>

/** Serves until it is told to stop. `take` returns the ids of the resulting events. */
export function receive(name: string, take: (alerts: readonly Notified[]) => string[] | Promise<string[]>): void {
  const app = new Hono()
  app.post('/api/webhooks/metrics', async (c) => {
    const [, token = ''] = /^Bearer (\S+)$/.exec(c.req.header('authorization') ?? '') ?? []
    if (!TOKENS.has(hashOf(token))) return c.json({ title: 'unauthorized' }, 401)
    const { success, output } = v.safeParse(notification, await c.req.json())
    if (!success) return c.json({ title: 'invalid' }, 400)
    const taken = take(output.alerts)
    return c.json({ received: true, eventIds: taken instanceof Promise ? await taken : taken })
  })
  const server = createServer(getRequestListener(app.fetch))
  server.listen(0, '127.0.0.1', () => {
    process.stdout.write(`${name} listens on http://127.0.0.1:${(server.address() as AddressInfo).port}\n`)
  })
  process.on('SIGTERM', () => process.exit(0))
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('base64')
}
