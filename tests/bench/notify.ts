/** Measures notifications: the delay from the commit to a receiver on this machine, and the cost for ingest. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { createChannel } from '../../src/actions/channels.ts'
import { systemDeps } from '../../src/deps.ts'
import type { Rule } from '../../src/domain/notification/rule.ts'
import { findOrganizationByName } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { silenceAllBut, workedBy } from './children.ts'
import { type Load, nameOf, post, requireAlerts, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, milliseconds, type Part, quantile, rounded, spread, type Table, verdict } from './report.ts'
import { ORGANIZATION, type Server, startIncmon, tokenFor } from './servers.ts'

const PROBES = 40
const MAX_AT_REST_MS = 1_000
const MAX_IN_STORM_MS = 5_000
const LEAST_RATIO = 0.95
/** A storm of one minute with the usual rounds of 5 s. */
const STORM_ROUNDS = 12
const MAX_WAIT_MS = 30_000
/** The second load opens an incident for each alert. The first one opens 200 incidents, which further alerts join. */
const LOADS: readonly Load[] = [
  { mode: 'new', alerts: 20, severity: 'critical' },
  { mode: 'new', alerts: 1, severity: 'critical', services: 1_000_000 },
]

export async function benchNotify(bench: Bench): Promise<Part[]> {
  const receiver = await startReceiver()
  try {
    return [...(await latencies(bench, receiver)), ...(await costs(bench, receiver.url))]
  } finally {
    receiver.close()
  }
}

type Receiver = {
  readonly url: string
  /** Resolves with the arrival time of the first message at this path. */
  readonly arrival: (path: string) => Promise<number>
  readonly close: () => void
}

