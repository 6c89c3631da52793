/** Measures startup without and with many active alerts, from exec to the first response and to the first webhook. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fillAll } from './active.ts'
import { memoryOf, workedByAll } from './children.ts'
import { isInstalled } from './load.ts'
import type { Bench } from './options.ts'
import { median, megabytes, milliseconds, type Part, rounded, verdict } from './report.ts'
import { answers, type Server, startAlertmanager, startIncmon } from './servers.ts'

const TIMES = 5
const SETTLED_AFTER_MS = 2_000
/** Limits: milliseconds to the first response, memory in megabytes, file size in megabytes. */
const MOST = { time: 300, memory: 100, size: 120 } as const
/** The limit for the first webhook with 100,000 active alerts, in milliseconds. */
const MOST_WEBHOOK = 2_000

/** Times are in milliseconds from exec. `processor` is the CPU time of all threads. Memory is in megabytes. */
type Start = { readonly first: number; readonly webhook: number; readonly processor: number; readonly memory: number }

export async function benchStart(bench: Bench): Promise<Part[]> {
  const { program, directory, active } = bench
  const startOwn = () => startIncmon(program, join(directory, 'start.db'))
  const empty = await startsOf(startOwn)
  await fillAll(bench, await startOwn(), active, () => undefined)
  const full = await startsOf(startOwn)
  const rows = [rowOf('incmon', empty), rowOf(`incmon, ${rounded(active)} active alerts`, full)]
  if (isInstalled('prometheus-alertmanager')) {
    rows.push(rowOf('Alertmanager', await startsOf(() => startAlertmanager(join(directory, 'alertmanager-starts')))))
  }
  const [time, memory, webhook] = [middle(empty, 'first'), middle(empty, 'memory'), middle(full, 'webhook')]
  const size = statSync(program).size / 1e6
  const verdicts = [
    `Start ${milliseconds(time)} (${verdict(time, { most: MOST.time })})`,
    `memory ${megabytes(memory)} (${verdict(memory, { most: MOST.memory })})`,
    `file ${megabytes(size)} (${verdict(size, { most: MOST.size })})`,
    `first webhook with ${rounded(active)} active alerts ${milliseconds(webhook)} (${verdict(webhook, { most: MOST_WEBHOOK })})`,
  ]
  return [
    {
      title: 'Start: exec to the first response',
      columns: ['', 'first response', 'lowest–highest', 'first webhook', 'processor time', 'resident memory'],
      rows,
      note: `Medians of ${TIMES} starts of the executable. Processor time and memory: of the whole process, ${SETTLED_AFTER_MS / 1000} s after the first webhook. ${verdicts.join(', ')}.`,
    },
  ]
}

async function startsOf(start: () => Promise<Server>): Promise<readonly Start[]> {
  const starts: Start[] = []
  for (let time = 0; time < TIMES; time += 1) {
    const server = await start()
    const passed = () => performance.now() - server.child.startedAt
    await answers(`${server.url}${server.name === 'incmon' ? '/healthz' : '/-/ready'}`, server.child)
    const first = passed()
    if (server.name === 'incmon') await storeNothingNew(server)
    const webhook = server.name === 'incmon' ? passed() : Number.NaN
    await sleep(SETTLED_AFTER_MS)
    starts.push({ first, webhook, processor: workedByAll(server.child), memory: memoryOf(server.child).now })
    await server.child.stop()
  }
  return starts
}

/** Sends the end of an unknown alert, which passes through the whole write path and leaves no active alert. */
async function storeNothingNew({ url, token }: Server): Promise<void> {
  const [startsAt, endsAt] = ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z']
  const alert = { status: 'resolved', labels: { alertname: 'Started', service: 'svc-000' }, startsAt, endsAt }
  const response = await fetch(`${url}/api/webhooks/metrics`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ alerts: [alert] }),
  })
  if (response.status !== 200) throw new Error(`the first webhook was answered ${response.status}`)
}

function middle(starts: readonly Start[], figure: keyof Start): number {
  return median(starts.map((one) => one[figure]))
}

function rowOf(name: string, starts: readonly Start[]): string[] {
  const times = starts.map(({ first }) => first)
  const webhook = middle(starts, 'webhook')
  return [
    ...[name, milliseconds(median(times)), `${milliseconds(Math.min(...times))}–${milliseconds(Math.max(...times))}`],
    ...[Number.isNaN(webhook) ? '' : milliseconds(webhook), milliseconds(middle(starts, 'processor'))],
    megabytes(middle(starts, 'memory')),
  ]
}
