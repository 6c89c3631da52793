/**
 * A server that is killed at any moment, while the API server restarts and forgets its history, stores the same events
 * as a server that was never disturbed.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { openStore } from '../../src/store/sqlite/open.ts'
import { incmonServe } from '../helpers/cli.ts'
import { inCi } from '../helpers/in-ci.ts'
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
import { positionIn } from '../helpers/kubernetes/positions.ts'
import { type FakeCluster, startFakeCluster } from '../helpers/kubernetes/server.ts'
import type { KubeObject } from '../helpers/kubernetes/storage.ts'
import { eventually } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const KILLS = Number(process.env.KUBERNETES_KILLS ?? inCi(10, 3))
/** The week is in the past, so that no rule waits for the clock. */
const START = Date.now() - 7 * 24 * 3_600_000

/** A week: rollouts, crash loops, pending pods and events. Each step changes one object. */
function* week(): Generator<KubeObject | readonly [kind: string, name: string]> {
  yield node('node-1', { at: START })
  for (let day = 0; day < 7; day += 1) {
    const at = START + day * 24 * 3_600_000
    for (const name of ['cart', 'mail', 'search']) {
      const hash = `5d4f8c7b${4 + day}`
      const more = { owner: ['ReplicaSet', `${name}-${hash}`], at }
      const one = `${name}-${hash}-x2kqp`
      yield deployment(name, { revision: day + 1, image: `${name}:${day}`, at })
      yield replicaSet(name, hash, { revision: day + 1, image: `${name}:${day}`, metadata: {} })
      yield pendingPod(one, '0/1 nodes are available: 1 Insufficient cpu.', more)
      yield pod(one, { ...more, state: waiting('ContainerCreating'), ready: false })
      for (let restarts = 1; restarts < 4; restarts += 1) {
        const end = at + restarts * 60_000
        yield pod(one, { ...more, restarts, state: waiting('CrashLoopBackOff'), last: terminated(1, end - 5_000, end) })
        const first = { container: 'app', count: restarts, first: at + 60_000, at: end }
        yield event(`${one}.1`, 'Pod', one, 'BackOff', `Back-off restarting failed container app in pod ${one}`, first)
        yield pod(one, {
          ...more,
          restarts,
          state: running(end + 10_000),
          last: terminated(1, end - 5_000, end),
          ready: false,
        })
      }
      yield pod(one, {
        ...more,
        restarts: 3,
        state: running(at + 250_000),
        last: terminated(1, at, at + 180_000),
        at: at + 260_000,
      })
      yield event(`${one}.2`, 'Pod', one, 'Pulled', `Successfully pulled image "${name}:${day}"`, {
        type: 'Normal',
        first: at,
      })
      yield ['Pod', one]
    }
    yield node('node-1', { ready: 'False', at: at + 3_600_000 })
    yield node('node-1', { at: at + 3_700_000 })
  }
}

const STEPS = [...week()]

function step(cluster: FakeCluster, one: (typeof STEPS)[number] | undefined): void {
  if (!one) return
  if ('kind' in one) cluster.put(one)
  else cluster.delete(one[0] as string, 'shop', one[1] as string)
}

/**
 * What is stored of an event, except what depends on the time of receipt, and digests: only a pod that was seen tells
 * one, and a gap can hide the pod.
 */
function storedIn(directory: string): string[] {
  const db = openStore(join(directory, 'incmon.db'))
  const rows = db.all(db.sql.selectFrom('events').select(['name', 'object', 'text', 'count', 'kind']))
  db.close()
  return rows.map((row) => JSON.stringify(row).replaceAll(/@sha256:[0-9a-f]+/g, '')).sort()
}

async function watch(t: TestContext, disturb: (cluster: FakeCluster, index: number) => Promise<boolean>) {
  const directory = temporaryDirectory(t)
  const cluster = await startFakeCluster(t, { now: () => START, bookmarks: 100 })
  const env = { INCMON_KUBERNETES: writeKubeconfig(t, cluster.url) }
  let server = await incmonServe(t, directory, env)
  await eventually(
    async () => positionIn(directory),
    (version) => version > 0,
  )
  for (const [index, one] of STEPS.entries()) {
    step(cluster, one)
    if (!(await disturb(cluster, index))) continue
    server.child.kill('SIGKILL')
    await once(server.child, 'close')
    server = await incmonServe(t, directory, env)
  }
  // Everything is stored once this event is.
  cluster.put(
    event('last', 'Node', 'node-1', 'Last', 'the last event', { namespace: '', type: 'Normal', first: START }),
  )
  await eventually(
    async () => storedIn(directory),
    (all) => all.some((text) => text.includes('the last event')),
  )
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  await server.stop()
  return storedIn(directory)
}

test(`a server that is killed ${KILLS} times stores the same events as an undisturbed one`, async (t) => {
  const undisturbed = await watch(t, async () => false)
  let seed = 7
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const disturbed = await watch(t, async (cluster, index) => {
    if (random() < 0.1) await cluster.restart()
    if (random() < 0.5) await new Promise((resolve) => setTimeout(resolve, random() * 200))
    return Math.floor(((index + 1) * KILLS) / STEPS.length) > Math.floor((index * KILLS) / STEPS.length)
  })
  const extra = disturbed.filter((text) => !undisturbed.includes(text))
  const missing = undisturbed.filter((text) => !disturbed.includes(text))
  assert.deepEqual({ extra, missing, stored: disturbed.length }, { extra: [], missing: [], stored: undisturbed.length })
})
