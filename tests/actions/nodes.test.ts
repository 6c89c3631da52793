/** Nodes: a failed node opens one incident, not one per pod. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeTroublesIn } from '../../src/engine/changes/nodes.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const NODE = 'worker-2'
const NOT_READY = kubernetesEvent('NodeNotReady', NODE, { kind: 'Node' })
const APPS = Array.from({ length: 20 }, (_, i) => `app${i}`)

function podOf(app: string) {
  return `${app}-5d4f8c7b9-x2kqp`
}

/** Returns an alert about a pod with the labels of its node. */
function podAlert(app: string, more: Record<string, string> = {}) {
  return alert('KubePodNotReady', { pod: podOf(app), node: NODE, severity: 'critical', ...more }, { startsAt: NOON })
}

/** The node becomes not ready, and a minute later events and alerts report problems with all its pods. */
async function nodeDown(flow: Flow): Promise<void> {
  await flow.send('cluster', NOT_READY)
  for (const app of APPS) {
    await flow.send('cluster', kubernetesEvent('NodeNotReady', podOf(app), { node: NODE }), { at: NOON + MINUTE })
  }
  await flow.send('metrics', alertmanager(APPS.map((app) => podAlert(app))), { at: NOON + 2 * MINUTE })
}

function incidentServices(flow: Flow) {
  const names = new Map(flow.services().map(({ key, name }) => [key, name]))
  return flow.incidents().map(({ service_id }) => names.get(service_id))
}

test('a node that is not ready for a minute opens its own incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', NOT_READY)
  await flow.sweepUntil(NOON + MINUTE - 1)
  assert.deepEqual(incidentServices(flow), [])
  await flow.sweepUntil(NOON + MINUTE)
  assert.deepEqual(incidentServices(flow), [`node/${NODE}`])
})

test('a failed node with twenty pods is one incident', async (t) => {
  const flow = makeFlow(t)
  await nodeDown(flow)
  await flow.sweepUntil(NOON + 20 * MINUTE)
  assert.deepEqual(incidentServices(flow), [`node/${NODE}`])
  assert.equal(flow.services().filter(({ status }) => status === 'critical').length, 21)
})

test('after a node recovers, alerts of its pods that end soon open nothing', async (t) => {
  const flow = makeFlow(t)
  await nodeDown(flow)
  await flow.sweepUntil(NOON + 20 * MINUTE)
  await flow.send('cluster', kubernetesEvent('NodeReady', NODE, { kind: 'Node' }))
  await flow.send('metrics', alertmanager(APPS.map((app) => podAlert(app))))
  await flow.sweepUntil(NOON + 24 * MINUTE)
  const ends = APPS.map((app) => ({ ...podAlert(app), status: 'resolved', endsAt: '2026-03-14T12:21:00Z' }))
  await flow.send('metrics', alertmanager(ends))
  await flow.sweepUntil(NOON + 3 * HOUR)
  assert.deepEqual(incidentServices(flow), [`node/${NODE}`])
  assert.ok(flow.alerts().every(({ status }) => status === 'resolved'))
})

/** The minute in which a pod's alert opens an incident. The node recovers at minute 20. */
const AFTER_RECOVERY: [string, readonly number[], number][] = [
  ['is not repeated', [], 25],
  ['is repeated before the sender can have noticed', [20.5], 25],
  ['is repeated', [20.2, 21.2], 21.2],
  ['is repeated twice', [20.5, 22], 22],
]
for (const [how, repeats, opensAt] of AFTER_RECOVERY) {
  test(`after a node recovered, an alert that goes on and ${how} opens an incident`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('cluster', NOT_READY)
    await flow.send('metrics', alertmanager([podAlert('cart')]), { at: NOON + 2 * MINUTE })
    await flow.sweepUntil(NOON + 20 * MINUTE)
    await flow.send('cluster', kubernetesEvent('NodeReady', NODE, { kind: 'Node' }))
    for (const minute of repeats) {
      await flow.sweepUntil(NOON + minute * MINUTE, MINUTE / 2)
      await flow.send('metrics', alertmanager([podAlert('cart')]))
    }
    await flow.sweepUntil(NOON + opensAt * MINUTE - 1, MINUTE / 2)
    assert.deepEqual(incidentServices(flow), [`node/${NODE}`])
    await flow.sweepUntil(NOON + (opensAt + 0.5) * MINUTE, MINUTE / 2)
    assert.deepEqual(incidentServices(flow), [`node/${NODE}`, 'cart'])
  })
}

