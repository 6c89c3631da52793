/** Every route with every kind of caller, so that no endpoint lacks a check. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApp } from '../../src/app.ts'
import { readHere } from '../../src/store/read.ts'
import { PAGES } from '../../src/web/routes.ts'
import { makeWorld } from '../helpers/app.ts'
import {
  makeAlert,
  makeChannel,
  makeCorrelation,
  makeEvent,
  makeIncident,
  makeService,
  makeSilence,
  makeToken,
  NOON,
  newUuid,
} from '../helpers/factory.ts'
import { alertGroup, payload } from '../helpers/payloads.ts'
import { makeServerContext } from '../helpers/server-context.ts'

type Row = {
  /** The required scope, or null if the route is public. */
  readonly scope: 'ingest' | 'read' | 'write' | 'admin' | null
  /** The kind of Acme's record whose id is in the path. */
  readonly of?: 'service' | 'alert' | 'event' | 'incident' | 'correlation' | 'silence' | 'channel' | 'token'
  readonly body?: unknown
  /** The status for Charlie, who has all scopes in his own organization. */
  readonly outsider: number
  /** The status for a token with only the read scope, if it is not 200. */
  readonly reader?: number
}

const SERVICE = { name: 'new', namespace: 'shop' }
const UNKNOWN = newUuid()

