/** Exercises a bit of everything: incoming requests, changes by people, the passage of time, and all reads. */

import { loadExample, removeExample } from '../../src/actions/example.ts'
import { listDueGraphs } from '../../src/actions/graphs.ts'
import { runOnce } from '../../src/actions/idempotency.ts'
import { pruneMessages, recordSent, settleMessage, takeMessage } from '../../src/actions/messages.ts'
import { remind } from '../../src/actions/notifications.ts'
import { changeOrganization, createOrganization } from '../../src/actions/organizations.ts'
import { pruneAll } from '../../src/actions/pruning/prune.ts'
import { changePerson, createSetupLink, endSession, findVisitor } from '../../src/actions/sessions.ts'
import { createApp } from '../../src/app.ts'
import { listLastReports } from '../../src/store/history/last-report.ts'
import { findIdMatches, findNewestUuid } from '../../src/store/id-matches.ts'
import { saveGraphFault } from '../../src/store/incident/graphs.ts'
import { findMergedInto } from '../../src/store/incident/incidents.ts'
import { findLikelyCause } from '../../src/store/incident/likely-cause.ts'
import { countGoingOn } from '../../src/store/incident/live-incidents.ts'
import { recordStop } from '../../src/store/incident/stops.ts'
import { listSaid, listStillFiring, listToldNames } from '../../src/store/incident/told.ts'
import { listGaps, loadWatch } from '../../src/store/kubernetes.ts'
import { listRecipients } from '../../src/store/notification/channels.ts'
import {
  findRemoteId,
  hasDelivered,
  listDueChannels,
  rescheduleNotification,
} from '../../src/store/notification/outbox.ts'
import {
  findGroupSentAt,
  joinBegun,
  listBegun,
  postponeNotification,
  releaseMessage,
} from '../../src/store/notification/queue.ts'
import { alertsAbout, listRuledAlerts } from '../../src/store/notification/ruled-alerts.ts'
import { findOrganizationByName, listOrganizations } from '../../src/store/organizations.ts'
import { readHere } from '../../src/store/read.ts'
import { listOtherNames } from '../../src/store/service/services.ts'
import { listSessions } from '../../src/store/sessions.ts'
import { findMutingSilence } from '../../src/store/silences.ts'
import { byLink } from './by-link.ts'
import { MINUTE, makeToken, NOON, newUuid } from './factory.ts'
import type { Flow } from './flow.ts'
import { pruneFully } from './retention.ts'
import { alert, alertmanager, crashLoop, grafana, job, kubernetesEvent, pipeline, watchdog } from './senders.ts'
import { makeServerContext } from './server-context.ts'
import { makeBrowser } from './site.ts'

const POD = 'cart-5d4f8c7b9-x2kqp'
const DOWN = alert('CartDown', { pod: POD, node: 'worker-2' }, { startsAt: NOON })
const ERRORS = alert('Errors', { deployment: 'cart', team: 'checkout' }, { fingerprint: 'f' })
const LISTS = [
  'services',
  'alerts',
  'events',
  'incidents',
  'correlations',
  'rejections',
  'silences',
  'sources',
  'tokens',
]

export async function everything(flow: Flow): Promise<void> {
  const ask = client(flow)
  await channels(ask)
  await whatComes(flow)
  await whatIsRead(flow, ask)
  await byHand(flow, ask)
  messages(flow)
  await graphs(flow)
  await watched(flow)
  await byLink(flow)
  await onPages(flow)
  await flow.sweepUntil(NOON + 30 * 60 * MINUTE, 30 * MINUTE)
  await flow.send(
    'metrics',
    alertmanager([{ ...DOWN, status: 'resolved', endsAt: new Date(flow.clock.now).toISOString() }]),
  )
  await flow.sweepUntil(flow.clock.now + 26 * 60 * MINUTE, 30 * MINUTE)
  await whatIsRead(flow, ask)
  // Operations that only operators perform, and those of the sweep after a failure.
  const { deps } = flow
  createOrganization(deps, { name: 'New', plan: 'Free' })
  findOrganizationByName(deps.db, 'New')
  listOrganizations(deps.db)
  findNewestUuid(deps.db)
  recordStop(deps.db, NOON, NOON + MINUTE)
  for (const table of ['incidents', 'alerts', 'silences'] as const) findIdMatches(deps.db, table, '01900000')
  findMutingSilence(deps.db, flow.acme.key, 1)
  listOtherNames(deps.db, 1)
  postponeNotification(deps.db, 1, NOON)
  await whatIsPruned(flow)
  await loadExample(deps, 1, [])
  await removeExample(deps, 1)
}

