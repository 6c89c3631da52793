/**
 * Measures a storm: six rounds of new critical alerts, 20 per request over 200 services, while a client reads the
 * lists.
 */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askOf, type Get } from './asking.ts'
import { silenceAllBut } from './children.ts'
import { isInstalled, type Outcome, post, requireAlerts, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { milliseconds, type Part, quantile, rounded, type Table, verdict } from './report.ts'
import { type Server, startAlertmanager, startIncmon } from './servers.ts'

const ROUNDS = 6
const LOAD = { mode: 'new', alerts: 20, severity: 'critical' } as const
const READS = ['/api/services', '/api/alerts'] as const
const BETWEEN_READS_MS = 20
const LEAST_RATIO = 0.9
const MAX_READ_MS = 60

/** `reads` contains the durations of each read during the round, in milliseconds. */
type Round = { readonly outcome: Outcome; readonly reads: readonly (readonly number[])[] }

export async function benchStorm(bench: Bench): Promise<Part[]> {
  const servers = [await startIncmon(bench.program, join(bench.directory, 'storm.db'))]
  const hasAlertmanager = isInstalled('prometheus-alertmanager')
  if (hasAlertmanager) servers.push(await startAlertmanager(join(bench.directory, 'alertmanager-storm')))
  const children = servers.map(({ child }) => child)
  for (const server of servers) {
    silenceAllBut(server.child, children)
    await warmUp(server, ['warning'])
  }
  const rounds = new Map<Server['name'], Round[]>(servers.map(({ name }) => [name, []]))
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const server of servers) {
      silenceAllBut(server.child, children)
      const found = await runRound(server, bench)
      rounds.get(server.name)?.push(found)
      bench.tell(`storm, round ${round}, ${server.name}: ${alertsPerSecond(found)} alerts a second`)
    }
  }
  for (const child of children) await child.stop()
  const skipped = hasAlertmanager ? [] : ['Alertmanager was skipped: prometheus-alertmanager is not installed.']
  return [table(bench, rounds), ...ratios(rounds), ...skipped]
}

async function runRound(server: Server, bench: Bench): Promise<Round> {
  let isOver = false
  const reads = server.name === 'incmon' ? readLists(server, () => isOver) : []
  try {
    const outcome = await requireAlerts(server, LOAD, bench.connections, () => post(server, LOAD, bench))
    isOver = true
    return { outcome, reads: await reads }
  } finally {
    isOver = true
  }
}

/** Reads the lists in turn over one connection until the round is over. */
async function readLists(server: Server, isOver: () => boolean): Promise<number[][]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ask = askOf(server, agent)
  const times: number[][] = READS.map(() => [])
  while (!isOver()) {
    for (const [index, path] of READS.entries()) {
      times[index]?.push(await timeOf(ask, path))
      await sleep(BETWEEN_READS_MS)
    }
  }
  agent.destroy()
  return times
}

async function timeOf(ask: Get, path: string): Promise<number> {
  const started = performance.now()
  const { status, text } = await ask(path)
  if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${text.slice(0, 300)}`)
  return performance.now() - started
}

function table({ seconds, connections }: Bench, rounds: ReadonlyMap<Server['name'], readonly Round[]>): Table {
  const ours = rounds.get('incmon') ?? []
  const others = rounds.get('alertmanager') ?? []
  return {
    title: `Storm: ${ROUNDS} rounds of ${LOAD.alerts} new critical alerts a request`,
    columns: [
      'round',
      'alerts/s',
      'of alertmanager',
      '÷ alertmanager',
      'p99',
      ...READS.map((path) => `p90 of ${path}`),
    ],
    rows: ours.map((round, index) => {
      const other = others[index]
      const beside = other ? [alertsPerSecond(other), ratioText(perSecond(round) / perSecond(other))] : ['', '']
      const p90 = round.reads.map((times) => milliseconds(quantile(times, 0.9)))
      return [String(index + 1), alertsPerSecond(round), ...beside, milliseconds(round.outcome.p99), ...p90]
    }),
    note: `${seconds} s a round, ${connections} connections. The lists are read by turns over one connection, ${BETWEEN_READS_MS} ms after the last answer.`,
  }
}

function ratios(rounds: ReadonlyMap<Server['name'], readonly Round[]>): string[] {
  const lines = [...rounds].map(([name, all]) => {
    const ratio = perSecond(all.at(-1)) / perSecond(all[0])
    const target = name === 'incmon' ? ` (${verdict(ratio, { least: LEAST_RATIO })})` : ''
    return `Last round ÷ first round, ${name}: ${ratioText(ratio)}${target}.`
  })
  const p90s = READS.map((path, index) => {
    const p90 = quantile(
      (rounds.get('incmon') ?? []).flatMap(({ reads }) => reads[index] ?? []),
      0.9,
    )
    return `p90 of GET ${path} in all rounds: ${milliseconds(p90)} (${verdict(p90, { most: MAX_READ_MS })}).`
  })
  return [...lines, ...p90s]
}

function perSecond(round: Round | undefined): number {
  return (round?.outcome.perSecond ?? Number.NaN) * LOAD.alerts
}

function alertsPerSecond(round: Round): string {
  return rounded(perSecond(round))
}

function ratioText(ratio: number): string {
  return ratio.toFixed(2)
}