test('a pod whose alert counted before its node failed has not recovered when the node fails', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([podAlert('cart')]))
  await flow.send('cluster', NOT_READY, { at: NOON + MINUTE })
  await flow.sweepUntil(NOON + 10 * MINUTE)
  assert.deepEqual(
    flow.incidents().map(({ status }) => status),
    ['open', 'open'],
  )
})

test('a pod that fails eleven minutes after its node has its own problem', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', NOT_READY)
  const later = alert('CartDown', { pod: podOf('cart'), node: NODE }, { startsAt: NOON + 11 * MINUTE })
  await flow.send('metrics', alertmanager([later]), { at: NOON + 11 * MINUTE })
  assert.ok(incidentServices(flow).includes('cart'))
})

test('a pod on another node opens its own incident', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', NOT_READY)
  await flow.send('metrics', alertmanager([podAlert('cart', { node: 'worker-3' })]), { at: NOON + MINUTE })
  assert.deepEqual(incidentServices(flow), ['cart'])
})

test('a node of the same name in another cluster or organization explains nothing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', NOT_READY, { cluster: 'staging' })
  await flow.send('cluster', NOT_READY, { as: flow.charlie })
  await flow.send('metrics', alertmanager([podAlert('cart')]), { at: NOON + MINUTE })
  assert.deepEqual(incidentServices(flow), ['cart'])
})

test('a cordoned node is a warning that explains nothing', async (t) => {
  const flow = makeFlow(t)
  await flow.send('cluster', kubernetesEvent('NodeNotSchedulable', NODE, { kind: 'Node' }))
  for (const minute of [0, 1, 2, 3]) {
    await flow.send('cluster', crashLoop(podOf('cart'), { node: NODE, count: 6 }), { at: NOON + minute * MINUTE })
  }
  await flow.sweepUntil(NOON + 10 * MINUTE)
  assert.deepEqual(incidentServices(flow), ['cart'])
})

test('an alert about a node belongs to the node, whoever measured it', async (t) => {
  const flow = makeFlow(t)
  const labels = { job: 'node-exporter', instance: `${NODE}:9100`, namespace: 'monitoring', severity: 'warning' }
  await flow.send('metrics', alertmanager([alert('NodeFilesystemFull', labels)]))
  await flow.send('cluster', NOT_READY)
  assert.deepEqual(
    flow.services().map(({ name }) => name),
    [`node/${NODE}`],
  )
})

test('beside hundreds of failed nodes, a search for one failed node reads one', async (t) => {
  const flow = makeFlow(t)
  const down = (node: string) => alert('HostDown', { job: 'node', instance: `${node}:9100`, severity: 'critical' })
  await flow.send('metrics', alertmanager(Array.from({ length: 300 }, (_, n) => down(`host-${n}`))))
  await flow.deps.engine.read(flow.acme.key, (state) => {
    let reads = 0
    const get = (rowId: number) => {
      reads += 1
      return state.services.get(rowId)
    }
    const search = nodeTroublesIn({ ...state, services: { ...state.services, get } }, '', NOON - HOUR)
    assert.equal(search.next().done, false)
    assert.equal(reads, 1)
    assert.equal([...search].length, 299)
  })
})

test('a node that recovered an hour ago, or only warns, is no failed node', async (t) => {
  const flow = makeFlow(t)
  const about = (node: string, severity: string) =>
    alert('HostDown', { job: 'node', instance: `${node}:9100`, severity })
  await flow.send('metrics', alertmanager([about('host-1', 'critical'), about('host-2', 'warning')]))
  const failed = (since: number) =>
    flow.deps.engine.read(flow.acme.key, (state) => [...nodeTroublesIn(state, '', since)].map(({ node }) => node))
  assert.deepEqual(await failed(NOON - HOUR), ['host-1'])
  const ended = { ...about('host-1', 'critical'), status: 'resolved', endsAt: new Date(NOON + MINUTE).toISOString() }
  await flow.send('metrics', alertmanager([ended]), { at: NOON + 2 * MINUTE })
  assert.deepEqual(await failed(NOON), ['host-1'])
  assert.deepEqual(await failed(NOON + MINUTE), [])
})
