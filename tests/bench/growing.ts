/**
 * Measures every list that a sender can grow: a thousand alerts with new services, pods, names, clusters, senders or
 * groups must take at most twice as long as a thousand alerts of one known service.
 */
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { memoryOf, workedByAll } from './children.ts'
import {
  alertIn,
  type Body,
  bodiesOf,
  eventOf,
  KNOWN_POD,
  notification,
  pipelineOf,
  podName,
} from './growing-bodies.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, type Table, verdict } from './report.ts'
import { type Server, startIncmon } from './servers.ts'

const COUNT = 1_000
const MAX_RATIO = 2
/** For one request with a thousand alerts on new services, in milliseconds. */
const MAX_MS = 300
const MAX_HEALTHZ_MS = 100
const BETWEEN_CHECKS_MS = 5
const WARM_UPS = 2

/** `make` returns the requests of one round. `from` is a number that no earlier round has used. */
type Load = { readonly name: string; readonly make: (from: number) => readonly Body[] }
type Group = { readonly known: Load; readonly growing: readonly Load[] }

const KNOWN = { deployment: 'api', namespace: 'shop' }
const inOne = (path: Body['path'], labels: (n: number) => Readonly<Record<string, string>>) => (from: number) => [
  notification(
    path,
    Array.from({ length: COUNT }, (_, n) => alertIn(from + n, labels(from + n))),
  ),
]
const alone = (group: (n: number) => { readonly receiver?: string; readonly groupKey?: string }) =>
  bodiesOf(COUNT, (n) => notification('metrics', [alertIn(n, KNOWN)], group(n)))
const events = (more: (n: number) => Parameters<typeof eventOf>[1]) => bodiesOf(COUNT, (n) => eventOf(n, more(n)))

const notifications = (path: 'metrics' | 'dashboard'): Group => ({
  known: { name: `${path}: one service`, make: inOne(path, () => KNOWN) },
  growing: [
    { name: 'new services', make: inOne(path, (n) => ({ ...KNOWN, deployment: `api-${n}` })) },
    { name: 'new namespaces', make: inOne(path, (n) => ({ ...KNOWN, namespace: `shop-${n}` })) },
    { name: 'new clusters', make: inOne(path, (n) => ({ ...KNOWN, cluster: `cluster-${n}` })) },
    { name: 'new pods of one workload', make: inOne(path, (n) => ({ namespace: 'shop', pod: podName('api', n) })) },
    { name: 'new alert names', make: inOne(path, (n) => ({ ...KNOWN, alertname: `Alert${n}` })) },
    { name: 'new instances', make: inOne(path, (n) => ({ job: 'node', instance: `host-${n}:9100` })) },
  ],
})

const GROUPS: readonly Group[] = [
  notifications('metrics'),
  notifications('dashboard'),
  {
    known: { name: `metrics: one service, ${COUNT} requests`, make: alone(() => ({})) },
    growing: [
      { name: 'new senders', make: alone((n) => ({ receiver: `receiver-${n}` })) },
      { name: 'new groups', make: alone((n) => ({ groupKey: `{}:{team="${n}"}` })) },
    ],
  },
  {
    known: { name: 'cluster: one pod', make: events(() => ({ name: KNOWN_POD })) },
    growing: [
      { name: 'new pods of one workload', make: events((n) => ({ name: podName('api', n) })) },
      { name: 'new workloads', make: events((n) => ({ name: podName(`api-${n}`, n) })) },
      { name: 'new namespaces', make: events((n) => ({ name: KNOWN_POD, namespace: `shop-${n}` })) },
      { name: 'new clusters', make: events((n) => ({ name: KNOWN_POD, clusterName: `cluster-${n}` })) },
      { name: 'new containers', make: events((n) => ({ name: KNOWN_POD, fieldPath: `spec.containers{c-${n}}` })) },
    ],
  },
  {
    known: { name: 'ci: one project', make: bodiesOf(COUNT, (n) => pipelineOf(n, {})) },
    growing: [
      { name: 'new projects', make: bodiesOf(COUNT, (n) => pipelineOf(n, { project: `web/app-${n}` })) },
      { name: 'new branches', make: bodiesOf(COUNT, (n) => pipelineOf(n, { ref: `branch-${n}` })) },
    ],
  },
]

/** Times in milliseconds. `healthz` is the slowest response meanwhile, and `processor` the CPU time of all threads. */
type Round = { readonly time: number; readonly processor: number; readonly healthz: number }

