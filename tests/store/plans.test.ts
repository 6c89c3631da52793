/** Query plans: nothing that the write path asks reads a growing table from end to end. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import SQLite from 'better-sqlite3'
import { resolveAlert } from '../../src/operations/alerts.ts'
import { addNote, changeIncident, createIncident } from '../../src/operations/incidents.ts'
import { createService, mergeServices, updateService } from '../../src/operations/services.ts'
import type { Db } from '../../src/store/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import {
  alert,
  alertmanager,
  crashLoop,
  grafana,
  job,
  kubernetesEvent,
  pipeline,
  watchdog,
} from '../helpers/senders.ts'

/** Tables that grow with every webhook, or with every alert and incident. */
const GROWING = [
  'events',
  'alerts',
  'payloads',
  'timeline',
  'active_alerts',
  'active_fingerprints',
  'incidents',
].concat(['pipelines', 'correlations', 'deliveries', 'rejections', 'services'])

/** The store with an ear: the text of every query that is run. */
function listening(heard: Set<string>) {
  return (db: Db): Db => {
    const hear =
      (run: (query: never, args: never) => unknown) =>
      (query: { text: string } | { compile: () => { sql: string } }, args: unknown) => {
        heard.add('text' in query ? query.text : query.compile().sql)
        return run(query as never, args as never)
      }
    const { all, first, run, insert } = db
    return { ...db, all: hear(all), first: hear(first), run: hear(run), insert: hear(insert) } as unknown as Db
  }
}

/** A little of everything that the write path does. */
async function mixedFlow(flow: Flow): Promise<void> {
  const pod = 'cart-5d4f8c7b9-x2kqp'
  const down = alert('CartDown', { pod, node: 'worker-2' }, { startsAt: NOON })
  const image = 'Pulling image "registry.example/shop/cart/web:1"'
  await flow.send(
    'ci',
    pipeline('failed', 'shop/cart', { at: NOON, jobs: [{ id: 1, name: 'deploy', status: 'failed' }] }),
  )
  await flow.send('ci', job('deploy', 'failed'), { key: 'one' })
  await flow.send('metrics', watchdog())
  for (const at of [NOON, NOON + 2 * MINUTE, NOON + 4 * MINUTE]) {
    await flow.send('cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node' }), { at })
    await flow.send('cluster', crashLoop(pod, { node: 'worker-2', count: 6 }))
    await flow.send('metrics', alertmanager([down, { labels: 1 }], { truncatedAlerts: 1 }))
  }
  const scaled = { kind: 'Deployment', message: 'Scaled up replica set cart-5d4f8c7b9 to 3' }
  await flow.send('cluster', kubernetesEvent('ScalingReplicaSet', 'cart', scaled))
  await flow.send('cluster', kubernetesEvent('Pulling', pod, { message: image }))
  await flow.send('dashboard', grafana([alert('Errors', { deployment: 'cart' }, { fingerprint: 'f' })]))
  await flow.send('metrics', alertmanager([down]), { dryRun: true })
  flow.sweepUntil(NOON + 30 * 60 * MINUTE, 30 * MINUTE)
  byHand(flow)
  const end = { ...down, status: 'resolved', endsAt: new Date(flow.clock.now).toISOString() }
  await flow.send('metrics', alertmanager([end]))
  flow.sweepUntil(flow.clock.now + 26 * 60 * MINUTE, 30 * MINUTE)
}

function byHand({ deps, acme, service, incidents, alerts }: Flow): void {
  const serviceId = service('cart')?.id ?? ''
  createIncident(deps, acme.key, { title: 'Ours', serviceId, severity: 'error' }, 'Ann')
  const incident = incidents()[0]?.id ?? ''
  changeIncident(deps, acme.key, incident, { status: 'resolved' }, 'Ann')
  changeIncident(deps, acme.key, incident, { status: 'open', title: 'Again' }, 'Ann')
  addNote(deps, acme.key, incident, 'a note', 'Ann')
  resolveAlert(deps, acme.key, alerts()[0]?.id ?? '', 'Ann')
  const other = createService(deps, acme.key, { name: 'all', namespace: 'shop' })
  updateService(deps, acme.key, other, { name: 'every', aliases: [{ kind: 'label', value: 'a=b' }] })
  mergeServices(deps, acme.key, serviceId, other)
}

/** The steps of a plan that read a growing table without an index. */
function scans(file: string, texts: Iterable<string>): string[] {
  const sqlite = new SQLite(file)
  const bad = new RegExp(`^SCAN (${GROWING.join('|')})\\b(?!.* USING (COVERING )?INDEX)`)
  const found = [...texts].flatMap((text) => {
    const plan = sqlite.prepare(`EXPLAIN QUERY PLAN ${text}`)
    const holes = text.split('?').length - 1
    const rows = plan.all(...Array.from({ length: holes }, () => null)) as { detail: string }[]
    return rows.filter(({ detail }) => bad.test(detail)).map(({ detail }) => `${detail}: ${text}`)
  })
  sqlite.close()
  return found
}

test('no query of the write path scans a growing table', async (t) => {
  const heard = new Set<string>()
  const flow = makeFlow(t, listening(heard))
  await mixedFlow({ ...flow, ...quietReads(flow, heard) })
  assert.ok(heard.size > 60, `only ${heard.size} queries were heard`)
  assert.deepEqual(scans(flow.file, heard), [])
})

test('a scan would be noticed', (t) => {
  const { file } = makeFlow(t)
  const all = ['select id from "events" where "text" = ?', 'select id from "alerts" where "name" = ? or "id" = ?']
  assert.equal(scans(file, all).length, 2)
})

/** What a test reads for itself is no query of the write path. */
function quietReads(flow: Flow, heard: Set<string>): Pick<Flow, 'service' | 'incidents' | 'alerts'> {
  const quietly =
    <Args extends unknown[], Result>(read: (...args: Args) => Result) =>
    (...args: Args) => {
      const before = new Set(heard)
      const result = read(...args)
      for (const text of heard) if (!before.has(text)) heard.delete(text)
      return result
    }
  return { service: quietly(flow.service), incidents: quietly(flow.incidents), alerts: quietly(flow.alerts) }
}
