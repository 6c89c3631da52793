/** A day at Acme, Basil and Charlie that leaves rows in every table: what the files of this folder hold. */
import assert from 'node:assert/strict'
import { createApp } from '../../../src/http/app.ts'
import type { Deps } from '../../../src/operations/deps.ts'
import { createIngest } from '../../../src/operations/ingest.ts'
import { readerOf } from '../../helpers/app.ts'
import { pruneAll } from '../../../src/operations/pruner.ts'
import { sweep } from '../../../src/operations/sweep.ts'
import { makeOrganization, makeToken, newUuid } from '../../helpers/factory.ts'
import { type Delivery, ended, fires, kube, metrics, pipeline, ran, scaled, TAG, timeOf, warning } from '../../helpers/deliveries.ts'
import { alert, grafana, watchdog } from '../../helpers/senders.ts'
import type { Db } from '../../../src/store/sqlite/open.ts'
import { listOrganizations } from '../../../src/store/organizations.ts'
import { addSpan, moveCursor } from '../../../src/store/retention/pruning.ts'
import { uuidBytes } from '../../../src/store/sqlite/uuid.ts'
import { makeSurroundings } from '../../helpers/surroundings.ts'

export type Member = 'Acme' | 'Basil' | 'Charlie'
export type Tokens = Readonly<Record<Member, string>>

type Call = { readonly as?: Member; readonly method: string; readonly path: string; readonly body?: unknown; readonly key?: string }
type Step = Call & { readonly at: number }

const HASH = '7c9f6d5b8'
const POD = `cart-${HASH}-x2kqp`
const IMAGE = `registry.example/shop/cart:${TAG}`
/** When it is over, in minutes after noon. */
const END = 90

/**
 * Lets it all happen to an empty database, through the interface alone.
 * @returns when it is over, and a token of each that may read everything
 */
export async function tell(db: Db): Promise<{ readonly now: number; readonly tokens: Tokens }> {
  const clock = { now: timeOf(0) }
  const deps: Deps = { db, now: () => clock.now, newId: newUuid, newSecret: () => 'S'.repeat(43), announce: () => {}, observe: () => {} }
  const tokens = castOf(db)
  const call = caller(deps, tokens)
  for (const step of received()) {
    sweepUntil(deps, clock, timeOf(step.at))
    await call(step)
  }
  for (const act of ACTS) {
    clock.now += 60_000
    await act(call)
  }
  sweepUntil(deps, clock, timeOf(END))
  prunePartly(deps)
  silenceOne(db, clock.now)
  return { now: clock.now, tokens }
}

function castOf(db: Db): Tokens {
  const made = (name: Member, plan: 'Free' | 'Team' | 'Pro') => {
    const scopes = ['ingest', 'read', 'write', 'admin']
    return makeToken(db, makeOrganization(db, name, plan), scopes, { name: `${name}'s token`, cluster: '' })
  }
  return { Acme: made('Acme', 'Team'), Basil: made('Basil', 'Free'), Charlie: made('Charlie', 'Pro') }
}

type Caller = (call: Call) => Promise<unknown>

/** Sends a request as one of them, and fails where it is not taken. */
function caller(deps: Deps, tokens: Tokens): Caller {
  const app = createApp(deps, createIngest(deps), readerOf(deps.db), makeSurroundings())
  return async ({ as = 'Acme', method, path, body, key }) => {
    const headers = {
      'Content-Type': 'application/json',
      ...(path.startsWith('/api/webhooks/ci') ? { 'X-Ci-Token': tokens[as] } : { Authorization: `Bearer ${tokens[as]}` }),
      ...(key === undefined ? {} : { 'Idempotency-Key': key }),
    }
    const answer = await app.request(path, { method, headers, ...(method === 'GET' ? {} : { body: JSON.stringify(body) }) })
    const text = await answer.text()
    assert.ok(answer.ok, `${method} ${path}: ${text}`)
    return JSON.parse(text)
  }
}

function sweepUntil(deps: Deps, clock: { now: number }, time: number): void {
  while (clock.now < time) {
    clock.now = Math.min(time, clock.now + 60_000)
    while (sweep(deps));
  }
}

/** A round of pruning, and what the next one is to look at. */
function prunePartly(deps: Deps): void {
  for (const _ of pruneAll(deps, { waits: () => {}, failed: () => {} }));
  for (const { key } of listOrganizations(deps.db)) {
    moveCursor(deps.db, key, 'events', { at: timeOf(0), id: 1 })
    addSpan(deps.db, key, { from: timeOf(0), to: timeOf(END) })
  }
}