/** One row per route. An endpoint without a row fails the test. */
const ROWS: Readonly<Record<string, Row>> = {
  'POST /api/webhooks/cluster': { scope: 'ingest', body: payload('cluster-flat.json'), outsider: 200 },
  'POST /api/webhooks/metrics': { scope: 'ingest', body: alertGroup(1), outsider: 200 },
  'POST /api/webhooks/dashboard': { scope: 'ingest', body: alertGroup(1), outsider: 200 },
  'POST /api/webhooks/ci': { scope: 'ingest', body: payload('ci-pipeline-least.json'), outsider: 200 },
  'GET /api/services': { scope: 'read', outsider: 200 },
  'POST /api/services': { scope: 'write', body: SERVICE, outsider: 201 },
  'GET /api/services/:id': { scope: 'read', of: 'service', outsider: 404 },
  'GET /api/services/:id/changes': { scope: 'read', of: 'service', outsider: 404 },
  'GET /api/services/:id/history': { scope: 'read', of: 'service', outsider: 404 },
  'PATCH /api/services/:id': { scope: 'write', of: 'service', body: { name: 'x' }, outsider: 404 },
  'POST /api/incidents/:id/merge': { scope: 'write', of: 'incident', body: { into: UNKNOWN }, outsider: 404 },
  'POST /api/services/:id/merge': { scope: 'write', of: 'service', body: { into: UNKNOWN }, outsider: 404 },
  'GET /api/alerts': { scope: 'read', outsider: 200 },
  'GET /api/alerts/:id': { scope: 'read', of: 'alert', outsider: 404 },
  'PATCH /api/alerts/:id': { scope: 'write', of: 'alert', body: { status: 'resolved' }, outsider: 404 },
  'GET /api/events': { scope: 'read', outsider: 200 },
  'GET /api/events/:id': { scope: 'read', of: 'event', outsider: 404 },
  'GET /api/incidents': { scope: 'read', outsider: 200 },
  'POST /api/incidents': {
    scope: 'write',
    body: { title: 'x', serviceId: UNKNOWN, severity: 'info' },
    outsider: 422,
  },
  'GET /api/incidents/:id': { scope: 'read', of: 'incident', outsider: 404 },
  'PATCH /api/incidents/:id': { scope: 'write', of: 'incident', body: { status: 'resolved' }, outsider: 404 },
  'POST /api/incidents/:id/notes': { scope: 'write', of: 'incident', body: { text: 'x' }, outsider: 404 },
  'POST /api/incidents/:id/acknowledge-group': { scope: 'write', of: 'incident', outsider: 404 },
  'GET /api/incidents/:id/actions': { scope: 'read', of: 'incident', outsider: 404 },
  'POST /api/incidents/:id/actions': { scope: 'write', of: 'incident', body: { text: 'x' }, outsider: 404 },
  'PATCH /api/incidents/:id/actions/:actionId': {
    scope: 'write',
    of: 'incident',
    body: { state: 'done' },
    outsider: 404,
  },
  'DELETE /api/incidents/:id/actions/:actionId': { scope: 'write', of: 'incident', outsider: 404 },
  'GET /api/incidents/:id/suspects': { scope: 'read', of: 'incident', outsider: 404 },
  'GET /api/incidents/:id/postmortem': { scope: 'read', of: 'incident', outsider: 404, reader: 404 },
  'PATCH /api/incidents/:id/postmortem': { scope: 'write', of: 'incident', body: { summary: 'x' }, outsider: 404 },
  'GET /api/correlations': { scope: 'read', outsider: 200 },
  'PATCH /api/correlations/:id': { scope: 'write', of: 'correlation', body: { verdict: null }, outsider: 404 },
  'GET /api/reports/reliability': { scope: 'read', outsider: 200 },
  'GET /api/silences': { scope: 'read', outsider: 200 },
  'POST /api/silences': {
    scope: 'write',
    body: { matchers: [{ name: 'service', op: '=', value: 'x' }], endsAt: '2099-01-01', comment: 'x' },
    outsider: 201,
  },
  'GET /api/silences/:id': { scope: 'read', of: 'silence', outsider: 404 },
  'PATCH /api/silences/:id': { scope: 'write', of: 'silence', body: { comment: 'x' }, outsider: 404 },
  'DELETE /api/silences/:id': { scope: 'write', of: 'silence', outsider: 404 },
  'GET /api/channels': { scope: 'admin', outsider: 200 },
  'POST /api/channels': {
    scope: 'admin',
    body: { name: 'new', kind: 'slack', url: 'https://example.com/x' },
    outsider: 201,
  },
  'GET /api/channels/:id': { scope: 'admin', of: 'channel', outsider: 404 },
  'PATCH /api/channels/:id': { scope: 'admin', of: 'channel', body: { enabled: false }, outsider: 404 },
  'DELETE /api/channels/:id': { scope: 'admin', of: 'channel', outsider: 404 },
  'POST /api/channels/:id/test': { scope: 'admin', of: 'channel', outsider: 404 },
  'POST /api/channels/:id/rotate-secret': { scope: 'admin', of: 'channel', outsider: 404 },
  'GET /api/deliveries': { scope: 'read', outsider: 200 },
  'GET /api/sources': { scope: 'read', outsider: 200 },
  'GET /api/rejections': { scope: 'read', outsider: 200 },
  'GET /api/organization': { scope: 'read', outsider: 200 },
  'PATCH /api/organization': { scope: 'admin', body: { name: 'Renamed' }, outsider: 200 },
  'GET /api/tokens': { scope: 'admin', outsider: 200 },
  'POST /api/tokens': { scope: 'admin', body: { name: 'x', scopes: ['read'] }, outsider: 201 },
  'DELETE /api/tokens/:id': { scope: 'admin', of: 'token', outsider: 404 },
  'GET /healthz': { scope: null, outsider: 200 },
  'GET /readyz': { scope: null, outsider: 200 },
  'GET /metrics': { scope: 'read', outsider: 200 },
  'GET /openapi.json': { scope: null, outsider: 200 },
  'GET /docs': { scope: null, outsider: 200 },
}

const CALLERS = [
  'no token',
  'malformed',
  'unknown',
  'revoked',
  'expired',
  'ingest-only',
  'read-only',
  'outsider',
] as const

