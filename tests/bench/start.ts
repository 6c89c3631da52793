/** Measures startup on an existing database, from exec to the first response. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { memoryOf } from './children.ts'
import { isInstalled, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, verdict } from './report.ts'
import { answers, type Server, startAlertmanager, startIncmon } from './servers.ts'

const TIMES = 10
/** Limits: milliseconds to the first response, memory in megabytes, file size in megabytes. */
const MOST = { time: 300, memory: 100, size: 120 } as const

type Starts = { readonly name: string; readonly times: readonly number[]; readonly memory: number }

export async function benchStart(bench: Bench): Promise<Part[]> {
  const database = join(bench.directory, 'start.db')
  const first = await startIncmon(bench.program, database)
  await warmUp(first)
  await first.child.stop()
  const own = await startsOf(bench, 'incmon', '/healthz', () => startIncmon(bench.program, database))
  const starts = [own]
  if (isInstalled('prometheus-alertmanager')) {
    const directory = join(bench.directory, 'alertmanager-starts')
    starts.push(await startsOf(bench, 'Alertmanager', '/-/ready', () => startAlertmanager(directory)))
  }
  return [
    {
      title: 'Start: exec to first answer',
      columns: ['', 'median', 'lowest', 'highest', 'resident memory'],
      rows: starts.map(rowOf),
      note: `${TIMES} starts of the executable. ${verdictOn(bench.program, own)}`,
    },
  ]
}

async function startsOf(bench: Bench, name: string, path: string, start: () => Promise<Server>): Promise<Starts> {
  const times: number[] = []
  const memories: number[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const server = await start()
    await answers(server.url + path, server.child)
    times.push(performance.now() - server.child.startedAt)
    memories.push(memoryOf(server.child).now)
    await server.child.stop()
  }
  bench.tell(`${name} starts in ${milliseconds(median(times))}`)
  return { name, times, memory: median(memories) }
}

function verdictOn(program: string, { times, memory }: Starts): string {
  const size = statSync(program).size / 1e6
  return [
    `Start ${milliseconds(median(times))} (${verdict(median(times), { most: MOST.time })})`,
    `memory ${megabytes(memory)} (${verdict(memory, { most: MOST.memory })})`,
    `file ${megabytes(size)} (${verdict(size, { most: MOST.size })}).`,
  ].join(', ')
}

function rowOf({ name, times, memory }: Starts): string[] {
  const shown = [median(times), Math.min(...times), Math.max(...times)].map(milliseconds)
  return [name, ...shown, megabytes(memory)]
}