/** What senders tell: a deploy with a bad image, its alerts, a Grafana board, a heartbeat, and an item without labels. */
function received(): Step[] {
  const jobs = [ran('test', 'success', 0, 2), ran('deploy', 'failed', 2, 8)]
  const acme: Delivery[] = [
    ...pipeline('shop/cart', { id: 812, from: 0, until: 8, status: 'failed', jobs }),
    scaled(2.5, 'cart', HASH, 0, 1),
    kube(2.6, 'Pulled', 'cart-5d4f8c7b9-abcde', { message: `Successfully pulled image "${IMAGE}" in 2.1s` }),
    kube(2.7, 'Failed', POD, { message: `Failed to pull image "${IMAGE}": not found`, count: 1 }),
    kube(5, 'BackOff', POD, { message: `Back-off pulling image "${IMAGE}"`, count: 9 }),
    { at: 6, source: 'metrics', body: watchdog({ startsAt: timeOf(0) }) },
    { at: 11, source: 'metrics', body: watchdog({ startsAt: timeOf(0) }) },
    metrics(18, [warning('KubePodNotReady', 17.5, { pod: POD }), { labels: null }]),
    metrics(23, [warning('KubePodNotReady', 17.5, { pod: POD }, 22)]),
    { at: 24, source: 'dashboard', body: grafana([alert('Checkout is slow', { service: 'checkout' }, { startsAt: timeOf(23) })]) },
    { ...metrics(25, [warning('LedgerSlow', 24, { deployment: 'ledger', namespace: 'bank' })]), key: 'ledger-1' },
  ]
  return [
    ...acme.map((delivery) => stepOf('Acme', delivery)),
    stepOf('Basil', metrics(26, [fires('CartDown', 25, { deployment: 'cart' })])),
    stepOf('Charlie', ended('shop/cart', { id: 7, from: 20, until: 27, status: 'failed', jobs })),
  ].sort((a, b) => a.at - b.at)
}

function stepOf(as: Member, { at, source, body, key }: Delivery): Step {
  return { at, as, method: 'POST', path: `/api/webhooks/${source}`, body, ...(key === undefined ? {} : { key }) }
}

type Page = { readonly data: readonly { readonly id: string }[] }

/** Of the incidents that of the deploy. */
async function oldestOf(call: Caller, path: string, as: Member = 'Acme'): Promise<string> {
  const { data } = (await call({ as, method: 'GET', path })) as Page
  return data.at(-1)?.id ?? assert.fail(`${path} is empty`)
}

/** What people do then, a minute after each other. */
const ACTS: readonly ((call: Caller) => Promise<unknown>)[] = [
  async (call) => {
    const services = (await call({ method: 'GET', path: '/api/services' })) as { id: string; name: string }[]
    const { id } = services.find(({ name }) => name === 'checkout') ?? assert.fail('there is no checkout')
    const aliases = [{ kind: 'ci-project', value: 'shop/storefront' }]
    await call({ method: 'PATCH', path: `/api/services/${id}`, body: { aliases } })
  },
  async (call) => patchIncident(call, { status: 'investigating' }),
  async (call) => {
    const path = `/api/incidents/${await oldestOf(call, '/api/incidents')}/notes`
    await call({ method: 'POST', path, body: { text: 'rolled back to the previous release' } })
  },
  async (call) => {
    const path = `/api/correlations/${await oldestOf(call, '/api/correlations')}`
    await call({ method: 'PATCH', path, body: { verdict: 'confirmed' } })
  },
  async (call) => patchIncident(call, { status: 'resolved' }),
  async (call) => {
    const path = `/api/incidents/${await oldestOf(call, '/api/incidents')}/postmortem`
    await call({ method: 'PATCH', path, body: { rootCause: 'The tag was never pushed.', lessons: { lucky: 'It was noon.' } } })
  },
  async (call) => patchIncident(call, { status: 'resolved' }, 'Basil'),
  async (call) => {
    const body = { settings: { 'auto-resolve': false } }
    await call({ as: 'Charlie', method: 'PATCH', path: '/api/organization', body })
  },
]

async function patchIncident(call: Caller, body: unknown, as: Member = 'Acme'): Promise<void> {
  await call({ as, method: 'PATCH', path: `/api/incidents/${await oldestOf(call, '/api/incidents', as)}`, body })
}

/** A silence that is over, and an alert that it once kept quiet. */
function silenceOne(db: Db, now: number): void {
  const silence = db.insert(
    db.sql.insertInto('silences').values({
      uuid: uuidBytes(newUuid()),
      organization_id: 1,
      matchers: JSON.stringify([{ name: 'service', op: '=', value: 'cart' }]),
      starts_at: now - 3_600_000,
      ends_at: now - 1_800_000,
      schedule: null,
      comment: 'Upgrade',
      created_by: 'on call',
      created_at: now - 3_600_000,
      changes_at: null,
    }),
  )
  const [alert] = db.all(db.sql.selectFrom('alerts').select('id').limit(1))
  db.run(db.sql.insertInto('silenced_alerts').values({ alert_id: alert?.id ?? 0, silence_id: silence }))
}
