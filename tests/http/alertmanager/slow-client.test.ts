/** Large answers are freed when they are sent, and not before. */
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import test from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { alert, alertmanager } from '../../helpers/senders.ts'
import { startServer } from '../../helpers/server.ts'

const ALERTS = 4_000
const LONG = 'x'.repeat(1_500)

test('a client that reads slowly gets all alerts, and all groups after them on the same connection', async (t) => {
  const { url, token, request } = await startServer(t)
  for (let from = 0; from < ALERTS; from += 500) {
    const alerts = Array.from({ length: 500 }, (_, index) =>
      alert('Slow', { service: `s${index % 20}`, instance: `${from + index}`, long: LONG }),
    )
    const body = JSON.stringify(alertmanager(alerts))
    const { status } = await request('POST', '/api/webhooks/metrics', body, { 'Content-Type': 'application/json' })
    assert.equal(status, 200)
  }
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
    .setEncoding('utf8')
    .pause()
  t.after(() => socket.destroy())
  const ask = (path: string, more = '') =>
    socket.write(
      `GET /alertmanager/api/v2/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`,
    )
  ask('alerts')
  ask('alerts/groups', 'Connection: close\r\n')
  await pause(1_000)
  let text = ''
  for await (const chunk of socket) text += chunk
  const [alerts = [], groups = []] = text
    .split('\r\n')
    .filter((line) => line.startsWith('['))
    .map((line) => JSON.parse(line.replace(/HTTP\/1\.1 200 OK$/, '')))
  const members = groups.flatMap((group: { alerts: unknown[] }) => group.alerts)
  for (const all of [alerts, members]) {
    assert.equal(new Set(all.map(({ labels }: Found) => labels.instance)).size, ALERTS)
    for (const { labels } of all as Found[]) assert.equal(labels.long, LONG)
  }
})

type Found = { readonly labels: Readonly<Record<string, string>> }
