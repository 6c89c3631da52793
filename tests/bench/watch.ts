/** Measures the watch of a cluster: the first list of 10,000 pods, the memory that it takes, and a stream of changes. */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import SQLite from 'better-sqlite3'
import { watchHealth } from '../faults/health.ts'
import { writeKubeconfig } from '../helpers/kubernetes/kubeconfig.ts'
import { deployment, node, pod, replicaSet } from '../helpers/kubernetes/objects.ts'
import { type FakeCluster, startFakeCluster } from '../helpers/kubernetes/server.ts'
import { memoryOf, workedByAll } from './children.ts'
import type { Bench } from './options.ts'
import { megabytes, milliseconds, type Part, verdict } from './report.ts'
import { type Server, startIncmon } from './servers.ts'

const NODES = 300
const WORKLOADS = 500
const PODS_OF_A_WORKLOAD = 20
const OBJECTS = NODES + WORKLOADS * (2 + PODS_OF_A_WORKLOAD)
const CHANGES_PER_SECOND = 50
const CHANGING_MS = 30_000
const SETTLED_AFTER_MS = 10_000
const MAX_LIST_MS = 300_000
/** Targets: megabytes, share of a core, milliseconds. */
const MOST = { memory: 25, share: 0.02, healthz: 50 }

export async function benchWatch(bench: Bench): Promise<Part[]> {
  const cleaners: (() => void)[] = []
  const t = { after: (work: () => void) => void cleaners.push(work) }
  const cluster = await startFakeCluster(t)
  fill(cluster)
  const plain = await startIncmon(bench.program, join(bench.directory, 'no-watch.db'))
  // Requests alone load parts of the program.
  await whileProbing(t, plain, () => sleep(SETTLED_AFTER_MS / 2))
  await sleep(SETTLED_AFTER_MS)
  const before = memoryOf(plain.child).now
  await plain.child.stop()
  const database = join(bench.directory, 'watch.db')
  const settings = ['--kubernetes', writeKubeconfig(t, cluster.url)]
  const server = await startIncmon(bench.program, database, { settings })
  const list = await whileProbing(t, server, () => listed(database))
  bench.tell(`watch: ${OBJECTS} objects in ${milliseconds(list.time)}`)
  await sleep(SETTLED_AFTER_MS)
  const memory = memoryOf(server.child).now - before
  // The probes take more processor time than the changes.
  const quiet = await whileAlone(server, () => sleep(CHANGING_MS))
  const alone = await whileAlone(server, () => change(cluster))
  const changes = await whileProbing(t, server, () => change(cluster))
  const share = alone.worked / alone.time - quiet.worked / quiet.time
  await server.child.stop()
  for (const clean of cleaners) clean()
  const healthz = Math.max(list.healthz, changes.healthz)
  return [
    {
      title: `Watch of a cluster with ${NODES} nodes and ${WORKLOADS * PODS_OF_A_WORKLOAD} pods`,
      columns: ['', 'duration', 'processor time', 'slowest /healthz'],
      rows: [
        ['first list', milliseconds(list.time), milliseconds(list.worked), milliseconds(list.healthz)],
        [
          `${CHANGES_PER_SECOND} changes a second`,
          ...[milliseconds(alone.time), milliseconds(alone.worked), milliseconds(changes.healthz)],
        ],
        ['no change', milliseconds(quiet.time), milliseconds(quiet.worked), ''],
      ],
      note: `Memory for the watch ${megabytes(memory)} (${verdict(memory, { most: MOST.memory })}), changes ${(100 * share).toFixed(1)} % of a core (${verdict(share, { most: MOST.share })}), slowest /healthz ${milliseconds(healthz)} (${verdict(healthz, { most: MOST.healthz })}). Memory: resident, ${SETTLED_AFTER_MS / 1000} s after the list, less that of a server without a watch after as many requests a second. /healthz: without the time in which a process waited for a processor. The share of a core is that with changes less that without, both without requests.`,
    },
  ]
}

function fill(cluster: FakeCluster): void {
  for (let n = 0; n < NODES; n += 1) cluster.put(node(`node-${n}`))
  for (let workload = 0; workload < WORKLOADS; workload += 1) {
    cluster.put(deployment(`app-${workload}`, { replicas: PODS_OF_A_WORKLOAD }))
    cluster.put(replicaSet(`app-${workload}`, HASH, { replicas: PODS_OF_A_WORKLOAD }))
    for (let n = 0; n < PODS_OF_A_WORKLOAD; n += 1) cluster.put(podOf(workload, n))
  }
}

const HASH = '5d4f8c7b9'

function podOf(workload: number, n: number, annotations: Readonly<Record<string, string>> = {}) {
  const owner = ['ReplicaSet', `app-${workload}-${HASH}`]
  const place = `node-${(workload * PODS_OF_A_WORKLOAD + n) % NODES}`
  return pod(`app-${workload}-${HASH}-x${String(n).padStart(4, '0')}`, {
    owner,
    node: place,
    metadata: { annotations },
  })
}

/** Resolves when the server has stored all objects of the first list. */
async function listed(database: string): Promise<void> {
  const until = performance.now() + MAX_LIST_MS
  const sqlite = new SQLite(database, { readonly: true })
  const count = sqlite.prepare<[], { count: number }>('SELECT count(*) AS count FROM kubernetes_objects')
  try {
    for (let found = 0; found < OBJECTS; found = count.get()?.count ?? 0) {
      if (performance.now() > until) throw new Error(`only ${found} of ${OBJECTS} objects were stored`)
      await sleep(100)
    }
  } finally {
    sqlite.close()
  }
}

async function change(cluster: FakeCluster): Promise<void> {
  const started = performance.now()
  for (let n = 0; performance.now() - started < CHANGING_MS; n += 1) {
    cluster.put(podOf(n % WORKLOADS, n % PODS_OF_A_WORKLOAD, { change: String(n) }))
    await sleep(Math.max(0, started + (n * 1000) / CHANGES_PER_SECOND - performance.now()))
  }
}

/** Times in milliseconds. `worked`: the CPU time of all threads. `healthz`: the slowest response meanwhile, without waits for a processor. */
type Probed = { readonly time: number; readonly worked: number; readonly healthz: number }

type Cleaning = Parameters<typeof watchHealth>[0]

async function whileAlone(server: Server, work: () => Promise<void>): Promise<Omit<Probed, 'healthz'>> {
  const [started, before] = [performance.now(), workedByAll(server.child)]
  await work()
  return { time: performance.now() - started, worked: workedByAll(server.child) - before }
}

async function whileProbing(t: Cleaning, server: Server, work: () => Promise<void>): Promise<Probed> {
  const stop = await watchHealth(t, { url: server.url, pid: server.child.pid })
  const alone = await whileAlone(server, work)
  return { ...alone, healthz: (await stop()).silent }
}
