/** What a watched cluster says about a workload, on the pages of its service and its incident. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { observe } from '../../src/domain/kubernetes/observe.ts'
import { readSeen } from '../../src/domain/kubernetes/parse.ts'
import { workloadNow } from '../../src/domain/watch/workload-now.ts'
import { createMemory } from '../../src/kubernetes/memory.ts'
import { saveWatch } from '../../src/store/kubernetes.ts'
import { makeWorld } from '../helpers/app.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { deployment, pendingPod, pod, replicaSet, terminated, waiting } from '../helpers/kubernetes/objects.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { makeBrowser } from '../helpers/site.ts'

const LOOPING = pod('cart-7d9f5b6c8-x2kqp', {
  owner: ['ReplicaSet', 'cart-7d9f5b6c8'],
  restarts: 3,
  state: waiting('CrashLoopBackOff'),
  last: terminated(1, NOON - 2_000, NOON),
})
const SHOP = [
  replicaSet('cart', '5d4f8c7b9', { revision: 1, image: 'cart:1.0' }),
  replicaSet('cart', '7d9f5b6c8', { revision: 2, image: 'cart:2.0' }),
  deployment('cart', { revision: 2, replicas: 3, ready: 1, image: 'cart:2.0' }),
  pod('cart-5d4f8c7b9-aaaaa', { owner: ['ReplicaSet', 'cart-5d4f8c7b9'] }),
  LOOPING,
  pod('mail-5d4f8c7b9-bbbbb', { owner: ['ReplicaSet', 'mail-5d4f8c7b9'] }),
  pod('cart-5d4f8c7b9-ended', { owner: ['ReplicaSet', 'cart-5d4f8c7b9'], phase: 'Succeeded' }),
]

function now(objects: readonly KubeObject[], name = 'cart') {
  const memory = createMemory([])
  for (const [index, object] of objects.entries()) {
    const metadata = { ...object.metadata, uid: `${index}`, creationTimestamp: new Date(NOON - MINUTE).toISOString() }
    const seen = readSeen(object.kind as 'Pod', { ...object, metadata }, NOON)
    assert.ok(seen)
    memory.put(observe(null, seen, { known: memory, now: NOON, isFirst: true }).after)
  }
  return workloadNow(
    { namespace: 'shop', name },
    { known: memory, all: memory.all(), cluster: 'production', now: NOON },
  )
}

async function start(t: TestContext, found: ReturnType<typeof now>) {
  const world = makeWorld(t, undefined, undefined, {
    workloadNow: (_, { namespace, name }) => (namespace === 'shop' && name === 'cart' ? found : null),
  })
  const { token } = world.acme
  const [cart, mail] = ['cart', 'mail'].map((deployed) =>
    alert('Down', { namespace: 'shop', deployment: deployed, cluster: 'production', severity: 'critical' }),
  )
  await world.request('POST', '/api/webhooks/metrics', { token, body: alertmanager([cart, mail]) })
  const browser = makeBrowser(world.app)
  await browser.signIn(token)
  const services = (await world.request('GET', '/api/services', { token })).body
  const idOf = (wanted: string) => services.find(({ name }: { name: string }) => name === wanted).id
  const pageOf = async (path: string) => (await browser.get(path)).html.replaceAll(/<[^>]+>/g, '')
  return { ...world, token, idOf, pageOf }
}

test('a workload has its replicas, its images before and now, and its pods, those with problems first', () => {
  const found = now(SHOP)
  assert.deepEqual(found?.images, [{ container: 'app', image: 'cart:2.0', before: 'cart:1.0' }])
  assert.deepEqual([found?.available, found?.wanted, found?.revision], [1, 3, '2'])
  assert.deepEqual(
    found?.pods.map(({ name, state, restarts }) => [name, state, restarts]),
    [
      ['cart-7d9f5b6c8-x2kqp', 'CrashLoopBackOff', 3],
      ['cart-5d4f8c7b9-aaaaa', 'ready', 0],
    ],
  )
})

test('the restarts of the last hour are counted as they happen', () => {
  const old = { owner: ['ReplicaSet', 'cart-7d9f5b6c8'], metadata: { creationTimestamp: new Date(0).toISOString() } }
  const times = [9, 3, 2].map((hours) => NOON - hours * 20 * MINUTE)
  const versions = [20, 21, 24, 25].map((restarts, index) =>
    pod('cart-1', { ...old, restarts, last: terminated(1, 0, times[index - 1] ?? 0) }),
  )
  const memory = createMemory([])
  for (const object of [...SHOP.slice(0, 3), ...versions]) {
    const seen = readSeen(
      object.kind as 'Pod',
      { ...object, metadata: { ...object.metadata, uid: object.metadata.name } },
      0,
    )
    assert.ok(seen)
    memory.put(observe(memory.get(seen.uid), seen, { known: memory, now: NOON - 40 * MINUTE, isFirst: true }).after)
  }
  const found = workloadNow(
    { namespace: 'shop', name: 'cart' },
    { known: memory, all: memory.all(), cluster: '', now: NOON },
  )
  assert.deepEqual(
    found?.pods.map(({ restarts, restartsInHour }) => [restarts, restartsInHour]),
    [[25, 1]],
  )
})

test('an image that did not change, or whose predecessor is not known, has none before it', () => {
  const image = 'cart:2.0'
  const same = [replicaSet('cart', '5d4f8c7b9', { revision: 1, image }), deployment('cart', { revision: 2, image })]
  assert.deepEqual([now(same)?.images[0]?.before, now(same.slice(1))?.images[0]?.before], [null, null])
})

test('a pod that no node takes is not scheduled, and a deleted one is stopping', () => {
  const owner = ['ReplicaSet', 'cart-7d9f5b6c8']
  const stopping = { deletionTimestamp: new Date(NOON).toISOString() }
  const pods = [pendingPod('a', 'no node', { owner }), pod('b', { owner, metadata: stopping })]
  const found = now([...SHOP.slice(0, 3), ...pods])
  assert.deepEqual(
    found?.pods.map(({ state, node }) => [state, node]),
    [
      ['not scheduled', null],
      ['stopping', 'node-1'],
    ],
  )
})

test('a name that the cluster does not have is no workload', () => {
  assert.equal(now(SHOP, 'constructor'), null)
})

test('the page of a service shows what Kubernetes says now', async (t) => {
  const { idOf, pageOf } = await start(t, now(SHOP))
  const page = await pageOf(`/services/${idOf('cart')}`)
  assert.match(page, /Deployment in production, now.*1 of 3 replicas available.*revision 2/s)
  assert.match(
    page,
    /app: cart:2\.0, before: cart:1\.0.*CrashLoopBackOff, not ready for .*, 3 restarts, 3 in the last hour, on node-1/s,
  )
})

test('the API shows the same of a service, and nothing of one that no watched cluster has', async (t) => {
  const { idOf, request, token } = await start(t, now(SHOP))
  const of = async (name: string) => (await request('GET', `/api/services/${idOf(name)}`, { token })).body.kubernetes
  const { pods, wanted, available } = await of('cart')
  assert.deepEqual([wanted, available, pods[0].restartsInHour, pods[1].notReadySince], [3, 1, 3, null])
  assert.match(pods[0].notReadySince, /^\d{4}-\d\d-\d\dT/)
  assert.equal(await of('mail'), null)
})

test('a service that no watched cluster has shows nothing of Kubernetes', async (t) => {
  const { idOf, pageOf } = await start(t, now(SHOP))
  assert.doesNotMatch(await pageOf(`/services/${idOf('mail')}`), /in production, now/)
})

test('the page of an incident shows its workload until the incident is resolved', async (t) => {
  const { request, token, pageOf } = await start(t, now(SHOP))
  const incidents = (await request('GET', '/api/incidents', { token })).body.data
  const { number, id } = incidents.find(({ title }: { title: string }) => title.startsWith('cart'))
  assert.match(await pageOf(`/incidents/${number}`), /1 of 3 replicas available/)
  await request('PATCH', `/api/incidents/${id}`, { token, body: { status: 'resolved' } })
  assert.doesNotMatch(await pageOf(`/incidents/${number}`), /replicas available/)
})

async function unobserved(t: TestContext, cluster = 'production') {
  const shop = await start(t, null)
  const gap = { from: NOON - MINUTE, to: NOON + MINUTE }
  saveWatch(shop.db, shop.acme.key, { cluster, gap, at: NOON, saved: [], deleted: [], positions: [] })
  const number = (await shop.request('GET', '/api/incidents', { token: shop.token })).body.data[0].number
  return { ...shop, number, page: await shop.pageOf(`/incidents/${number}`) }
}

test('a period in which the cluster was not observed is shown once, in the timeline of the incident', async (t) => {
  const { page } = await unobserved(t)
  assert.doesNotMatch(page, /Not observed from/)
  assert.match(page, /The cluster production was not observed for 2 min, because/)
})

test('the gap of another cluster is not shown', async (t) => {
  assert.doesNotMatch((await unobserved(t, 'staging')).page, /[Nn]ot observed/)
})

test('a postmortem says when the cluster was not observed', async (t) => {
  const { request, token, number, clock } = await unobserved(t)
  clock.now += 10 * MINUTE
  const [incident] = (await request('GET', '/api/incidents', { token })).body.data
  assert.equal(incident.number, number)
  await request('PATCH', `/api/incidents/${incident.id}`, { token, body: { status: 'resolved' } })
  const { text } = await request('GET', `/api/incidents/${incident.id}/postmortem?format=md`, { token })
  assert.match(text, /the cluster production was not observed for 2 min/)
})
