/**
 * Scenarios: what senders tell of one piece of trouble, in the order of time, and what incmon must make of it.
 *
 * Each is run in order, every delivery received when it was sent, and then a hundred times shuffled, each time by
 * organizations that have seen nothing yet. The unrelated service `bank/ledger` of the same organization (Acme) and a
 * second organization (Charlie) with the same names have small troubles of their own all the while, and must keep
 * nothing of the scenario's.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Source } from '../../src/domain/event.ts'
import type { Receipt } from '../../src/operations/ingest.ts'
import { type Made, MINUTE, makeOrganization, NOON } from './factory.ts'
import { type Flow, makeFlow } from './flow.ts'
import { type AlertMore, alert, alertmanager, type Body, type KubernetesMore, kubernetesEvent } from './senders.ts'

/** One request; `at` in minutes after noon. */
export type Delivery = {
  readonly at: number
  readonly source: Source
  readonly body: unknown
  /** Acme where it is not given. */
  readonly as?: 'charlie'
  /** Shuffled too it comes after those of the same queue before it: its sender never overtakes itself there. */
  readonly queue?: string
  /** Shuffled too it is received at its own time, since the rhythm of receipt is what the scenario is about. */
  readonly onTime?: true
  /** Shuffled too it comes first: it is told long before the rest. */
  readonly longBefore?: true
  /** The sender's key of this delivery: a second copy bears the same. */
  readonly key?: string
}

/** What incmon must hold, all of it: what is not listed must not be there. The order does not matter. */
export type Outcome = {
  /** `namespace/name` */
  readonly services: readonly string[]
  /** `service: name, severity, status`, behind it `(resolution)` where it is over. */
  readonly alerts: readonly string[]
  /** `title, status, severity` */
  readonly incidents: readonly string[]
  /** `change → service: alert, band` */
  readonly links: readonly string[]
}

export type Scenario = {
  readonly deliveries: readonly (Delivery | readonly Delivery[])[]
  /** `until`: when it is looked at, in minutes after noon. `charlie`: where the second organization takes part. */
  readonly expect: Outcome & { readonly until: number; readonly charlie?: Outcome }
  /** What else must hold at the end of every run. */
  readonly check?: (flow: Flow, acme: Made) => void
}

const SHUFFLES = 100
/** Shuffled deliveries are received one after the other within this many minutes of the last one's time. */
const RECEIVED_WITHIN = 3

export function scenario(name: string, { deliveries, expect, check }: Scenario): void {
  const told = deliveries.flat().sort((a, b) => a.at - b.at)
  const all = [...told, ...noise(told[0]?.at ?? 0)].sort((a, b) => a.at - b.at)

  test(name, async (t) => {
    const flow = makeFlow(t)
    await run(flow, flow, all, { until: expect.until, step: 1, batch: 1 })
    assertOutcome(flow, flow, expect)
    check?.(flow, flow.acme)
  })

  test(`${name} — whatever the order of arrival`, async (t) => {
    const flow = makeFlow(t)
    // All in one transaction, which saves a fifth of the time.
    flow.deps.db.execute('BEGIN')
    const attempt = async (order: readonly Delivery[], batch: number) => {
      const cast = newCast(flow)
      await run(flow, cast, order, { until: expect.until, step: 10, batch })
      return cast
    }
    const inOrder = linksWithScores(flow, await attempt(all, 1))
    for (let seed = 1; seed <= SHUFFLES; seed += 1) {
      const order = received(all, seed)
      // One after the other, or by twos or threes in one commit, as they come in when there is much to do.
      const cast = await attempt(order, 1 + (seed % 3))
      try {
        assertOutcome(flow, cast, expect)
        assert.deepEqual(linksWithScores(flow, cast), inOrder)
        check?.(flow, cast.acme)
      } catch (error) {
        if (error instanceof Error) error.message = `seed ${seed}:\n${order.map(brief).join('\n')}\n${error.message}`
        throw error
      }
    }
    flow.deps.db.execute('COMMIT')
  })
}

