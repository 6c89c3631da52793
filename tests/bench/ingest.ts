/** Compares ingest: incmon, limit, bare and Alertmanager receive the same loads in turn, round by round. */
import { join } from 'node:path'
import { memoryOf, silenceAllBut } from './children.ts'
import { isInstalled, LOADS, type Load, nameOf, type Outcome, post, requireAlerts, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, rounded, spread, type Table, verdict } from './report.ts'
import { type Server, startAlertmanager, startBare, startIncmon, startLimit } from './servers.ts'

type Name = Server['name']
type Rounds = Map<string, Outcome[]>

/** incmon's targets as a ratio of requests per second. */
const TARGETS: Readonly<Record<string, Partial<Record<Name, number>>>> = {
  '1 new': { alertmanager: 0.45, limit: 0.35 },
  '1 repeated': { alertmanager: 0.8, limit: 0.55 },
  '20 new': { alertmanager: 0.45 },
  '20 repeated': { alertmanager: 1.5 },
}
/** For one alert per request. */
const MAX_P99_MS = 60
const MAX_MEMORY_MB = 300

export async function benchIngest(bench: Bench): Promise<Part[]> {
  const incmon = await startIncmon(bench.program, join(bench.directory, 'ingest.db'))
  const bare = await startBare(bench.bare, join(bench.directory, 'bare.db'))
  const servers = [incmon, await startLimit(bench.limit), bare]
  const hasAlertmanager = isInstalled('prometheus-alertmanager')
  if (hasAlertmanager) servers.push(await startAlertmanager(join(bench.directory, 'alertmanager')))
  const atStart = memoryOf(incmon.child).now
  const rounds: Rounds = new Map()
  await inTurns(bench, servers, rounds)
  const memory = memoryOf(incmon.child)
  for (const { child } of servers) await child.stop()
  const { now, highest } = memory
  const names = servers.map(({ name }) => name)
  return [
    requestsTable(bench, rounds, names),
    ratiosTable(rounds, names),
    `Resident memory: ${megabytes(atStart)} at start, ${megabytes(now)} after the rounds, ${megabytes(highest)} at its highest (${verdict(highest, { most: MAX_MEMORY_MB })}).`,
    ...(hasAlertmanager ? [] : ['Alertmanager was skipped: prometheus-alertmanager is not installed.']),
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

function requestsTable({ rounds: count, seconds, connections }: Bench, rounds: Rounds, names: readonly Name[]): Table {
  const middle = (name: Name, load: Load, figure: (outcome: Outcome) => number) =>
    median((rounds.get(keyOf(name, load)) ?? []).map(figure))
  const perSecond = (name: Name, load: Load) => middle(name, load, (outcome) => outcome.perSecond)
  const p99 = (name: Name, load: Load) => middle(name, load, (outcome) => outcome.p99)
  return {
    title: 'Ingest: requests a second',
    columns: [
      'alerts a request',
      ...names,
      'alerts/s of incmon',
      'p50 of incmon',
      ...names.map((name) => `p99 of ${name}`),
      'p99 target, ms',
    ],
    rows: LOADS.map((load) => [
      nameOf(load),
      ...names.map((name) => rounded(perSecond(name, load))),
      rounded(perSecond('incmon', load) * load.alerts),
      milliseconds(middle('incmon', load, (outcome) => outcome.p50)),
      ...names.map((name) => milliseconds(p99(name, load))),
      load.alerts === 1 ? verdict(p99('incmon', load), { most: MAX_P99_MS }) : '',
    ]),
    note: `Medians of ${count} rounds of ${seconds} s, ${connections} connections; incmon and bare sync every request to disk before they answer. Limit is hono, a token and a schema, and stores nothing. Bare stores the same rows in the same tables and decides nothing. Alertmanager keeps everything in memory. Critical alerts open incidents in incmon.`,
  }
}

/** Computes each ratio within a round, so that a slow minute on the machine affects both sides. */
function ratiosTable(rounds: Rounds, names: readonly Name[]): Table {
  const against = (name: Name, load: Load): string[] => {
    const others = rounds.get(keyOf(name, load)) ?? []
    const ours = rounds.get(keyOf('incmon', load)) ?? []
    const ratios = ours.map(({ perSecond }, round) => perSecond / (others[round]?.perSecond ?? Number.NaN))
    const least = TARGETS[`${load.alerts} ${load.mode}`]?.[name]
    const reached = least === undefined ? '' : verdict(median(ratios), { least })
    return hasTarget(name) ? [spread(ratios), reached] : [spread(ratios)]
  }
  const others = names.filter((name) => name !== 'incmon')
  return {
    title: 'Ingest: incmon as a ratio',
    columns: ['alerts a request', ...others.flatMap((name) => [`÷ ${name}`, ...(hasTarget(name) ? ['target'] : [])])],
    rows: LOADS.map((load) => [nameOf(load), ...others.flatMap((name) => against(name, load))]),
    note: 'Median of the rounds, in brackets the lowest and the highest ratio.',
  }
}

function hasTarget(name: Name): boolean {
  return Object.values(TARGETS).some((least) => least[name] !== undefined)
}