export async function benchGrowing(bench: Bench): Promise<Part[]> {
  const server = await startIncmon(bench.program, join(bench.directory, 'growing.db'))
  let from = 0
  const measure = async ({ name, make }: Load) => {
    const rounds: Round[] = []
    for (let round = 0; round < bench.rounds; round += 1) {
      from += COUNT
      rounds.push(await roundOf(server, make(from)))
    }
    bench.tell(`growing, ${name}: ${milliseconds(middle(rounds, 'time'))}`)
    return rounds
  }
  for (let time = 0; time < WARM_UPS; time += 1) for (const { known } of GROUPS) await measure(known)
  const rows: string[][] = []
  for (const { known, growing } of GROUPS) {
    const base = await measure(known)
    rows.push(rowOf(known.name, base, base))
    for (const load of growing) rows.push(rowOf(`  ${load.name}`, await measure(load), base))
  }
  const memory = memoryOf(server.child)
  await server.child.stop()
  return [tableOf(rows, bench), `Resident memory after all rounds: ${megabytes(memory.now)}.`]
}

function rowOf(name: string, rounds: readonly Round[], known: readonly Round[]): string[] {
  const [time, healthz] = [middle(rounds, 'time'), middle(rounds, 'healthz')]
  const ratio = middle(rounds, 'processor') / middle(known, 'processor')
  const isService = name.trim() === 'new services'
  return [
    name,
    milliseconds(time),
    isService ? verdict(time, { most: MAX_MS }) : '',
    milliseconds(middle(rounds, 'processor')),
    rounds === known ? '' : ratio.toFixed(2),
    rounds === known ? '' : verdict(ratio, { most: MAX_RATIO }),
    milliseconds(healthz),
    verdict(healthz, { most: MAX_HEALTHZ_MS }),
  ]
}

function tableOf(rows: readonly string[][], { rounds }: Bench): Table {
  return {
    title: `Growing lists: ${COUNT} alerts with new values`,
    columns: ['', 'time', 'target', 'processor time', '÷ known', 'target', '/healthz', 'target, ms'],
    rows,
    note: `Medians of ${rounds} rounds. Alerts of Alertmanager and Grafana come in one request unless stated otherwise, all others in one request each over 16 connections. The ratio is of the processor time, including the sweep. /healthz: the slowest response meanwhile.`,
  }
}

function middle(rounds: readonly Round[], figure: keyof Round): number {
  return median(rounds.map((round) => round[figure]))
}

async function roundOf(server: Server, bodies: readonly Body[]): Promise<Round> {
  const [agent, other] = [16, 1].map((maxSockets) => new Agent({ keepAlive: true, maxSockets }))
  const before = workedByAll(server.child)
  let isOver = false
  const checks = slowest(server, other, () => isOver)
  const started = performance.now()
  await Promise.all(bodies.map((body) => send(server, agent, body)))
  const time = performance.now() - started
  isOver = true
  const healthz = await checks
  await sleep(SWEPT_AFTER_MS)
  const processor = workedByAll(server.child) - before
  for (const one of [agent, other]) one?.destroy()
  return { time, processor, healthz }
}

/** The sweep runs once a second. */
const SWEPT_AFTER_MS = 1_500

/** Returns the duration of the slowest response of `/healthz` until the round is over. */
async function slowest(server: Server, agent: Agent | undefined, isOver: () => boolean): Promise<number> {
  let most = 0
  while (!isOver()) {
    const started = performance.now()
    await exchange(server, agent, { path: '/healthz', method: 'GET' })
    most = Math.max(most, performance.now() - started)
    await sleep(BETWEEN_CHECKS_MS)
  }
  return most
}

function send(server: Server, agent: Agent | undefined, { path, body }: Body): Promise<void> {
  return exchange(server, agent, { path: `/api/webhooks/${path}`, method: 'POST' }, body)
}

/** @throws Error if the request is refused */
function exchange(
  { url, token }: Server,
  agent: Agent | undefined,
  { path, method }: { readonly path: string; readonly method: string },
  body = '',
): Promise<void> {
  // GitLab cannot send an Authorization header.
  const own = path.endsWith('/ci') ? { 'X-Gitlab-Token': token } : { Authorization: `Bearer ${token}` }
  const headers = { ...own, 'Content-Type': 'application/json' }
  return new Promise((resolve, reject) => {
    const sent = request(url + path, { agent, method, headers }, (response) => {
      const { statusCode = 0 } = response
      response.resume().on('end', () => {
        if (statusCode < 300) resolve()
        else reject(new Error(`${method} ${path} was answered ${statusCode}`))
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