type Cast = { readonly acme: Made; readonly charlie: Made }

let casts = 0

function newCast({ deps }: Flow): Cast {
  casts += 1
  const made = (name: string) => makeOrganization(deps.db, `${name} ${casts}`, 'Pro')
  return { acme: made('Acme'), charlie: made('Charlie') }
}

async function run(
  flow: Flow,
  cast: Cast,
  order: readonly Delivery[],
  { until, step, batch }: { readonly until: number; readonly step: number; readonly batch: number },
): Promise<void> {
  flow.clock.now = timeOf(order[0]?.at ?? 0)
  let open: Promise<Receipt>[] = []
  for (const { at, source, body, as = 'acme', key } of order) {
    // incmon sweeps every few seconds; between deliveries so close to each other that changes nothing.
    if (timeOf(at) - flow.clock.now >= MINUTE) {
      await committed(open.splice(0))
      flow.sweepUntil(timeOf(at), step * MINUTE)
    }
    const sending = { at: timeOf(at), as: cast[as], ...(key === undefined ? {} : { key }) }
    open = [...open, flow.send(source, body, sending)]
    if (open.length >= batch) await committed(open.splice(0))
  }
  await committed(open)
  flow.sweepUntil(timeOf(until), step * MINUTE)
}

async function committed(receipts: readonly Promise<Receipt>[]): Promise<void> {
  for (const { eventIds } of await Promise.all(receipts)) {
    assert.ok(eventIds.length > 0, 'every delivery has an item that can be used')
  }
}

/**
 * The deliveries in another order. Without any that must come on time, all are received shortly after the last one was
 * sent; else the others come at any time between when they were sent and the last one's time.
 */
function received(all: readonly Delivery[], seed: number): Delivery[] {
  const random = randomFrom(seed)
  const last = Math.max(...all.map(({ at }) => at))
  const fixed = all.filter(({ onTime }) => onTime)
  if (fixed.length > 0) {
    const free = all.filter(({ onTime }) => !onTime).map((one) => ({ ...one, at: one.at + random() * (last - one.at) }))
    return [...fixed, ...free].sort((a, b) => a.at - b.at)
  }
  const mixed = inQueues(shuffled(all, random), all)
  const order = [...mixed.filter(({ longBefore }) => longBefore), ...mixed.filter(({ longBefore }) => !longBefore)]
  return order.map((one, index) => ({ ...one, at: last + ((index + 1) * RECEIVED_WITHIN) / order.length }))
}

/** The places that a queue's deliveries have got, filled in the order in which they were sent. */
function inQueues(order: readonly Delivery[], sent: readonly Delivery[]): Delivery[] {
  const queues = new Map<string, Delivery[]>()
  for (const one of sent) if (one.queue) queues.set(one.queue, [...(queues.get(one.queue) ?? []), one])
  return order.map((one) => (one.queue && queues.get(one.queue)?.shift()) || one)
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, key: random() }))
    .sort((a, b) => a.key - b.key)
    .map(({ item }) => item)
}

