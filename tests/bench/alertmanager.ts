/** Compares incmon's Alertmanager API with Alertmanager: the same requests to both, and reads of 10,000 alerts. */
import { Agent } from 'node:http'
import { join } from 'node:path'
import { askOf, timesOf } from './asking.ts'
import { silenceAllBut } from './children.ts'
import { fill, isInstalled, LOADS, nameOf, post, requireAlerts, warmUp } from './load.ts'
import type { Bench } from './options.ts'
import { median, milliseconds, type Part, rounded, spread, type Table, verdict } from './report.ts'
import { type Server, startAlertmanager, startIncmon } from './servers.ts'

/** The API must not be slower than the webhook. */
const LEAST_TO_WEBHOOK = 1
const ALERTS = 10_000
const READS = ['alerts', 'alerts/groups']
const TIMES = 20
const LEAST_READ_RATIO = 3

export async function benchAlertmanager(bench: Bench): Promise<Part[]> {
  if (!isInstalled('prometheus-alertmanager'))
    return ['alertmanager was skipped: prometheus-alertmanager is not installed.']
  return [await writes(bench), await reads(bench)]
}

async function writes(bench: Bench): Promise<Table> {
  const webhook = await startIncmon(bench.program, join(bench.directory, 'webhook.db'))
  const api: Server = { ...(await startIncmon(bench.program, join(bench.directory, 'api.db'))), name: 'api' }
  const other = await startAlertmanager(join(bench.directory, 'alertmanager-api'))
  const servers = [api, webhook, other]
  const children = servers.map(({ child }) => child)
  const rows: string[][] = []
  for (const server of servers) {
    silenceAllBut(server.child, children)
    await warmUp(server)
  }
  for (const load of LOADS) {
    const rounds: number[][] = []
    for (let round = 0; round < bench.rounds; round += 1) {
      const speeds: number[] = []
      for (const server of servers) {
        silenceAllBut(server.child, children)
        speeds.push((await requireAlerts(server, load, bench.connections, () => post(server, load, bench))).perSecond)
      }
      rounds.push(speeds)
      bench.tell(`Alertmanager API, ${nameOf(load)}: ${speeds.map(rounded).join(', ')} requests a second`)
    }
    const against = (index: number) => rounds.map((speeds) => (speeds[0] ?? 0) / (speeds[index] ?? Number.NaN))
    rows.push([
      nameOf(load),
      ...servers.map((_, index) => rounded(median(rounds.map((speeds) => speeds[index] ?? Number.NaN)))),
      ...[spread(against(1)), verdict(median(against(1)), { least: LEAST_TO_WEBHOOK }), spread(against(2))],
    ])
  }
  for (const child of children) await child.stop()
  return {
    title: 'POST /alertmanager/api/v2/alerts: requests a second',
    columns: ['alerts a request', 'API', 'webhook', 'Alertmanager', 'API ÷ webhook', 'target', 'API ÷ Alertmanager'],
    rows,
    note: `Medians of ${bench.rounds} rounds of ${bench.seconds} s, ${bench.connections} connections. incmon's API and Alertmanager receive identical requests.`,
  }
}

async function reads(bench: Bench): Promise<Table> {
  const own: Server = { ...(await startIncmon(bench.program, join(bench.directory, 'api-reads.db'))), name: 'api' }
  const other = await startAlertmanager(join(bench.directory, 'alertmanager-reads'))
  for (const server of [own, other]) await fill(server, 'critical', ALERTS)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const rows: string[][] = []
  for (const path of READS) {
    const [ours = Number.NaN, theirs = Number.NaN] = [
      median(await timesOf(askOf(own, agent), `/alertmanager/api/v2/${path}`, TIMES)),
      median(await timesOf(askOf(other, agent, {}), `/api/v2/${path}`, TIMES)),
    ]
    const ratio = theirs / ours
    const reached = verdict(ratio, { least: LEAST_READ_RATIO })
    rows.push([path, milliseconds(ours), milliseconds(theirs), ratio.toFixed(2), reached])
    bench.tell(`Alertmanager API, GET ${path}: ${milliseconds(ours)}, Alertmanager ${milliseconds(theirs)}`)
  }
  agent.destroy()
  for (const { child } of [own, other]) await child.stop()
  return {
    title: `GET /alertmanager/api/v2 with ${rounded(ALERTS)} alerts`,
    columns: ['', 'incmon', 'Alertmanager', 'times as fast', 'target'],
    rows,
    note: `Medians of ${TIMES} requests over one connection.`,
  }
}
