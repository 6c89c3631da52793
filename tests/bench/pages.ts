/** Measures web pages: server time and size with 500 services and a long history. */
import { Agent } from 'node:http'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { askOf, type Get, json, timesOf } from './asking.ts'
import { workedByAll } from './children.ts'
import { signIn } from './open-pages.ts'
import type { Bench } from './options.ts'
import { median, milliseconds, type Part, quantile, rounded, verdict } from './report.ts'
import { forget, seededDatabase } from './seed.ts'
import { type Server, startIncmon } from './servers.ts'

const SERVICES = 500
/** The number of critical services, and of degraded services. */
const CRITICAL = 10
const DEGRADED = 40
const STORM = 440
const TIMES = 30
/** Targets in milliseconds and kB of HTML. */
const SERVER_MS = 50
const PAGE_KB = 60
const WALL_KB = 110

export async function benchPages(bench: Bench): Promise<Part[]> {
  if (bench.rows === 0) return []
  const database = seededDatabase(bench.rows, bench.tell)
  const server = await startIncmon(bench.program, database)
  try {
    await fill(server)
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ask = askOf(server, agent, { Cookie: await signIn(server), Accept: 'text/html' })
    const rows: string[][] = []
    for (const [name, path, limit] of await pathsOf(askOf(server, agent))) {
      rows.push(await measure(server, ask, name, path, limit))
      bench.tell(rows.at(-1)?.join(', ') ?? '')
    }
    agent.destroy()
    return [
      {
        title: `Pages with ${SERVICES} services and ${rounded(bench.rows)} alerts`,
        columns: ['page', 'median', 'p90', 'processor', 'target', 'HTML', 'compressed', 'target'],
        rows,
        note: `${TIMES} requests each over one connection, HTTP included. The target is for the processor time of all threads, which is comparable on a busy machine. ${CRITICAL} services are critical and ${DEGRADED} degraded; one incident has ${STORM} alike alerts.`,
      },
    ]
  } finally {
    await server.child.stop()
    if (!bench.keep) forget(database)
  }
}

/** Sends one alert for each service, and a storm for the first one. */
async function fill({ url, token }: Server): Promise<void> {
  const services = Array.from({ length: SERVICES }, (_, index) => ({
    labels: {
      ...{ alertname: 'HighErrorRate', namespace: `team-${(index + 1) % 40}`, service: serviceName(index) },
      severity: index < CRITICAL ? 'critical' : 'warning',
    },
    status: index < CRITICAL + DEGRADED ? 'firing' : 'resolved',
  }))
  const storm = Array.from({ length: STORM }, (_, index) => ({
    labels: {
      ...{ alertname: 'HighLatency', namespace: 'team-1', service: serviceName(0), severity: 'critical' },
      route: `/route/${index}`,
    },
    status: 'firing',
  }))
  const startsAt = new Date().toISOString()
  const annotations = { summary: 'More than 5 % of the requests fail.' }
  const alerts = [...services, ...storm].map((one) => ({
    ...{ ...one, annotations, startsAt },
    endsAt: one.status === 'resolved' ? startsAt : '0001-01-01T00:00:00Z',
  }))
  const body = JSON.stringify({ version: '4', groupKey: 'pages', receiver: 'incmon', alerts })
  const headers = { Authorization: `Bearer ${token}` }
  const response = await fetch(`${url}/api/webhooks/metrics`, { method: 'POST', headers, body })
  if (!response.ok) throw new Error(`the webhook answered ${response.status}: ${await response.text()}`)
}

function serviceName(index: number): string {
  return `svc-${String(index + 1).padStart(4, '0')}`
}

/**
 * Returns the name, path and maximum size in kB of each page. With this many services, the list is not the default. The
 * busiest incident is the one with the storm.
 */
async function pathsOf(ask: Get): Promise<readonly (readonly [string, string, number])[]> {
  const services = (await json(ask, '/api/services')) as { id: string; name: string }[]
  const service = services.find(({ name }) => name === serviceName(0))?.id
  const open = (await json(ask, `/api/incidents?status=open&serviceId=${service}`)) as { data: { number: number }[] }
  const incident = open.data[0]?.number
  return [
    ['overview, list', '/?view=list', PAGE_KB],
    ['overview, wall', '/?view=wall', WALL_KB],
    ['incident with a storm', `/incidents/${incident}`, PAGE_KB],
    ['incidents', '/incidents', PAGE_KB],
    ['service', `/services/${service}`, PAGE_KB],
    ['alerts', '/alerts', PAGE_KB],
    ['alerts that fire', '/alerts?status=firing', PAGE_KB],
    ['sources', '/sources', PAGE_KB],
    ['reports', '/reports', PAGE_KB],
    ['reports of a year', '/reports?range=1y', PAGE_KB],
    ['search', '/search?q=svc-00', PAGE_KB],
    ['settings', '/settings', PAGE_KB],
  ]
}

async function measure({ child }: Server, ask: Get, name: string, path: string, limit: number): Promise<string[]> {
  const { text } = await ask(path)
  const before = workedByAll(child)
  const times = await timesOf(ask, path, TIMES)
  const processor = (workedByAll(child) - before) / times.length
  const kB = Buffer.byteLength(text) / 1000
  const compressed = (await promisify(gzip)(text)).length / 1000
  return [
    ...[name, milliseconds(median(times)), milliseconds(quantile(times, 0.9)), milliseconds(processor)],
    ...[verdict(processor, { most: SERVER_MS }), `${kB.toFixed(1)} kB`, `${compressed.toFixed(1)} kB`],
    verdict(kB, { most: limit }),
  ]
}
