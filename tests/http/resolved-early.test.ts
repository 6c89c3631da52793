/** An incident that a user resolves while its alert fires: every place has one duration, and it never falls. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'

test('a problem that outlasts its resolution stays on, and a reopening keeps its duration', async (t) => {
  const { acme, clock, deps, request } = makeWorld(t)
  const { token } = acme
  const labels = { alertname: 'Down', service: 'cart', severity: 'critical' }
  const alert = { labels, status: 'firing', startsAt: '2026-03-14T12:00:00Z' }
  await request('POST', '/api/webhooks/metrics', { token, body: { alerts: [alert] } })
  const path = `/api/incidents/${(await request('GET', '/api/incidents', { token })).body.data[0].id}`
  const at = async (minutes: number) => {
    clock.now = NOON + minutes * MINUTE
    while (await deps.engine.sweep());
    const { problem, criticalSeconds } = (await request('GET', path, { token })).body
    return [problem, criticalSeconds / 60]
  }
  await at(5)
  await request('PATCH', path, { token, body: { status: 'resolved' } })
  const { text } = await request('GET', `${path}/postmortem`, { token, headers: { Accept: 'text/markdown' } })
  assert.match(text, /\*\*Critical for:\*\* 5 min until it was resolved; it was still critical then/)
  assert.deepEqual(await at(9), ['on', 9])
  await request('PATCH', path, { token, body: { status: 'open' } })
  assert.deepEqual(await at(10), ['on', 10])
  await request('PATCH', path, { token, body: { status: 'resolved' } })
  const end = { ...alert, status: 'resolved', endsAt: '2026-03-14T12:12:00Z' }
  await at(12)
  await request('POST', '/api/webhooks/metrics', { token, body: { alerts: [end] } })
  assert.deepEqual(await at(15), ['off', 12])
})