test('the matrix contains every route of the app and no others', (t) => {
  const { deps } = makeWorld(t)
  const app = createApp(deps, readHere(deps.db), makeServerContext())
  const pages = new Set(PAGES.map(({ method, path }) => `${method} ${path}`))
  const all = app.routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => `${method} ${path}`)
  // Alertmanager's API answers in its own form. tests/http/alertmanager checks its callers.
  const routes = all.filter((one) => !pages.has(one) && !one.includes(' /alertmanager/'))
  assert.deepEqual([...new Set(routes)].sort(), Object.keys(ROWS).sort())
})

for (const [route, row] of Object.entries(ROWS)) {
  test(`${route} responds to each caller as specified in its row`, async (t) => {
    const { request, path, headersOf } = acmesWorld(t, route, row)
    const [method = ''] = route.split(' ')
    const body = row.body === undefined ? {} : { body: row.body }
    const statuses: Record<string, number> = {}
    for (const caller of CALLERS) {
      const { status, headers } = await request(method, path, { headers: headersOf(caller), ...body })
      statuses[caller] = status
      assert.equal(headers.get('www-authenticate'), status === 401 ? 'Bearer' : null)
    }
    assert.deepEqual(statuses, Object.fromEntries(CALLERS.map((caller) => [caller, expectedStatus(row, caller)])))
  })
}

for (const [route, row] of Object.entries(ROWS).filter(([, { of }]) => of)) {
  test(`${route} responds the same for a foreign, a missing and a malformed id`, async (t) => {
    const { request, path, charlie } = acmesWorld(t, route, row)
    const [method = ''] = route.split(' ')
    const sent = { token: charlie.token, ...(row.body === undefined ? {} : { body: row.body }) }
    const paths = [path, ...[newUuid(), 'x', '%00'].map((id) => path.replace(/[0-9a-f-]{36}/, id))]
    const answers = await Promise.all(paths.map((one) => request(method, one, sent)))
    assert.deepEqual(new Set(answers.map(({ text }) => text)).size, 1, answers.map(({ text }) => text).join('\n'))
  })
}

function expectedStatus({ scope, outsider, reader = 200 }: Row, caller: (typeof CALLERS)[number]): number {
  if (scope === null) return 200
  if (caller === 'outsider') return outsider
  if (caller === 'ingest-only') return scope === 'ingest' ? 200 : 403
  if (caller !== 'read-only') return 401
  // Senders handle only 401.
  if (scope === 'ingest') return 401
  return scope === 'read' ? reader : 403
}

/** Creates Acme with one record of each kind, and returns each caller's headers. */
function acmesWorld(t: Parameters<typeof makeWorld>[0], route: string, { of }: Row) {
  const world = makeWorld(t)
  const { db, acme, charlie } = world
  const service = makeService(db, acme, 'cart')
  const tokenId = newUuid()
  const ids = {
    service: service.id,
    alert: makeAlert(db, acme, service).id,
    event: makeEvent(db, acme).id,
    incident: makeIncident(db, acme, service).id,
    correlation: makeCorrelation(db, acme, service, 0.5).id,
    silence: makeSilence(db, acme).id,
    channel: makeChannel(db, acme).id,
    token: tokenId,
  }
  const path = (route.split(' ')[1] ?? '').replace(':id', of ? ids[of] : '')
  const all = ['ingest', 'read', 'write', 'admin']
  const secrets = {
    malformed: 'not a token',
    unknown: `incmon_${'U'.repeat(43)}`,
    revoked: makeToken(db, acme, all, { revoked_at: NOON }),
    expired: makeToken(db, acme, all, { expires_at: NOON }),
    'ingest-only': makeToken(db, acme, ['ingest']),
    'read-only': makeToken(db, acme, ['read']),
    outsider: charlie.token,
  }
  const headersOf = (caller: (typeof CALLERS)[number]): Record<string, string> => {
    if (caller === 'no token') return {}
    const secret = secrets[caller]
    return path === '/api/webhooks/ci' ? { 'X-Ci-Token': secret } : { Authorization: `Bearer ${secret}` }
  }
  return { ...world, path, headersOf }
}