async function whatComes(flow: Flow): Promise<void> {
  const jobs = [{ id: 1, name: 'deploy', status: 'failed' }]
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON, jobs }))
  await flow.send('ci', pipeline('failed', 'shop/wagon', { at: NOON, jobs }))
  await flow.send('ci', job('deploy', 'failed'), { key: 'one' })
  await flow.send('metrics', watchdog())
  for (const at of [NOON, NOON + 2 * MINUTE, NOON + 4 * MINUTE]) {
    await flow.send('cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node' }), { at })
    await flow.send('cluster', crashLoop(POD, { node: 'worker-2', count: 6 }))
    await flow.send('metrics', alertmanager([DOWN, { labels: 1 }], { truncatedAlerts: 1 }))
  }
  for (const shard of ['1', '2']) {
    const at = NOON + 4 * MINUTE + Number(shard)
    const lost = alert('ShardLost', { service: 'store', shard, severity: 'critical' }, { startsAt: at })
    await flow.send('metrics', alertmanager([lost], { groupKey: shard }), { at })
  }
  const scaled = { kind: 'Deployment', message: 'Scaled up replica set cart-5d4f8c7b9 to 3' }
  await flow.send('cluster', kubernetesEvent('ScalingReplicaSet', 'cart', scaled))
  for (const project of ['cart', 'wagon']) {
    const message = `Pulling image "registry.example/shop/${project}/web:1"`
    await flow.send('cluster', kubernetesEvent('Pulling', POD, { message }))
  }
  await flow.send('dashboard', grafana([ERRORS]))
  await flow.send('metrics', alertmanager([{ ...DOWN, startsAt: new Date(NOON - MINUTE).toISOString() }]))
  await flow.send('metrics', alertmanager([DOWN]), { dryRun: true })
}

/** On Basil's plan there are no postmortems, so none of its records are kept forever. */
async function whatIsPruned(flow: Flow): Promise<void> {
  const { deps, basil: as, clock } = flow
  const told = (more: object = {}) => alertmanager([alert('CartDown', { pod: POD }, { startsAt: clock.now, ...more })])
  for (let day = 0; day < 4; day++) {
    await flow.send('cluster', crashLoop(POD, { count: 6 + day }), { as })
    await flow.send('cluster', kubernetesEvent('Pulled', POD), { as })
    await flow.send('metrics', told(), { as })
    await flow.send('metrics', told({ endsAt: clock.now }), { as })
    await flow.sweepUntil(clock.now + 26 * 60 * MINUTE, 30 * MINUTE)
  }
  await flow.sweepUntil(clock.now + 500 * 24 * 60 * MINUTE, 24 * 60 * MINUTE)
  for (const approved of [false, true]) for (const one of [as, flow.acme]) pruneFully(deps, one, { approved, rows: 2 })
  for (const _ of pruneAll(deps, { waits: () => {}, failed: () => {} }));
}

type Ask = (method: string, path: string, body?: unknown) => Promise<unknown>

function client({ deps, acme }: Flow): Ask {
  const token = makeToken(deps.db, acme, ['read', 'write', 'admin', 'ingest'])
  const app = createApp(deps, readHere(deps.db), makeServerContext())
  return async (method, path, body) => {
    const headers = { Authorization: `Bearer ${token}` }
    const sent = body === undefined ? {} : { body: new Uint8Array(Buffer.from(JSON.stringify(body))) }
    const response = await app.request(path, { method, headers, ...sent })
    if (response.ok) return response.headers.get('Content-Type')?.includes('json') ? response.json() : response.text()
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  }
}