async function startReceiver(): Promise<Receiver> {
  const waiting = new Map<string, (at: number) => void>()
  const server = createServer(async (request, response) => {
    const at = performance.now()
    await text(request)
    response.end('ok')
    waiting.get(request.url ?? '')?.(at)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    arrival: (path) => new Promise((resolve) => waiting.set(path, resolve)),
    close: () => void server.close().closeAllConnections(),
  }
}

/** Starts a server whose organization has a webhook channel for each rule, at the paths /0, /1 and so on. */
async function startWith(bench: Bench, name: string, url: string, rules: readonly Rule[]): Promise<Server> {
  const database = join(bench.directory, `${name}.db`)
  tokenFor(database)
  const db = openStore(database)
  const deps = systemDeps(db)
  const organization = findOrganizationByName(db, ORGANIZATION)?.rowId ?? 0
  for (const [index, rule] of rules.entries()) {
    const channel = { name: `channel ${index}`, kind: 'webhook', target: `${url}/${index}`, rules: [rule] } as const
    createChannel(deps, organization, channel)
  }
  db.close()
  return startIncmon(bench.program, database, { settings: ['--notify-allow', 'localhost'] })
}

/** A channel sends at most one message every 30 s, so each probe has its own service and channel. */
async function latencies(bench: Bench, receiver: Receiver): Promise<Part[]> {
  const rules = Array.from({ length: 2 * PROBES }, (_, index) => ({ services: [`probe-${index}`] }))
  const server = await startWith(bench, 'notify', receiver.url, rules)
  await warmUp(server, ['warning'])
  const atRest: number[] = []
  for (let index = 0; index < PROBES; index += 1) atRest.push(await probe(server, receiver, index))
  bench.tell(`notify, at rest: ${milliseconds(median(atRest))} median`)
  const seconds = bench.seconds * STORM_ROUNDS
  const [load] = LOADS as [Load]
  const storm = post(server, load, { ...bench, seconds })
  const inStorm: number[] = []
  await sleep(1_000)
  for (let index = PROBES; index < 2 * PROBES; index += 1) {
    const pause = sleep((seconds * 1000) / PROBES - 100)
    inStorm.push(await probe(server, receiver, index))
    await pause
  }
  const outcome = await storm
  await server.child.stop()
  return [latencyTable(atRest, inStorm, outcome.perSecond * load.alerts, seconds)]
}

/** Returns the time in milliseconds from the response to a webhook until the receiver gets the message. */
async function probe({ url, token }: Server, { arrival }: Receiver, index: number): Promise<number> {
  // A random delay, so that the alerts are not synchronized with the notifier's polling.
  await sleep(Math.random() * 250)
  const arriving = arrival(`/${index}`)
  const labels = { alertname: 'Down', service: `probe-${index}`, severity: 'critical' }
  const headers = { Authorization: `Bearer ${token}` }
  const body = JSON.stringify({ alerts: [{ status: 'firing', labels }] })
  const response = await fetch(`${url}/api/webhooks/metrics`, { method: 'POST', headers, body })
  const committed = performance.now()
  if (!response.ok) throw new Error(`a probe was answered ${response.status}: ${await response.text()}`)
  await response.arrayBuffer()
  const at = await Promise.race([arriving, sleep(MAX_WAIT_MS, null, { ref: false })])
  if (at === null) throw new Error(`no message arrived for probe ${index} within ${MAX_WAIT_MS} ms`)
  return Math.max(0, at - committed)
}

function latencyTable(atRest: readonly number[], inStorm: readonly number[], rate: number, seconds: number): Table {
  const row = (name: string, times: readonly number[], most: number) => [
    name,
    String(times.length),
    milliseconds(median(times)),
    milliseconds(quantile(times, 0.99)),
    verdict(quantile(times, 0.99), { most }),
  ]
  return {
    title: 'Notifications: from the commit to the message',
    columns: ['', 'messages', 'median', 'p99', 'p99 target, ms'],
    rows: [row('at rest', atRest, MAX_AT_REST_MS), row('in a storm', inStorm, MAX_IN_STORM_MS)],
    note: `To a webhook on this machine, each message the first of its channel. The storm was ${rounded(rate)} new critical alerts a second for ${seconds} s, as many as the machine took.`,
  }
}

/**
 * The result of one load on one server: requests per second, and requests per second of CPU time on the main thread.
 */
type Cost = { readonly perSecond: number; readonly perWorked: number }

async function costOf(bench: Bench, server: Server, load: Load): Promise<Cost> {
  const before = workedBy(server.child)
  const { requests, perSecond } = await requireAlerts(server, load, bench.connections, () => post(server, load, bench))
  return { perSecond, perWorked: (requests * 1000) / (workedBy(server.child) - before) }
}

/** Compares the same load with and without a channel for all incidents, in turn. */
async function costs(bench: Bench, url: string): Promise<Part[]> {
  const servers = [await startWith(bench, 'told', url, [{}, {}]), await startWith(bench, 'untold', url, [])]
  const children = servers.map(({ child }) => child)
  for (const server of servers) {
    silenceAllBut(server.child, children)
    await warmUp(server, ['warning'])
  }
  const rows: string[][] = []
  for (const load of LOADS) {
    const rounds: Cost[][] = []
    for (let round = 1; round <= bench.rounds; round += 1) {
      const costs: Cost[] = []
      for (const server of servers) {
        silenceAllBut(server.child, children)
        costs.push(await costOf(bench, server, load))
      }
      rounds.push(costs)
      bench.tell(`notify, ${nameOf(load)}, round ${round}: ${costs.map((one) => rounded(one.perSecond)).join(' and ')}`)
    }
    const name = `${nameOf(load)}${load.services ? ', each opens an incident' : ''}`
    const rate = (index: number) => rounded(median(rounds.map((round) => round[index]?.perSecond ?? Number.NaN)))
    const ratiosOf = (figure: keyof Cost) => rounds.map(([on, off]) => (on?.[figure] ?? 0) / (off?.[figure] ?? 0))
    const judged = (ratios: number[]) => [spread(ratios), verdict(median(ratios), { least: LEAST_RATIO })]
    rows.push([name, rate(0), rate(1), ...judged(ratiosOf('perSecond')), ...judged(ratiosOf('perWorked'))])
  }
  for (const child of children) await child.stop()
  return [
    {
      title: 'Notifications: what they cost the ingest',
      columns: ['alerts a request', 'requests/s', 'without channels', '÷', 'target', '÷ by processor time', 'target'],
      rows,
      note: `Medians of ${bench.rounds} rounds of ${bench.seconds} s by turns, ${bench.connections} connections, with two channels for everything and without. Processor time is that of the main thread; other programs affect it least.`,
    },
  ]
}
