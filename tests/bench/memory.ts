/** Memory: how much the program holds while it is sent as many different alerts as `--rows` says. */
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { memoryOf } from './children.ts'
import { post, warmUp } from './load.ts'
import { megabytes, type Part, rounded, verdict } from './report.ts'
import { startIncmon } from './servers.ts'

const MOST = 250
const LONGEST = 15 * 60_000
const LOAD = { mode: 'new', alerts: 20 } as const

export async function benchMemory(bench: Bench): Promise<Part[]> {
  const server = await startIncmon(bench.program, join(bench.directory, 'memory.db'))
  await warmUp(server)
  const rows: string[][] = []
  const until = performance.now() + LONGEST
  let sent = 0
  while (sent < bench.rows && performance.now() < until) {
    const { requests, perSecond } = await post(server, LOAD, bench)
    sent += requests * LOAD.alerts
    const { now, highest } = memoryOf(server.child)
    rows.push([rounded(sent), rounded(perSecond * LOAD.alerts), megabytes(now), megabytes(highest)])
    bench.tell(`${rounded(sent)} alerts sent: ${megabytes(now)}`)
  }
  const { highest } = memoryOf(server.child)
  await server.child.stop()
  const shown = rows.filter((_, index) => index % Math.ceil(rows.length / 10) === 0 || index === rows.length - 1)
  return [
    {
      title: `Memory while ${rounded(sent)} different alerts come, all firing`,
      columns: ['alerts so far', 'alerts/s', 'resident', 'at its highest'],
      rows: shown,
      note: `At its highest ${megabytes(highest)} (${verdict(highest, { most: MOST })})${sent < bench.rows ? `; ended after ${LONGEST / 60_000} minutes` : ''}.`,
    },
  ]
}