async function byHand({ deps, acme, service, incidents, alerts, send }: Flow, ask: Ask): Promise<void> {
  const id = async (method: string, path: string, body?: unknown) =>
    ((await ask(method, path, body)) as { id: string }).id
  const serviceId = service('cart')?.id ?? ''
  await ask('POST', '/api/incidents', { title: 'Ours', serviceId, severity: 'error' })
  const incident = `/api/incidents/${incidents()[0]?.id}`
  await ask('POST', `${incident}/acknowledge-group`)
  await ask('PATCH', incident, { status: 'resolved' })
  await ask('GET', `${incident}/postmortem`)
  await ask('PATCH', `${incident}/postmortem`, { summary: 'It was us.' })
  await ask('PATCH', incident, { status: 'open', title: 'Again' })
  await ask('POST', `${incident}/notes`, { text: 'a note' })
  await ask('POST', `${incident}/actions`, { text: 'an action item' })
  const whole = await id('POST', '/api/incidents', { title: 'The whole of it', serviceId, severity: 'error' })
  await ask('POST', `/api/incidents/${whole}/actions`, { text: 'an action item' })
  await ask('POST', `${incident}/merge`, { into: whole })
  const links = (await ask('GET', '/api/correlations')) as { data: { id: string }[] }
  for (const verdict of ['confirmed', 'confirmed'])
    await ask('PATCH', `/api/correlations/${links.data[0]?.id}`, { verdict })
  await ask('PATCH', `/api/alerts/${alerts().find(({ status }) => status === 'firing')?.id}`, { status: 'resolved' })
  const other = await id('POST', '/api/services', { name: 'all', namespace: 'shop' })
  await ask('PATCH', `/api/services/${other}`, { name: 'every', aliases: [{ kind: 'label', value: 'team=checkout' }] })
  // From now on, it belongs to the other service.
  await send('dashboard', grafana([ERRORS]))
  await ask('POST', `/api/services/${serviceId}/merge`, { into: other })
  await ask('PATCH', '/api/organization', { name: 'Acme & Sons' })
  await silences(ask, id)
  await withKey(deps, acme.key)
  const token = await id('POST', '/api/tokens', { name: 'x', scopes: ['read'] })
  await ask('DELETE', `/api/tokens/${token}`)
}

/** Sends a request with a key that fails and one that succeeds. */
async function withKey(deps: Flow['deps'], organizationId: number): Promise<void> {
  const keyed = { organizationId, route: 'POST /api/services', key: 'a', bodyHash: '' }
  await runOnce(deps, keyed, () => Promise.reject(new Error('refused'))).catch(() => {})
  await runOnce(deps, keyed, () => 1)
}

async function silences(
  ask: Ask,
  id: (method: string, path: string, body?: unknown) => Promise<string>,
): Promise<void> {
  const matchers = [{ name: 'service', op: '=', value: 'every' }]
  const silence = { matchers, comment: 'Upgrade', endsAt: '2026-03-14T12:05:00Z' }
  await ask('POST', '/api/silences?dryRun=1', silence)
  const another = alertmanager([alert('Late', { service: 'late', severity: 'critical' })])
  await ask('POST', '/api/webhooks/metrics?dryRun=1', another)
  const made = await id('POST', '/api/silences', silence)
  await ask('PATCH', `/api/silences/${made}`, { comment: 'Longer', revision: 1 })
  await id('POST', '/api/silences', silence)
  for (const query of ['expired=1', 'expired=0']) await ask('GET', `/api/silences?${query}`)
  for (const query of ['silenced=1', 'silenced=0&status=firing']) await ask('GET', `/api/alerts?${query}`)
  for (const path of ['alerts', 'alerts/groups', 'silences']) await ask('GET', `/alertmanager/api/v2/${path}`)
  await ask('DELETE', `/api/silences/${made}`)
}

