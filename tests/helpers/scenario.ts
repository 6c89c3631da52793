/**
 * Scenarios: requests from senders about one problem in chronological order, and the records that must result.
 *
 * Each scenario runs once in order, with every delivery received when it was sent, and then shuffled many times, each
 * time with new organizations. An unrelated service (`bank/ledger`) in the same organization (Acme) and a second
 * organization (Charlie) with the same names have minor problems of their own, and must not be affected.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Receipt } from '../../src/engine/changes/receive/receipt.ts'
import { received } from './arrival.ts'
import { type Delivery, ended, fires, metrics, ran, timeOf, warning } from './deliveries.ts'
import { type Made, MINUTE, makeOrganization } from './factory.ts'
import { type Flow, makeFlow } from './flow.ts'
import { inCi } from './in-ci.ts'
import type { Body } from './senders.ts'

/** All records that must exist afterwards, in any order. No other record can exist. */
export type Outcome = {
  /** `namespace/name` */
  readonly services: readonly string[]
  /** `service: name, severity, status`, followed by `(resolution)` if it has ended. */
  readonly alerts: readonly string[]
  /** `title, status, severity` */
  readonly incidents: readonly string[]
  /** `change → service: alert, band` */
  readonly links: readonly string[]
}

export type Scenario = {
  readonly deliveries: readonly (Delivery | readonly Delivery[])[]
  /**
   * `until` is when the outcome is checked, in minutes after noon. `charlie` is set if the second organization takes
   * part.
   */
  readonly expect: Outcome & { readonly until: number; readonly charlie?: Outcome }
  /** Additional checks at the end of each run. */
  readonly check?: (flow: Flow, acme: Made) => void
}

const SHUFFLES = inCi(30, 6)

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
    // A single transaction saves a fifth of the time.
    flow.deps.db.execute('BEGIN')
    const attempt = async (order: readonly Delivery[], batch: number) => {
      const cast = newCast(flow)
      await run(flow, cast, order, { until: expect.until, step: 10, batch })
      return cast
    }
    const inOrder = linksWithScores(flow, await attempt(all, 1))
    for (let seed = 1; seed <= SHUFFLES; seed += 1) {
      const order = received(all, seed)
      // One at a time, or two or three per commit, as happens under load.
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
    // incmon sweeps every second. Between deliveries this close together, a sweep changes nothing.
    if (timeOf(at) - flow.clock.now >= MINUTE) {
      await committed(open.splice(0))
      await flow.sweepUntil(timeOf(at), step * MINUTE)
    }
    const sending = { at: timeOf(at), as: cast[as], ...(key === undefined ? {} : { key }) }
    open = [...open, flow.send(source, body, sending)]
    if (open.length >= batch) await committed(open.splice(0))
  }
  await committed(open)
  await flow.sweepUntil(timeOf(until), step * MINUTE)
}

async function committed(receipts: readonly Promise<Receipt>[]): Promise<void> {
  for (const { eventIds } of await Promise.all(receipts)) {
    assert.ok(eventIds.length > 0, 'every delivery has an item that can be used')
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

/** Describes a delivery for a failure message: its time of receipt, its sender, and the start of its body. */
function brief({ at, source, body, as }: Delivery): string {
  const { reason, object_attributes, alerts } = body as Body
  return `${at.toFixed(1)} ${as ?? 'acme'} ${source} ${JSON.stringify(reason ?? object_attributes ?? alerts).slice(0, 90)}`
}

/**
 * Adds minor problems in the same period: of another service, and of a service with the same name in another
 * organization.
 */
function noise(from: number): Delivery[] {
  const other = { receiver: 'platform' }
  // A receiver that has reported the end of an alert is expected to report all ends, so its silence ends nothing.
  const end = fires('InfoInhibitor', from, {}, from + 0.5)
  const tests = [ran('test', 'failed', from, from + 2)]
  return [
    metrics(from + 1, [warning('LedgerSlow', from + 0.5, { deployment: 'ledger', namespace: 'bank' }), end], other),
    { ...metrics(from + 1, [warning('CartSlow', from + 0.5, { deployment: 'cart' }), end], other), as: 'charlie' },
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
