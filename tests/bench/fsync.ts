/** Simulates a slow disk: every sync takes 5 ms longer. */
import { join } from 'node:path'
import { isInstalled, type Load, nameOf, type Outcome, post, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, milliseconds, type Part, rounded, verdict } from './report.ts'
import { type Server, SLOW_DISK, startIncmon } from './servers.ts'

const SLOW_LOADS: readonly Load[] = [
  { mode: 'new', alerts: 1, severity: 'warning' },
  { mode: 'repeated', alerts: 1, severity: 'warning' },
]
const MANY = 256
const TARGET = 4_000

export async function benchSlowDisk(bench: Bench): Promise<Part[]> {
  if (!isInstalled('strace')) return ['The slow disk was skipped: strace is not installed.']
  const server = await startIncmon(bench.program, join(bench.directory, 'slow.db'), { under: SLOW_DISK })
  await warmUp(server)
  const cases = [bench.connections, MANY].flatMap((connections) => SLOW_LOADS.map((load) => ({ load, connections })))
  const found = cases.map((): Outcome[] => [])
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const [index, one] of cases.entries()) found[index]?.push(await run(bench, server, round, one))
  }
  await server.child.stop()
  return [
    {
      title: 'Ingest with every fsync delayed by 5 ms',
      columns: ['alerts a request', 'connections', 'requests/s', 'least–most', 'p50', 'p99', 'target'],
      rows: cases.map(({ load, connections }, index) => rowOf(load, connections, found[index] ?? [])),
    },
  ]
}

async function run(bench: Bench, server: Server, round: number, one: { load: Load; connections: number }) {
  const outcome = await post(server, one.load, { seconds: bench.seconds, connections: one.connections })
  const what = `${nameOf(one.load)}, slow disk, ${one.connections} connections`
  bench.tell(`round ${round}, ${what}: ${rounded(outcome.perSecond)} requests a second`)
  return outcome
}

function rowOf(load: Load, connections: number, outcomes: readonly Outcome[]): string[] {
  const rates = outcomes.map(({ perSecond }) => perSecond)
  return [
    nameOf(load),
    String(connections),
    rounded(median(rates)),
    `${rounded(Math.min(...rates))}–${rounded(Math.max(...rates))}`,
    milliseconds(median(outcomes.map(({ p50 }) => p50))),
    milliseconds(median(outcomes.map(({ p99 }) => p99))),
    verdict(median(rates), { least: TARGET }),
  ]
}