/** Signs in with a setup link and a token, visits every page, and signs out. */
async function onPages({ deps: world, acme, alerts, services }: Flow): Promise<void> {
  const deps = { ...world, newSecret: () => newUuid().replaceAll('-', '').padEnd(43, 'S') }
  const app = createApp(deps, readHere(deps.db), makeServerContext())
  const browser = makeBrowser(app)
  await browser.post('/setup', { key: createSetupLink(deps, acme.key).secret, person: 'Ada' })
  // The last use is stored after a minute.
  const later = { ...deps, now: () => deps.now() + 2 * MINUTE }
  const [secret = ''] = browser.cookies.values()
  const visitor = findVisitor(later, secret)
  changePerson(deps, secret, 'Ada Lovelace')
  const pages = [
    '/',
    '/incidents',
    '/incidents/1',
    '/alerts',
    '/alerts?incident=1',
    '/alerts?incident=1&group=0',
    `/alerts/${alerts()[0]?.id}`,
    `/alerts/${alerts().find(({ status }) => status === 'firing')?.id}`,
    `/services/${services()[0]?.id}`,
    '/search?q=cart',
    '/reports',
  ]
  for (const path of [...pages, '/sources', '/settings', '/settings/tokens', '/settings/sessions'])
    await browser.get(path)
  await browser.send('/incidents/acknowledge', { incidents: '1' })
  await browser.send('/incidents/1/verdict', { kind: 'pipeline', ref: 'shop/cart#31', verdict: 'confirmed' })
  listSessions(deps.db, acme.key, deps.now())
  await browser.signIn(makeToken(deps.db, acme, ['read']))
  await browser.post('/sign-out', { csrf: visitor?.csrf ?? '' })
  endSession(deps, acme.key, visitor?.sessionId ?? '')
}

async function channels(ask: Ask): Promise<void> {
  const id = async (method: string, path: string, body?: unknown) =>
    ((await ask(method, path, body)) as { id: string }).id
  const url = 'https://example.com/hook'
  const made = await id('POST', '/api/channels', { name: 'hook', kind: 'webhook', url, rules: [{ services: ['x'] }] })
  await id('POST', '/api/channels', { name: 'chat', kind: 'slack', url })
  await id('POST', '/api/channels', { name: 'shop', kind: 'slack', url, rules: [{ namespaces: ['shop'] }] })
  const gone = await id('POST', '/api/channels', { name: 'gone', kind: 'slack', url })
  await ask('DELETE', `/api/channels/${gone}`)
  const path = `/api/channels/${made}`
  await ask('PATCH', path, { url: 'https://example.com/other', name: 'other', rules: [] })
  await ask('POST', `${path}/rotate-secret`)
  await ask('POST', `${path}/test`)
  await ask('GET', '/api/channels')
  for (const filter of ['', `channelId=${made}`, 'status=pending']) await ask('GET', `/api/deliveries?${filter}`)
}

/** Covers the notifier: messages that are delivered, retried, abandoned and deleted. */
function messages({ deps, clock }: Flow): void {
  const answer = (status: number | null) => ({ status, detail: 'x', remoteId: null, retryAfter: 0 })
  deps.db.run(deps.db.sql.updateTable('services').set({ suppressed: 1 }).where('id', '<', 100))
  for (const status of [500, 200, 410]) {
    clock.now += 31 * MINUTE
    remind(deps)
    listLastReports(deps.db, 1, ['Down'])
    countGoingOn(deps.db, 1)
    findMergedInto(deps.db, 1, { rowId: 1, resolvedAt: clock.now })
    for (const { channelId } of listDueChannels(deps.db, deps.now())) {
      const message = takeMessage(deps, channelId)
      if (!message) continue
      recordSent(deps, message, { title: 'x', body: '' })
      settleMessage(deps, message, answer(status), 0)
      for (const entry of listBegun(deps.db, message.leader.rowId)) joinBegun(deps.db, channelId, entry, 0)
      releaseMessage(deps.db, message.leader.rowId)
    }
  }
  for (const { id } of listOrganizations(deps.db).flatMap(({ rowId: key }) => listRecipients(deps.db, key))) {
    findRemoteId(deps.db, 1, id)
    hasDelivered(deps.db, 1, id)
    findGroupSentAt(deps.db, 1, [id])
    listToldNames(deps.db, 1, { rowId: 1, id })
    alertsAbout(deps.db, { kind: 'worse', names: [], ownServiceId: 0 }, listRuledAlerts(deps.db, 1))
    findLikelyCause(deps.db, 1, id, 0)
    listStillFiring(deps.db, 1, 0)
    listSaid(deps.db, 1, { incidentId: 1, incidentUuid: id }, 0)
  }
  rescheduleNotification(deps.db, 1, 0)
  pruneMessages(deps)
}

