/** The work of linking pipelines grows with their number, not with its square. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Db } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, pipeline } from '../helpers/senders.ts'

const ALERTS = 20

/** Creates a service with firing alerts, and returns how many statements the given number of its pipelines needs. */
async function statementsFor(t: TestContext, pipelines: number): Promise<number> {
  let count = 0
  const counting = <Args extends unknown[], Result>(call: (...args: Args) => Result) => {
    return (...args: Args): Result => {
      count += 1
      return call(...args)
    }
  }
  const flow = makeFlow(t, (db: Db) => ({
    ...db,
    all: counting(db.all) as Db['all'],
    run: counting(db.run) as Db['run'],
  }))
  const alerts = Array.from({ length: ALERTS }, (_, index) =>
    alert(`A${index}`, { service: 'cart', severity: 'warning' }, { startsAt: NOON + MINUTE }),
  )
  await flow.send('metrics', alertmanager(alerts), { at: NOON + 2 * MINUTE })
  count = 0
  for (let id = 0; id < pipelines; id += 1)
    await flow.send('ci', pipeline('failed', 'shop/cart', { id, at: NOON + 5 * MINUTE }), { at: NOON + 6 * MINUTE })
  return count
}

test('twice as many pipelines with the same start need at most about twice as many statements', async (t) => {
  const [few, many] = [await statementsFor(t, 10), await statementsFor(t, 20)]
  assert.ok(few > 0 && many <= 2.5 * few, `${few} statements for 10 pipelines, ${many} for 20`)
})
