/** Ingest, side by side: this program, the limit and Alertmanager take the same loads in turns, round by round. */
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { memoryOf, silenceAllBut } from './children.ts'
import { bytesPerRow } from './disk.ts'
import { requireAlerts } from './honesty.ts'
import { isInstalled, LOADS, type Load, nameOf, type Outcome, post, warmUp } from './load.ts'
import { median, megabytes, milliseconds, type Part, rounded, spread, type Table, verdict } from './report.ts'
import { type Server, startAlertmanager, startIncmon, startLimit } from './servers.ts'

type Rounds = Map<string, Outcome[]>

/** Against Alertmanager and against the limit, as ratios of requests. */
const TARGETS: Readonly<Record<string, { readonly alertmanager: number; readonly limit?: number }>> = {
  '1 new': { alertmanager: 0.4, limit: 0.35 },
  '1 repeated': { alertmanager: 0.7, limit: 0.55 },
  '20 new': { alertmanager: 0.4 },
  '20 repeated': { alertmanager: 1 },
}
const LONGEST_P99 = 50
const MOST_MEMORY = 250

export async function benchIngest(bench: Bench): Promise<Part[]> {
  const database = join(bench.directory, 'ingest.db')
  const incmon = await startIncmon(bench.program, database)
  const servers = [incmon, await startLimit(bench.limit)]
  const isCompared = isInstalled('prometheus-alertmanager')
  if (isCompared) servers.push(await startAlertmanager(join(bench.directory, 'alertmanager')))
  const atStart = memoryOf(incmon.child).now
  const rounds: Rounds = new Map()
  await inTurns(bench, servers, rounds)
  const memory = memoryOf(incmon.child)
  for (const { child } of servers) await child.stop()
  const { now, highest } = memory
  return [
    requestsTable(bench, rounds, isCompared),
    ratiosTable(rounds, isCompared),
    `Resident memory: ${megabytes(atStart)} at start, ${megabytes(now)} after the rounds, ${megabytes(highest)} at its highest (${verdict(highest, { most: MOST_MEMORY })}).`,
    ...(isCompared ? [] : ['Alertmanager was skipped: prometheus-alertmanager is not installed.']),
    bytesPerRow(database),
  ]
}

async function inTurns(bench: Bench, servers: readonly Server[], rounds: Rounds): Promise<void> {
  const children = servers.map(({ child }) => child)
  for (const server of servers) {
    silenceAllBut(server.child, children)
    await warmUp(server)
  }
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const load of LOADS) {
      for (const server of servers) {
        silenceAllBut(server.child, children)
        const outcome = await requireAlerts(server, load, bench.connections, () => post(server, load, bench))
        const key = keyOf(server.name, load)
        rounds.set(key, [...(rounds.get(key) ?? []), outcome])
        bench.tell(`round ${round}, ${nameOf(load)}, ${server.name}: ${rounded(outcome.perSecond)} requests a second`)
      }
    }
  }
}

function keyOf(server: Server['name'], load: Load): string {
  return `${server} ${nameOf(load)}`
}

function requestsTable({ rounds: count, seconds, connections }: Bench, rounds: Rounds, isCompared: boolean): Table {
  const perSecond = (name: Server['name'], load: Load) =>
    rounded(median((rounds.get(keyOf(name, load)) ?? []).map((outcome) => outcome.perSecond)))
  return {
    title: 'Ingest: requests a second',
    columns: [
      'alerts a request',
      'limit',
      ...(isCompared ? ['Alertmanager'] : []),
      'incmon',
      'its alerts/s',
      'p50',
      'p99',
      `p99 ≤ ${LONGEST_P99} ms`,
    ],
    rows: LOADS.map((load) => {
      const ours = rounds.get(keyOf('incmon', load)) ?? []
      const alerts = median(ours.map((outcome) => outcome.perSecond)) * load.alerts
      const p99 = median(ours.map((outcome) => outcome.p99))
      return [
        nameOf(load),
        perSecond('limit', load),
        ...(isCompared ? [perSecond('alertmanager', load)] : []),
        perSecond('incmon', load),
        rounded(alerts),
        milliseconds(median(ours.map((outcome) => outcome.p50))),
        milliseconds(p99),
        p99 <= LONGEST_P99 ? 'met' : 'missed',
      ]
    }),
    note: `Medians of ${count} rounds of ${seconds} s, ${connections} connections; every request of incmon was synced to disk before its answer.`,
  }
}

/** Ratios are taken within a round, so that a slow minute of the machine strikes both sides. */
function ratiosTable(rounds: Rounds, isCompared: boolean): Table {
  const against = (name: 'limit' | 'alertmanager', load: Load): string[] => {
    const others = rounds.get(keyOf(name, load)) ?? []
    const ours = rounds.get(keyOf('incmon', load)) ?? []
    const ratios = ours.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? Number.NaN))
    const least = TARGETS[nameOf(load)]?.[name]
    return [spread(ratios), least === undefined ? '' : verdict(median(ratios), { least })]
  }
  return {
    title: 'Ingest: incmon as a ratio',
    columns: ['alerts a request', '÷ limit', 'target', ...(isCompared ? ['÷ Alertmanager', 'target'] : [])],
    rows: LOADS.map((load) => [
      nameOf(load),
      ...against('limit', load),
      ...(isCompared ? against('alertmanager', load) : []),
    ]),
    note: 'Median of the rounds, in brackets the least and the most.',
  }
}
