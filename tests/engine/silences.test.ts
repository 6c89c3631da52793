/** How much work the engine does when a silence is created, starts or ends while many alerts are firing. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import { splitServices } from '../../src/engine/changes/evaluate.ts'
import { createSilence, type WantedSilence } from '../../src/engine/changes/silences/silences.ts'
import { createIndex, createJournal } from '../../src/engine/state/journal.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { type Made, MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const SERVICES = 250
const HOUR = 60 * MINUTE

/** Creates a flow that counts how often a service's labels are read. */
async function start(t: TestContext) {
  const reads = { labels: 0, fails: false }
  const counting = (db: Db): Db => {
    const all = (...args: Parameters<Db['all']>) => {
      const [query] = args
      if ('text' in query && /^select "id", "labels" from "alerts"/.test(query.text)) {
        reads.labels += 1
        if (reads.fails) throw Object.assign(new Error('cannot open the file'), { code: 'SQLITE_CANTOPEN' })
      }
      return db.all(...args)
    }
    return { ...db, all: all as Db['all'] }
  }
  const flow = makeFlow(t, counting)
  const { deps, acme, send } = flow
  const fire = (name: string, services = SERVICES, as = acme, more = {}) => {
    const one = (_: unknown, n: number) =>
      alert(name, { deployment: `s${n}`, team: 'shop', severity: 'warning', ...more }, { startsAt: NOON })
    return send('metrics', alertmanager(Array.from({ length: services }, one)), { as })
  }
  /** Creates a silence. Returns how often the decision was made. */
  const silence = async (text: string, more: Partial<WantedSilence> = {}, as: Made = acme) => {
    let calls = 0
    await deps.engine.run(as.key, (ctx, now) => {
      calls += 1
      const period = { startsAt: now, endsAt: now + HOUR, schedule: null }
      createSilence(ctx, { matchers: parseMatchers(text), comment: 'Upgrade', ...period, ...more }, 'anna', now)
    })
    return calls
  }
  const silencedOf = (as: Made = acme) =>
    deps.engine.read(as.key, ({ alerts }) => [...alerts.values()].filter((one) => one.silencedBy.length > 0).length)
  await fire('Slow')
  return { ...flow, reads, fire, silence, silencedOf }
}

const sweepAll = async ({ deps }: Awaited<ReturnType<typeof start>>) => {
  while (await deps.engine.sweep());
}

test('a silence over many services loads its labels once, for a limited number of services', async (t) => {
  const flow = await start(t)
  assert.equal(await flow.silence('team="shop"'), 1, 'reading labels does not repeat the decision')
  assert.equal(flow.reads.labels, 100)
  assert.equal(await flow.silencedOf(), 100)
  await sweepAll(flow)
  assert.deepEqual([await flow.silencedOf(), flow.reads.labels], [SERVICES, SERVICES])
})

test('a silence that starts during the sweep is applied in limited steps', async (t) => {
  const flow = await start(t)
  await flow.silence('team="shop"', { startsAt: NOON + MINUTE })
  await sweepAll(flow)
  flow.clock.now = NOON + MINUTE
  const steps: number[] = []
  for (let more = true; more; steps.push(await flow.silencedOf())) more = await flow.deps.engine.sweep()
  assert.deepEqual(steps, [100, 200, SERVICES])
})

test('a silence that ends needs no labels, and ends in limited steps', async (t) => {
  const flow = await start(t)
  await flow.silence('team="shop"', { endsAt: NOON + MINUTE })
  await sweepAll(flow)
  flow.reads.labels = 0
  flow.clock.now = NOON + MINUTE
  assert.equal(await flow.deps.engine.sweep(), true)
  assert.equal(await flow.silencedOf(), SERVICES - 100)
  await sweepAll(flow)
  assert.deepEqual([await flow.silencedOf(), flow.reads.labels], [0, 0])
})

test('new alerts under an active silence load no labels of older alerts', async (t) => {
  const flow = await start(t)
  await flow.silence('team="web"')
  await sweepAll(flow)
  flow.reads.labels = 0
  await flow.fire('Late')
  await flow.fire('Failed', 1, flow.acme, { team: 'web' })
  await sweepAll(flow)
  assert.deepEqual([await flow.silencedOf(), flow.reads.labels], [1, 0])
})

test('the labels are read again after a restart', async (t) => {
  const flow = await start(t)
  await flow.silence('team="shop"')
  await sweepAll(flow)
  await flow.deps.engine.reload()
  flow.reads.labels = 0
  await flow.fire('Late', 1)
  assert.deepEqual([await flow.silencedOf(), flow.reads.labels], [SERVICES + 1, 1])
})