/** Covers the graphs from Prometheus. */
async function graphs({ deps, acme }: Flow): Promise<void> {
  await changeOrganization(deps, acme.key, { settings: { 'prometheus-url': 'http://prometheus' } })
  listDueGraphs(deps)
  saveGraphFault(deps.db, { incidentId: 1, alertId: null, at: 0 }, 1, 'Prometheus is down')
}

/** Requests every list without filters, with each filter and with all of them, and one record of each kind. */
async function whatIsRead(flow: Flow, ask: Ask): Promise<void> {
  for (const noun of LISTS) await readList(ask, noun, flow.services()[0]?.id ?? '')
  for (const noun of ['services', 'alerts', 'events', 'incidents']) {
    const listed = (await ask('GET', `/api/${noun}`)) as { data: { id: string }[] } & { id: string }[]
    for (const { id } of listed.data ?? listed) {
      await ask('GET', `/api/${noun}/${id}`)
      if (noun === 'services') await ask('GET', `/api/services/${id}/history`)
      if (noun === 'services') await ask('GET', `/api/services/${id}/changes`)
      if (noun === 'incidents') await ask('GET', `/api/incidents/${id}/suspects`)
    }
  }
  for (const path of ['/api/organization', '/api/reports/reliability', '/readyz', '/metrics']) await ask('GET', path)
}

async function readList(ask: Ask, noun: string, serviceId: string): Promise<void> {
  const span = 'from=2026-01-01T00:00:01Z&to=2026-12-31T00:00:01Z'
  const words = { status: noun === 'alerts' ? 'firing' : 'open', severity: 'critical', source: 'metrics', q: 'cart' }
  const filters = [...Object.entries({ ...words, minScore: '0.5', page: '2' }).map((pair) => pair.join('=')), span]
  for (const filter of ['', ...filters, filters.join('&'), 'status=resolved']) {
    await ask('GET', `/api/${noun}?${filter}`)
    await ask('GET', `/api/${noun}?serviceId=${serviceId}&${filter}`)
  }
}

/** What a watch of a cluster saves and reads. */
async function watched({ deps, clock, acme }: Flow): Promise<void> {
  const facts = { suspended: false, images: {} }
  const seen = {
    kind: 'CronJob',
    uid: 'u',
    version: '1',
    namespace: 'shop',
    name: 'mail',
    owner: null,
    workload: 'mail',
  } as const
  const positions = [{ resource: 'cronjobs', version: '1' }]
  const gap = { from: NOON, to: NOON + MINUTE }
  const watch = { cluster: 'production', saved: [{ ...seen, facts }], deleted: ['gone'], positions, gap, at: clock.now }
  await deps.engine.submit({
    ...{
      organizationId: acme.key,
      cluster: 'production',
      source: 'cluster',
      receivedAt: clock.now,
      idempotencyKey: null,
    },
    ...{
      dryRun: false,
      isFromCache: false,
      watch,
      intake: { accepted: [], rejected: [], group: null, receiver: 'watch' },
    },
  })
  Array.from(loadWatch(deps.db, acme.key, 'production').objects)
  listGaps(deps.db, acme.key, 'production', NOON, clock.now)
}
