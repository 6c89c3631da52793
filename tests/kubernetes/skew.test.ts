/** Clusters whose clock is wrong: no condition starts or ends in the future, or ends before it starts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import {
  deployment,
  event,
  node,
  pendingPod,
  pod,
  replicaSet,
  running,
  terminated,
  waiting,
} from '../helpers/kubernetes/objects.ts'
import { startFakeCluster } from '../helpers/kubernetes/server.ts'
import type { Json } from '../helpers/kubernetes/storage.ts'
import { eventually, startServer } from '../helpers/server.ts'

const MINUTE = 60_000
const owner = ['ReplicaSet', 'cart-5d4f8c7b9']

for (const [name, skew] of [
  ['a cluster 10 minutes ahead', 10 * MINUTE],
  ['a cluster 3 minutes ahead', 3 * MINUTE],
  ['a cluster 10 minutes behind', -10 * MINUTE],
  ['a cluster 2 hours behind', -120 * MINUTE],
] as const) {
  test(`the conditions of ${name} have times that are possible, and end at once`, async (t) => {
    const clock = () => Date.now() + skew
    const cluster = await startFakeCluster(t, { now: clock, ahead: skew })
    cluster.put(node('node-1', { at: clock() - 60 * MINUTE }))
    cluster.put(node('node-2', { at: clock() - 60 * MINUTE }))
    cluster.put(deployment('cart'))
    cluster.put(replicaSet('cart', '5d4f8c7b9'))
    const server = await startServer(t, { kubernetes: [{ kubeconfig: writeKubeconfig(t, cluster.url), name: 'c' }] })
    const alerts = (isWanted: (all: Json[]) => boolean) =>
      eventually(async (): Promise<Json[]> => (await server.get('/api/alerts')).data, isWanted)
    await eventually(
      () => server.get('/api/services'),
      (all) => all.length === 1,
    )
    const began = clock()
    cluster.put(pod('cart-loops', { owner, at: began }))
    const last = terminated(1, began - 2_000, began)
    cluster.put(pod('cart-loops', { owner, restarts: 1, state: waiting('CrashLoopBackOff'), last, ready: false }))
    cluster.put(
      event('e1', 'Pod', 'cart-loops', 'BackOff', 'Back-off restarting failed container app', { first: began }),
    )
    cluster.put(pendingPod('cart-waits', '0/2 nodes are available: 2 Insufficient cpu.', { owner, at: began }))
    cluster.put(node('node-2', { ready: 'False', at: began }))
    await alerts((all) => all.length >= 3)
    const ended = clock()
    cluster.put(pod('cart-loops', { owner, restarts: 1, state: running(ended - 1_000), last, at: ended }))
    cluster.put(event('e2', 'Pod', 'cart-loops', 'Started', 'Started container app', { type: 'Normal', first: ended }))
    cluster.put(pod('cart-waits', { owner, state: running(ended), at: ended }))
    cluster.put(node('node-2', { at: ended }))
    const all = await alerts((found) => found.every(({ status }) => status === 'resolved'))
    for (const { name: what, startsAt, endsAt, lastSeenAt } of all) {
      const [start, end, seen] = [startsAt, endsAt, lastSeenAt].map((time) => Date.parse(time) - Date.now()) as [
        number,
        number,
        number,
      ]
      assert.ok(start <= end && end <= 0 && seen <= 0, `${what}: ${JSON.stringify({ start, end, seen })}`)
    }
    const { data: incidents } = await server.get('/api/incidents')
    for (const { title, startedAt, resolvedAt } of incidents) {
      assert.ok(Date.parse(startedAt) <= Date.now(), title)
      assert.ok(resolvedAt === null || resolvedAt >= startedAt, title)
    }
  })
}