test('an alert that ended before a silence and fires again is silenced', async (t) => {
  const flow = await start(t)
  const one = alert(
    'Other',
    { deployment: 's7', team: 'shop', severity: 'warning' },
    { startsAt: NOON, fingerprint: 'one' },
  )
  const endsAt = new Date(NOON + 1).toISOString()
  await flow.send('metrics', alertmanager([one]))
  await flow.fire('Late')
  await flow.send('metrics', alertmanager([{ ...one, status: 'resolved', endsAt }]), { at: NOON + MINUTE })
  await flow.silence('team="shop"')
  await sweepAll(flow)
  const before = await flow.silencedOf()
  const again = { ...one, startsAt: new Date(NOON + 2 * MINUTE).toISOString() }
  await flow.send('metrics', alertmanager([again]), { at: NOON + 2 * MINUTE })
  assert.deepEqual([before, await flow.silencedOf()], [2 * SERVICES, 2 * SERVICES + 1])
})

test('if the labels cannot be read, nothing is changed', async (t) => {
  const flow = await start(t)
  flow.reads.fails = true
  await assert.rejects(() => flow.silence('team="shop"'), { code: 'unavailable' })
  assert.equal(await flow.deps.engine.read(flow.acme.key, ({ silences }) => silences.size()), 0)
  flow.reads.fails = false
  assert.equal(await flow.silence('team="shop"'), 1)
})

test("a silence of one organization is not compared with another organization's alerts", async (t) => {
  const flow = await start(t)
  await flow.fire('Slow', 3, flow.charlie)
  await flow.silence('team="shop"', {}, flow.charlie)
  await sweepAll(flow)
  const found = [await flow.silencedOf(), await flow.silencedOf(flow.charlie), flow.reads.labels]
  assert.deepEqual(found, [0, 3, 3])
})

test('services with many alerts are evaluated in smaller steps, at least one per step', () => {
  const alertsOfService = createIndex<number, number>(createJournal())
  for (const service of [1, 2, 3]) for (let n = 0; n < 2_000; n += 1) alertsOfService.add(service, service * 10_000 + n)
  for (let n = 0; n < 9_000; n += 1) alertsOfService.add(4, n)
  assert.deepEqual(splitServices({ alertsOfService }, [1, 2, 3]), { first: [1, 2], rest: [3] })
  assert.deepEqual(splitServices({ alertsOfService }, [4, 1]), { first: [4], rest: [1] })
  assert.deepEqual(splitServices({ alertsOfService }, []), { first: [], rest: [] })
})

test('what each service stores of the silences that it was compared with does not grow with their number', async (t) => {
  const flow = await start(t)
  for (let n = 0; n < 100; n += 1) await flow.silence(`team="other-${n}"`)
  await sweepAll(flow)
  const stored = await flow.deps.engine.read(flow.acme.key, ({ compared }) => [...compared.values()])
  assert.equal(stored.length, SERVICES)
  assert.ok(JSON.stringify(stored).length < 100 * SERVICES, `${JSON.stringify(stored).length} characters`)
})

const HARD = 60

/** Fires alerts of one service with long labels, after a silence and expressions that are slow to compare with them. */
async function fireHard(t: TestContext, silenced: string) {
  const flow = await start(t)
  await flow.silence(silenced)
  for (let n = 0; n < 6; n += 1) await flow.silence(`x=~"(a|b|ab)*c${n}"`)
  await sweepAll(flow)
  const one = (n: number) =>
    alert('Down', { deployment: 'hard', instance: `${n}`, x: 'a'.repeat(4_000), severity: 'critical' })
  await flow.send('metrics', alertmanager(Array.from({ length: HARD }, (_, n) => one(n))))
  const aheadIn = () =>
    flow.deps.engine.read(flow.acme.key, ({ services, compared }) =>
      [...services.values()].flatMap(({ name, rowId }) =>
        name === 'hard' ? (compared.get(rowId)?.ahead.size ?? 0) : [],
      ),
    )
  return { ...flow, aheadIn }
}

test('alerts of one service that are slow to compare are compared in several batches', async (t) => {
  const flow = await fireHard(t, 'team="other"')
  const counts = [await flow.aheadIn()]
  assert.equal(flow.incidents().length, 0, 'the service is evaluated once all of its alerts are compared')
  while (await flow.deps.engine.sweep()) counts.push(await flow.aheadIn())
  assert.ok(counts.length >= 2, `${counts}`)
  assert.ok(
    counts.flat().every((count) => count < HARD / 2 + counts.length * 30),
    `${counts}`,
  )
  assert.deepEqual([await flow.aheadIn(), flow.incidents().length], [[0], 1])
})

test('a silence that matches them covers all of them, and no incident opens in between', async (t) => {
  const flow = await fireHard(t, 'deployment="hard"')
  await sweepAll(flow)
  assert.deepEqual([await flow.silencedOf(), flow.incidents().length], [HARD, 0])
})

test('an alert that fires again while others wait to be compared is compared again, and the others are not', async (t) => {
  const flow = await fireHard(t, 'team="other"')
  await sweepAll(flow)
  const before = flow.reads.labels
  const again = { deployment: 'hard', instance: '7', x: 'b', severity: 'critical' }
  await flow.send('metrics', alertmanager([alert('Down', again, { endsAt: NOON + MINUTE })]))
  await flow.send('metrics', alertmanager([alert('Down', again, { startsAt: NOON + 2 * MINUTE })]))
  await sweepAll(flow)
  assert.ok(flow.reads.labels - before <= 2, `${flow.reads.labels - before}`)
})
