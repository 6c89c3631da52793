/** A backup contains everything that was acknowledged before it started, even under load. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { incmon, incmonServe } from '../helpers/cli.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

test('a backup under load contains every request acknowledged before it, and the API returns the same after a restore', async (t) => {
  const [cwd, elsewhere] = [temporaryDirectory(t), temporaryDirectory(t)]
  const first = await incmonServe(t, cwd)
  const made = await incmon(cwd, ['token', 'create', '--scopes', 'ingest,read', '--json'])
  const { token } = JSON.parse(made.out)
  const paths = await pathsOfAFewAlerts(first.url, token)
  const answers = await answersTo(first.url, token, paths)
  const load = await startLoad(first.url, token)
  const acknowledged = load.acknowledged()
  const { code, err } = await incmon(cwd, ['backup', join(elsewhere, 'copy.db')])
  assert.deepEqual([code, err], [0, ''])
  assert.ok(load.acknowledged() > acknowledged, 'the load went on')
  const ids = await load.stop()
  await incmon(elsewhere, ['restore', 'copy.db'])
  const second = await incmonServe(t, elsewhere)
  assert.deepEqual(await answersTo(second.url, token, paths), answers)
  const events = ids.slice(0, acknowledged).map((id) => `/api/events/${id}`)
  assert.deepEqual(await answersTo(second.url, token, events), await answersTo(first.url, token, events))
})

/** Sends a critical alert for a service and returns its event id. */
async function send(url: string, token: string, service: string, name: string): Promise<string> {
  const body = JSON.stringify(alertmanager([alert(name, { service })], { groupKey: `{}:{service="${service}"}` }))
  const headers = { Authorization: `Bearer ${token}` }
  const answer = await fetch(`${url}/api/webhooks/metrics`, { method: 'POST', headers, body })
  assert.equal(answer.status, 200)
  const { eventIds } = (await answer.json()) as { eventIds: [string] }
  return eventIds[0]
}

/** Returns the API paths of everything created by a few alerts. */
async function pathsOfAFewAlerts(url: string, token: string): Promise<string[]> {
  const events: string[] = []
  for (const name of ['Down', 'Slow', 'Full']) events.push(await send(url, token, 'cart', name))
  const [services] = await answersTo(url, token, ['/api/services'])
  const [{ id }] = JSON.parse(services ?? '')
  const lists = ['alerts', 'incidents', 'events'].map((list) => `/api/${list}?serviceId=${id}`)
  return [`/api/services/${id}`, ...lists, ...events.map((event) => `/api/events/${event}`)]
}

/** Starts four senders, each with its own service, that run until they are stopped. Returns when they have started. */
async function startLoad(url: string, token: string) {
  const ids: string[] = []
  let isOver = false
  const sender = async (service: string) => {
    for (let number = 0; !isOver; number += 1) ids.push(await send(url, token, service, `Load${number}`))
  }
  const senders = Promise.all(['load-1', 'load-2', 'load-3', 'load-4'].map(sender))
  const stop = async () => {
    isOver = true
    await senders
    return ids
  }
  await eventually(
    async () => ids.length,
    (length) => length > 20,
  )
  return { acknowledged: () => ids.length, stop }
}

async function answersTo(url: string, token: string, paths: readonly string[]): Promise<string[]> {
  const headers = { Authorization: `Bearer ${token}` }
  const answers = await Promise.all(paths.map((path) => fetch(url + path, { headers })))
  assert.ok(answers.every(({ status }) => status === 200))
  const texts = await Promise.all(answers.map((answer) => answer.text()))
  // An open problem lasts longer with each answer.
  return texts.map((text) => text.replace(/"criticalSeconds":\d+,/g, ''))
}
