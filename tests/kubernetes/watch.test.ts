/** A server that watches a cluster: from the API's objects to services, alerts and incidents. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createToken } from '../../src/actions/tokens.ts'
import { RESOURCES } from '../../src/kubernetes/stream.ts'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import {
  deployment,
  event,
  node,
  pod,
  replicaSet,
  running,
  terminated,
  waiting,
} from '../helpers/kubernetes/objects.ts'
import { startFakeCluster } from '../helpers/kubernetes/server.ts'
import type { Json } from '../helpers/kubernetes/storage.ts'
import { eventually, startServer } from '../helpers/server.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const owner = ['ReplicaSet', 'cart-5d4f8c7b9']

async function shop(t: TestContext) {
  const cluster = await startFakeCluster(t)
  cluster.put(node('node-1'))
  cluster.put(deployment('cart'))
  cluster.put(replicaSet('cart', '5d4f8c7b9'))
  cluster.put(pod(POD, { owner }))
  const server = await startServer(t, {
    kubernetes: [{ kubeconfig: writeKubeconfig(t, cluster.url), name: 'production' }],
  })
  const services = (isWanted: (all: Json[]) => boolean) => eventually(() => server.get('/api/services'), isWanted)
  const alerts = (isWanted: (all: Json[]) => boolean) =>
    eventually(async () => (await server.get('/api/alerts')).data, isWanted)
  // Everything has been listed.
  const listed = () => server.db.all(server.db.sql.selectFrom('kubernetes_positions').select('resource'))
  await eventually(
    async () => listed(),
    (all) => all.length === RESOURCES.length,
  )
  return { cluster, server, services, alerts }
}

const looping = (restarts: number, at = Date.now()) =>
  pod(POD, { owner, restarts, state: waiting('CrashLoopBackOff', 'back-off'), last: terminated(1, at - 2_000, at) })

test('every workload of the cluster is a service', async (t) => {
  const { services } = await shop(t)
  const [cart] = await services((all) => all.length === 1)
  assert.deepEqual([cart.cluster, cart.namespace, cart.name, cart.status], ['production', 'shop', 'cart', 'healthy'])
})

test('a crash loop is an alert of its workload, and ends when the pod is ready', async (t) => {
  const { cluster, alerts } = await shop(t)
  cluster.put(looping(3))
  const [loop] = await alerts((all) => all.length === 1)
  assert.equal(loop.name, 'CrashLoopBackOff')
  assert.match(loop.summary, /app: it ended with exit code 1 \(Error\) after 2 s; 3 restarts/)
  cluster.put(
    pod(POD, {
      owner,
      restarts: 3,
      state: running(Date.now() - 60_000),
      last: terminated(1, 1_000, 3_000),
      at: Date.now(),
    }),
  )
  const [ended] = await alerts((all) => all[0].status === 'resolved')
  assert.equal(ended.resolution, 'reported')
})

test('the condition of a deleted pod ends', async (t) => {
  const { cluster, alerts } = await shop(t)
  cluster.put(looping(1))
  await alerts((all) => all.length === 1)
  cluster.delete('Pod', 'shop', POD)
  await alerts((all) => all[0].status === 'resolved')
})

test('an event about a crash loop and the state of its pod are one alert', async (t) => {
  const { cluster, alerts, server } = await shop(t)
  cluster.put(looping(2))
  const message = `Back-off restarting failed container app in pod ${POD}`
  cluster.put(
    event('e1', 'Pod', POD, 'BackOff', message, {
      container: 'app',
      count: 4,
      first: Date.now() - 60_000,
      at: Date.now(),
    }),
  )
  await eventually(
    async () => (await server.get('/api/events')).data,
    (all) => all.some(({ name }: Json) => name === 'BackOff'),
  )
  const all = await alerts((found) => found[0]?.occurrences > 1)
  assert.deepEqual(
    all.map(({ name }) => name),
    ['CrashLoopBackOff'],
  )
})

test('a crash loop that is watched, sent by an exporter and reported by Prometheus is one incident', async (t) => {
  const { cluster, alerts, server } = await shop(t)
  cluster.put(looping(3))
  await alerts((all) => all.length === 1)
  const known = { organizationId: server.organization.rowId, scopes: ['ingest'] as const, cluster: 'production' }
  const { token } = createToken(server.deps, { ...known, name: 'exporter' })
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  const send = async (path: string, body: object) =>
    assert.equal((await fetch(server.url + path, { method: 'POST', headers, body: JSON.stringify(body) })).status, 200)
  const message = `Back-off restarting failed container app in pod ${POD}`
  const sent = event('e1', 'Pod', POD, 'BackOff', message, { container: 'app', at: Date.now() })
  await send('/api/webhooks/cluster', { ...sent, metadata: { name: 'e1', namespace: 'shop' } })
  const labels = { alertname: 'KubePodCrashLooping', namespace: 'shop', pod: POD, severity: 'critical' }
  await send('/alertmanager/api/v2/alerts', [{ labels, annotations: { description: 'The cart crashes' } }])
  const all = await alerts((found) => found.length === 2)
  assert.deepEqual(all.map(({ source }) => source).sort(), ['cluster', 'metrics'])
  const { data } = await eventually(
    () => server.get('/api/incidents'),
    (found) => found.data[0]?.alertCount === 2,
  )
  assert.equal(data.length, 1)
})

test('a rollout is a change with its images and who made it', async (t) => {
  const { cluster, server } = await shop(t)
  cluster.put(deployment('cart', { revision: 2, image: 'shop/cart:2.0', by: 'kubectl-set' }))
  cluster.put(replicaSet('cart', '7d9f5b6c8', { revision: 2, image: 'shop/cart:2.0' }))
  const events = await eventually(
    async () => (await server.get('/api/events')).data,
    (all) => all.some(({ name }: Json) => name === 'RolloutStarted'),
  )
  const rollout = events.find(({ name }: Json) => name === 'RolloutStarted')
  assert.equal(
    rollout.text,
    'Rollout of cart-7d9f5b6c8 (revision 2): app: registry.example/shop/cart:1.0@sha256:111111111111 → shop/cart:2.0; by kubectl-set',
  )
})

test('changes that the API server sends late belong to the right workload, and show who made them', async (t) => {
  const { cluster, server, alerts, services } = await shop(t)
  cluster.state.late.set('deployments', 1_000).set('replicasets', 600)
  cluster.put(deployment('mail', { by: 'kubectl-edit' }))
  cluster.put(replicaSet('mail', '5d4f8c7b9'))
  const more = { owner: ['ReplicaSet', 'mail-5d4f8c7b9'], state: waiting('ErrImagePull', 'no such image') }
  cluster.put(pod('mail-5d4f8c7b9-x2kqp', more))
  const [failed] = await alerts((all) => all.length === 1)
  const [mail] = (await services((all) => all.length === 2)).filter(({ name }) => name === 'mail')
  assert.equal(failed.serviceId, mail?.id)
  const { data } = await server.get('/api/events')
  assert.match(data.find(({ name }: Json) => name === 'RolloutStarted').text, /; by kubectl-edit$/)
})

test('a dead node is one incident that names the services with pods on it', async (t) => {
  const { cluster, server, services } = await shop(t)
  for (const name of ['mail', 'search']) {
    cluster.put(deployment(name))
    cluster.put(replicaSet(name, '5d4f8c7b9'))
    cluster.put(pod(`${name}-5d4f8c7b9-x2kqp`, { owner: ['ReplicaSet', `${name}-5d4f8c7b9`] }))
  }
  await services((all) => all.length === 3)
  const at = Date.now()
  cluster.put(node('node-1', { ready: 'Unknown', at, heardAt: at - 40_000 }))
  for (const name of ['cart', 'mail', 'search']) {
    const owned = { owner: ['ReplicaSet', `${name}-5d4f8c7b9`], state: running(1_000), ready: false, at }
    cluster.put(pod(`${name}-5d4f8c7b9-x2kqp`, owned))
  }
  const alerts = () => server.get('/api/alerts?status=firing')
  await eventually(alerts, ({ data }) => data.length === 4)
  const incidents = await eventually(
    async () => (await server.get('/api/incidents')).data,
    ([first]) => first?.alertCount === 4,
  )
  assert.equal(incidents.length, 1)
  assert.match(incidents[0].title, /node-1/)
})

test('equal names in two clusters are two services, and only the one that fails is ill', async (t) => {
  const clusters = [await startFakeCluster(t), await startFakeCluster(t)] as const
  for (const cluster of clusters) {
    cluster.put(deployment('cart'))
    cluster.put(replicaSet('cart', '5d4f8c7b9'))
    cluster.put(pod(POD, { owner }))
  }
  const names = ['production', 'staging']
  const server = await startServer(t, {
    kubernetes: clusters.map(({ url }, n) => ({ kubeconfig: writeKubeconfig(t, url), name: names[n] ?? '' })),
  })
  const states = async () => {
    const services = await server.get('/api/services')
    return services.map(({ cluster, name, status }: Json) => `${cluster} ${name} ${status}`).sort()
  }
  await eventually(states, (all) => all.length === 2)
  clusters[1].put(looping(3))
  const expected = ['production cart healthy', 'staging cart critical']
  assert.deepEqual(await eventually(states, (all) => !all.includes('staging cart healthy')), expected)
})