/** Mulberry32: the same seed gives the same order on every machine. */
function randomFrom(seed: number): () => number {
  let state = seed * 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function assertOutcome(flow: Flow, cast: Cast, expect: Scenario['expect']): void {
  const nothing: Outcome = { services: [], alerts: [], incidents: [], links: [] }
  assert.deepEqual(
    { acme: outcomeOf(flow, cast.acme), charlie: outcomeOf(flow, cast.charlie) },
    { acme: withNoise(expect, LEDGER), charlie: withNoise(expect.charlie ?? nothing, CHARLIES_CART) },
  )
}

function withNoise({ services, alerts, incidents, links }: Outcome, own: Outcome): Outcome {
  return {
    services: [...new Set([...services, ...own.services])].sort(),
    alerts: [...alerts, ...own.alerts].sort(),
    incidents: [...incidents].sort(),
    links: [...links].sort(),
  }
}

function outcomeOf(flow: Flow, of: Made): Outcome {
  return {
    services: flow
      .services(of)
      .map(({ namespace, name }) => (namespace ? `${namespace}/${name}` : name))
      .sort(),
    alerts: flow
      .alerts(of)
      .map(({ service, name, severity, status, resolution }) => {
        return `${service}: ${name}, ${severity}, ${status}${resolution ? ` (${resolution})` : ''}`
      })
      .sort(),
    incidents: flow
      .incidents(of)
      .map(({ title, status, severity }) => `${title}, ${status}, ${severity}`)
      .sort(),
    links: links(flow, of)
      .map(({ change, service, name, band }) => `${change} → ${service}: ${name}, ${band}`)
      .sort(),
  }
}

function linksWithScores(flow: Flow, { acme }: Cast): string[] {
  return links(flow, acme)
    .map(({ change, kind, service, name, score, reasons, lag }) => {
      const codes = JSON.parse(reasons).map(({ code }: { code: string }) => code)
      return `${kind} ${change} → ${service}: ${name}, ${score} ${codes}, ${lag} s`
    })
    .sort()
}

function links({ deps: { db } }: Flow, of: Made) {
  return db.all(
    db.sql
      .selectFrom('correlations')
      .innerJoin('alerts', 'alerts.id', 'correlations.alert_id')
      .innerJoin('services', 'services.id', 'correlations.service_id')
      .select([
        'change_ref as change',
        'change_kind as kind',
        'correlations.score',
        'band',
        'reasons',
        'lag_seconds as lag',
      ])
      .select(['alerts.name', 'services.name as service'])
      .where('correlations.organization_id', '=', of.key),
  )
}

/** What a failed run tells of a delivery: when it was received, from whom, and the beginning of what it says. */
function brief({ at, source, body, as }: Delivery): string {
  const { reason, object_attributes, alerts } = body as Body
  return `${at.toFixed(1)} ${as ?? 'acme'} ${source} ${JSON.stringify(reason ?? object_attributes ?? alerts).slice(0, 90)}`
}

/** Small trouble in the same minutes: of another service, and of the same names in another organization. */
function noise(from: number): Delivery[] {
  const other = { receiver: 'platform' }
  const tests = [ran('test', 'failed', from, from + 2)]
  return [
    metrics(from + 1, [warning('LedgerSlow', from + 0.5, { deployment: 'ledger', namespace: 'bank' })], other),
    { ...metrics(from + 1, [warning('CartSlow', from + 0.5, { deployment: 'cart' })], other), as: 'charlie' },
    {
      ...ended('shop/cart', { id: 812, from, until: from + 2, status: 'failed', jobs: tests }),
      as: 'charlie',
    },
  ]
}

const LEDGER: Outcome = {
  services: ['bank/ledger'],
  alerts: ['ledger: LedgerSlow, warning, firing'],
  incidents: [],
  links: [],
}
const CHARLIES_CART: Outcome = {
  services: ['shop/cart'],
  alerts: ['cart: CartSlow, warning, firing', 'cart: PipelineFailed, info, firing'],
  incidents: [],
  links: [],
}

/** Minutes after noon as an instant. */
export function timeOf(minutes: number): number {
  return Math.round((NOON + minutes * MINUTE) / 1000) * 1000
}

/** A Kubernetes event, sent as it happened; the exporter posts each by itself, so that they may overtake each other. */
export function kube(at: number, reason: string, object: string, more: KubernetesMore = {}): Delivery {
  return { at, source: 'cluster', body: kubernetesEvent(reason, object, { at: timeOf(at), ...more }) }
}

/** A Deployment gives one of its ReplicaSets, `<name>-<hash>`, another size. */
export function scaled(at: number, deployment: string, hash: string, from: number, to: number): Delivery {
  const message = `Scaled ${to > from ? 'up' : 'down'} replica set ${deployment}-${hash} from ${from} to ${to}`
  return kube(at, 'ScalingReplicaSet', deployment, { kind: 'Deployment', message })
}

/** The same event, received later than it happened. */
export function late(delivery: Delivery, at: number): Delivery {
  return { ...delivery, at }
}

/** What Alertmanager sends of one group; within a group it never overtakes itself. */
export function metrics(at: number, alerts: readonly unknown[], more: Body = {}): Delivery {
  const body = alertmanager(alerts, more)
  return { at, source: 'metrics', body, queue: `${body.receiver} ${body.groupKey}` }
}

/** One alert that began at `since` and is over at `until`, in minutes after noon. */
export function fires(
  name: string,
  since: number,
  labels: Readonly<Record<string, string>> = {},
  until?: number,
): Body {
  const more: AlertMore = { startsAt: timeOf(since), ...(until === undefined ? {} : { endsAt: timeOf(until) }) }
  return alert(name, labels, more)
}

/** The same as a warning, as all workload rules of the Kubernetes mixin are. */
export function warning(name: string, since: number, labels: Readonly<Record<string, string>> = {}, until?: number) {
  return fires(name, since, { severity: 'warning', ...labels }, until)
}

export type Run = {
  readonly id: number
  /** From its creation to its end, in minutes after noon. */
  readonly from: number
  readonly until: number
  readonly status: string
  readonly jobs: readonly Body[]
  readonly sha?: string
}

/** The commit of every pipeline that names no other, and the beginning of it with which its image is tagged. */
export const SHA = '9b1c3d5e7f90123456789abcdef0123456789abc'
export const TAG = SHA.slice(0, 8)

/** All that GitLab tells of a pipeline: that it is created, that it runs, and its end; in any order, each by its own job. */
export function pipeline(project: string, run: Run): Delivery[] {
  const waiting = run.jobs.map((job) => ({ ...job, status: 'created', started_at: null, finished_at: null }))
  const running = run.jobs.map((job) => (job.started_at ? { ...job, status: 'running', finished_at: null } : job))
  return [
    hook(project, run, run.from, { status: 'pending', builds: waiting }),
    hook(project, run, (run.from + run.until) / 2, { status: 'running', builds: running }),
    ended(project, run),
  ]
}

/** The last of a pipeline's notifications alone. */
export function ended(project: string, run: Run): Delivery {
  return hook(project, run, run.until, { status: run.status, builds: run.jobs })
}

/** A job inside a pipeline, with its times in minutes after noon. `more`: `failure_reason`, `environment`. */
export function ran(name: string, status: string, from: number, until: number, more: Body = {}): Body {
  const reason = status === 'failed' ? 'script_failure' : null
  const times = { started_at: gitlabTime(from), finished_at: gitlabTime(until) }
  return { id: idOf(name), name, stage: name, status, allow_failure: false, failure_reason: reason, ...times, ...more }
}

/** A job that the pipeline never came to. */
export function skipped(name: string): Body {
  return { ...ran(name, 'skipped', 0, 0), started_at: null, finished_at: null }
}

function hook(project: string, run: Run, at: number, { status, builds }: { status: string; builds: readonly Body[] }) {
  const { id, from, until, sha = SHA } = run
  const over = status === run.status
  const body = {
    object_kind: 'pipeline',
    object_attributes: {
      ...{ id, ref: 'main', tag: false, sha, source: 'push', status, detailed_status: over ? status : 'en attente' },
      ...{ created_at: gitlabTime(from), finished_at: over ? gitlabTime(until) : null },
      ...{ duration: over ? Math.round((until - from) * 60) : null, variables: [] },
    },
    merge_request: null,
    project: { id: 9, name: 'A display name', path_with_namespace: project, default_branch: 'main' },
    builds,
  }
  return { at, source: 'ci' as const, body }
}

function gitlabTime(minutes: number): string {
  return new Date(timeOf(minutes)).toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}

function idOf(name: string): number {
  return [...name].reduce((sum, letter) => sum + letter.charCodeAt(0), 7000)
}
