/** The work of linking changes grows with their number, not with its square, and misses no link. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import * as fc from 'fast-check'
import { computeLinks } from '../../src/store/correlation/compute-links.ts'
import { linkHistoryOf } from '../../src/store/correlation/links.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline } from '../helpers/senders.ts'

const ALERTS = 20

type Change = (flow: Flow, id: number) => Promise<unknown>

const failedPipeline: Change = (flow, id) =>
  flow.send('ci', pipeline('failed', 'shop/cart', { id, at: NOON + 5 * MINUTE }), { at: NOON + 6 * MINUTE })

function rollout(flow: Flow, template: number, at: number, receivedAt = at) {
  const message = `Scaled up replica set cart-${String(template).padStart(10, '6d4cf56db6')} to 3`
  const times = { firstTimestamp: new Date(at).toISOString(), lastTimestamp: new Date(at).toISOString() }
  return flow.send('cluster', kubernetesEvent('ScalingReplicaSet', 'cart', { kind: 'Deployment', message, ...times }), {
    at: receivedAt,
  })
}

/** Counts the statements and the rows that they return. */
function counted(t: TestContext) {
  const work = { statements: 0, rows: 0 }
  const counting = <Args extends unknown[], Result>(call: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      const result = call(...args)
      work.statements += 1
      work.rows += Array.isArray(result) ? result.length : 0
      return result
    }
  }
  const flow = makeFlow(t, (db: Db) => ({
    ...db,
    all: counting(db.all) as Db['all'],
    run: counting(db.run) as Db['run'],
  }))
  return { flow, work }
}

/** Creates a service with firing alerts, and returns how many statements the given number of its changes needs. */
async function statementsFor(t: TestContext, changes: number, change: Change): Promise<number> {
  const { flow, work } = counted(t)
  const alerts = Array.from({ length: ALERTS }, (_, index) =>
    alert(`A${index}`, { service: 'cart', severity: 'warning' }, { startsAt: NOON + MINUTE }),
  )
  await flow.send('metrics', alertmanager(alerts), { at: NOON + 2 * MINUTE })
  work.statements = 0
  for (let id = 0; id < changes; id += 1) await change(flow, id)
  return work.statements
}

test('twice as many pipelines with the same start need at most about twice as many statements', async (t) => {
  const [few, many] = [await statementsFor(t, 10, failedPipeline), await statementsFor(t, 20, failedPipeline)]
  assert.ok(few > 0 && many <= 2.5 * few, `${few} statements for 10 pipelines, ${many} for 20`)
})

test('twice as many rollouts need at most about twice as many statements, beside pipelines', async (t) => {
  const both: Change = async (flow, id) => {
    await failedPipeline(flow, id)
    await rollout(flow, id, NOON + 10 * MINUTE + id * 1000)
  }
  const [few, many] = [await statementsFor(t, 10, both), await statementsFor(t, 20, both)]
  assert.ok(few > 0 && many <= 2.5 * few, `${few} statements for 10 rollouts, ${many} for 20`)
})

/** Returns the rows that a further event of a condition reads, after 100 events and this many rollouts. */
async function rowsBeside(t: TestContext, rollouts: number): Promise<number> {
  const { flow, work } = counted(t)
  for (let id = 0; id < rollouts; id += 1) await rollout(flow, id, NOON + id * 1000)
  const crash = (id: number) =>
    flow.send('cluster', crashLoop(`cart-6d4cf56db6-x2kqp`, { at: NOON + 5 * MINUTE + id * 100 }), {
      at: NOON + 6 * MINUTE,
    })
  for (let id = 100; id < 200; id += 1) await crash(id)
  work.rows = 0
  await crash(200)
  return work.rows
}

test('a further event of a condition reads the earlier ones once, beside any number of rollouts', async (t) => {
  const [few, many] = [await rowsBeside(t, 5), await rowsBeside(t, 45)]
  assert.ok(few > 100 && many <= few + 400, `${few} rows beside 5 rollouts, ${many} beside 45`)
})

/** Returns the links without ids and times, and without the number of observations, which grows without a new link. */
function linksOf({ deps: { db } }: Flow) {
  const columns = ['alert_id', 'change_kind', 'change_ref', 'score', 'reasons', 'lag_seconds'] as const
  return db.all(db.sql.selectFrom('correlations').select(columns).orderBy('alert_id').orderBy('change_ref'))
}

test('after any new pipelines, rollouts and alerts, computing all links again changes none', async (t) => {
  const step = fc.record({
    kind: fc.constantFrom('pipeline', 'rollout', 'alert'),
    which: fc.nat({ max: 5 }),
    wait: fc.nat({ max: 40 }),
    late: fc.nat({ max: 60 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
      const flow = makeFlow(t)
      let at = NOON
      await flow.send('metrics', alertmanager([alert('First', { service: 'cart' }, { startsAt: at })]), { at })
      for (const [id, { kind, which, wait, late }] of steps.entries()) {
        at += wait * MINUTE
        if (kind === 'rollout') await rollout(flow, which, at - late * MINUTE, at)
        else if (kind === 'pipeline') await flow.send('ci', pipeline('failed', 'shop/cart', { id, at }), { at })
        else await flow.send('metrics', alertmanager([alert(`A${id}`, { service: 'cart' }, { startsAt: at })]), { at })
      }
      const before = linksOf(flow)
      const { db } = flow.deps
      const service = await flow.deps.engine.read(flow.acme.key, (state) => [...state.services.values()][0])
      const of = { kind: 'changes', from: NOON - 60 * MINUTE, to: at + 60 * MINUTE } as const
      const due = { service: service ?? assert.fail('no service'), of, now: at }
      db.transaction(() => computeLinks(linkHistoryOf(db), [due], () => crypto.randomUUID()))
      assert.deepEqual(linksOf(flow), before)
    }),
    { numRuns: 60 },
  )
})
