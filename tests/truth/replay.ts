/** Sends a recorded case to an empty database and reads the API's results. */

import { createApp } from '../../src/app.ts'
import { readHere } from '../../src/store/read.ts'
import { MINUTE, makeToken } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { makeServerContext } from '../helpers/server-context.ts'
import { type Case, captureOf } from './cases.ts'

/** What incmon reports about a case. Services are named without their namespace, like workloads in the truth. */
export type Prediction = {
  readonly case: string
  /** The services with an ongoing incident that was opened automatically: at least one of its alerts is firing. */
  readonly openedFor: readonly string[]
  /** The services whose conditions an ongoing incident of a node owns, by node: `node/worker-1`. */
  readonly onNodes: Readonly<Record<string, readonly string[]>>
  /** What `openedFor` and `onNodes` are ten minutes after the capture, without any further request. */
  readonly later: Pick<Prediction, 'openedFor' | 'onNodes'>
  /** The number of open incidents without a firing alert. They change to `monitoring` after half an hour. */
  readonly recovered: number
  readonly critical: readonly string[]
  /** Suspected objects: `app/cart`, `node/worker-1`, `namespace/shop`. */
  readonly objects: readonly string[]
  /** The services whose pipelines are suspected. */
  readonly changes: readonly string[]
}

/**
 * When the requests arrive: all at the time of capture, as from a sender that was connected late, or each at its own
 * time.
 */
export type Arrival = 'captured' | 'live'

/** How long after the last request the results are read. */
const SETTLING_MS = 6_000

type Api = (method: string, path: string, body?: unknown, header?: string) => Promise<Answer>
// biome-ignore lint/suspicious/noExplicitAny: what the API answers is checked by its own tests
type Answer = any

/** Replays a case at its recorded times with the whole application in this process. */
export async function predict(recorded: Case, arrival: Arrival): Promise<Prediction> {
  const endings: (() => unknown)[] = []
  const flow = makeFlow({ after: (end) => void endings.push(end as () => unknown) })
  try {
    const api = apiOf(flow)
    await send(flow, api, recorded, arrival)
    const opened = await readOpened(api)
    const suspected = await read(api)
    await flow.sweepUntil(flow.clock.now + TEN_MINUTES, MINUTE / 6)
    return { case: recorded.name, ...opened, ...suspected, later: await readOpened(api) }
  } finally {
    for (const end of endings) await end()
  }
}

async function send(flow: Flow, api: Api, recorded: Case, arrival: Arrival): Promise<void> {
  const capturedAt = captureOf(recorded)
  const first = Date.parse(recorded.requests[0]?.t ?? '')
  flow.clock.now = arrival === 'live' ? first : capturedAt
  for (const { t, endpoint, body } of recorded.requests) {
    if (arrival === 'live') await flow.sweepUntil(Date.parse(t), MINUTE / 12)
    await api('POST', `/api/webhooks/${endpoint}`, body, endpoint === 'ci' ? 'X-Ci-Token' : 'Authorization')
  }
  await flow.sweepUntil(capturedAt + SETTLING_MS, MINUTE / 60)
}

function apiOf(flow: Flow): Api {
  const { deps, acme } = flow
  const app = createApp(deps, readHere(deps.db), makeServerContext())
  const token = makeToken(deps.db, acme, ['ingest', 'read', 'write'])
  return async (method, path, body, header = 'Authorization') => {
    const carried = header === 'Authorization' ? `Bearer ${token}` : token
    const headers = { [header]: carried, 'Content-Type': 'application/json' }
    const init = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await app.request(path, { method, headers, ...init })
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return response.json()
  }
}

const TEN_MINUTES = 10 * MINUTE

/** Reads the ongoing automatic incidents, and the services whose conditions belong to a node's incident. */
async function readOpened(api: Api): Promise<Pick<Prediction, 'openedFor' | 'onNodes'>> {
  const [services, incidents, alerts] = [
    (await api('GET', '/api/services')) as Answer[],
    (await listAll(api, '/api/incidents')).filter((one) => isOngoing(one) && one.origin === 'automatic'),
    await listAll(api, '/api/alerts'),
  ]
  const nameOf = new Map(services.map(({ id, name }) => [id, name]))
  const openedFor = incidents.map(({ serviceId }) => nameOf.get(serviceId) as string)
  const nodes = incidents.filter(({ serviceId }) => nameOf.get(serviceId)?.startsWith('node/'))
  const onNodes = nodes.map(({ id, serviceId }) => {
    const owned = alerts.filter((one) => one.incidentId === id).map((one) => nameOf.get(one.serviceId) as string)
    return [nameOf.get(serviceId), [...new Set(owned)].sort()]
  })
  return { openedFor: [...new Set(openedFor)].sort(), onNodes: Object.fromEntries(onNodes) }
}

function isOngoing({ status, firingAlerts }: Answer): boolean {
  return status !== 'resolved' && firingAlerts > 0
}

async function read(api: Api): Promise<Pick<Prediction, 'recovered' | 'critical' | 'objects' | 'changes'>> {
  const services: Answer[] = await api('GET', '/api/services')
  const incidents = (await listAll(api, '/api/incidents')).filter(({ status }) => status !== 'resolved')
  const nameOf = new Map(services.map(({ id, name }) => [id, name]))
  // The truth describes the state at the capture and says nothing about what ended before.
  const ongoing = incidents.filter(isOngoing)
  const candidates = ongoing.length > 0 ? ongoing : incidents
  const incident = candidates.sort((a, b) => (a.createdAt + a.id < b.createdAt + b.id ? -1 : 1))[0]
  const id = incident?.id ?? (await openByHand(api, services))
  const suspects: Answer[] = id === null ? [] : (await api('GET', `/api/incidents/${id}/suspects`)).data
  return {
    recovered: incidents.length - ongoing.length,
    critical: services.flatMap(({ status, name }) => (status === 'critical' ? [name] : [])).sort(),
    objects: suspects.filter(({ kind }) => kind === 'node' || kind === 'object').map(({ ref }) => objectOf(ref)),
    changes: suspects.filter(({ kind }) => kind === 'pipeline').map(({ serviceId }) => nameOf.get(serviceId)),
  }
}

async function listAll(api: Api, path: string): Promise<Answer[]> {
  const all: Answer[] = []
  for (let page = 1; ; page += 1) {
    const { data, pagination } = await api('GET', `${path}?page=${page}&limit=100`)
    all.push(...data)
    if (data.length === 0 || all.length >= pagination.total) return all
  }
}

/** If incmon did not open an incident, opens one by hand for the worst service. */
async function openByHand(api: Api, services: Answer[]): Promise<string | null> {
  const worst = services
    .filter(({ score }) => score < 100)
    .sort((a, b) => a.score - b.score || (a.name < b.name ? -1 : 1))[0]
  const service = worst ?? services[0]
  if (!service) return null
  const { id } = await api('POST', '/api/incidents', {
    title: 'Something is wrong',
    serviceId: service.id,
    severity: 'critical',
  })
  return id
}

/** Converts `shop/cart` to `app/cart`. Nodes and namespaces keep their names. */
function objectOf(ref: string): string {
  return /^(?:node|namespace)\//.test(ref) ? ref : `app/${ref.slice(ref.lastIndexOf('/') + 1)}`
}
