/** Start-up: from exec to the first answer, on a database that exists. */
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { memoryOf } from './children.ts'
import { isInstalled, warmUp } from './load.ts'
import { median, megabytes, milliseconds, type Part } from './report.ts'
import { answers, type Server, startAlertmanager, startIncmon } from './servers.ts'

const TIMES = 10

export async function benchStart(bench: Bench): Promise<Part[]> {
  const database = join(bench.directory, 'start.db')
  const first = await startIncmon(bench.program, database)
  await warmUp(first)
  await first.child.stop()
  const rows = [await startsOf(bench, 'incmon', '/healthz', () => startIncmon(bench.program, database))]
  if (isInstalled('prometheus-alertmanager')) {
    const directory = join(bench.directory, 'alertmanager-starts')
    rows.push(await startsOf(bench, 'Alertmanager', '/-/ready', () => startAlertmanager(directory)))
  }
  return [
    {
      title: 'Start: exec to first answer',
      columns: ['', 'median', 'least', 'most', 'resident memory'],
      rows,
      note: `${TIMES} starts; the program bundled into one file, run by Node ${process.versions.node}.`,
    },
  ]
}

async function startsOf(bench: Bench, name: string, path: string, start: () => Promise<Server>): Promise<string[]> {
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
  const shown = [median(times), Math.min(...times), Math.max(...times)].map(milliseconds)
  return [name, ...shown, megabytes(median(memories))]
}
