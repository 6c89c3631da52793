/**
 * The number of SQL statements per delivery does not grow with the number of firing alerts, and is small for each new
 * alert.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Db } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, build, pipeline } from '../helpers/senders.ts'

type Flow = ReturnType<typeof counted>

/** Creates a flow that counts the statements executed by its store. */
function counted(t: TestContext) {
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
    first: counting(db.first) as Db['first'],
    run: counting(db.run) as Db['run'],
    insert: counting(db.insert) as Db['insert'],
  }))
  const statementsOf = async (work: () => Promise<unknown>) => {
    count = 0
    await work()
    return count
  }
  return { ...flow, statementsOf }
}

const fire = (name: string, services: number, from: number, count: number, severity = 'critical') =>
  Array.from({ length: count }, (_, index) => {
    const labels = { service: `s${(from + index) % services}`, severity, instance: `${name}-${from + index}` }
    return alert(name, labels, { startsAt: NOON, fingerprint: `${name}-${from + index}` })
  })

/** Opens an incident for each of 50 services, then copies their alerts in the file until `more` others are firing. */
async function fill(flow: Flow, more: number): Promise<void> {
  const { db, engine } = flow.deps
  await flow.send('metrics', alertmanager(fire('Before', 50, 0, 50)))
  const own = new Map([
    ['id', 'alerts.id + 50 * copy'],
    ['uuid', 'randomblob(16)'],
    ['fingerprint', "fingerprint || '-' || copy"],
    ['logical_key', "logical_key || '-' || copy"],
  ])
  const known = Object.keys(db.first(db.sql.selectFrom('alerts').selectAll()) ?? {})
  const values = known.map((name) => own.get(name) ?? `alerts.${name}`)
  db.execute(`WITH RECURSIVE copies (copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < ${more / 50})
    INSERT INTO alerts (${known}) SELECT ${values} FROM copies, alerts WHERE ${more} > 0`)
  await engine.reload()
  assert.equal(await engine.read(flow.acme.key, (state) => state.firing.size()), 50 + more)
}

/** Returns the number of statements for 20 repeated and for 20 new alerts while this many others are firing. */
async function statementsBeside(t: TestContext, active: number): Promise<readonly [number, number]> {
  const flow = counted(t)
  await fill(flow, active)
  const send = (name: string) => () => flow.send('metrics', alertmanager(fire(name, 50, 0, 20)), { at: NOON + MINUTE })
  await send('Warm')()
  const repeated = await flow.statementsOf(send('Warm'))
  return [repeated, await flow.statementsOf(send('New'))]
}

test('a delivery takes the same statements alongside 0, 1,000 and 40,000 active alerts', async (t) => {
  const few = await statementsBeside(t, 0)
  assert.deepEqual(await statementsBeside(t, 1_000), few)
  assert.deepEqual(await statementsBeside(t, 40_000), few)
})

test('a critical alert for a service with an incident adds fewer than ten statements', async (t) => {
  const flow = counted(t)
  await fill(flow, 1_000)
  const statements = await flow.statementsOf(() => flow.send('metrics', alertmanager(fire('New', 50, 0, 500))))
  assert.ok(statements / 500 < 10, `${statements / 500} statements for each alert`)
})

test('a request that moves the start of an alert many times links its deploys once', async (t) => {
  const flow = counted(t)
  for (let id = 0; id < 5; id += 1) {
    const jobs = [build('deploy', 'success')]
    await flow.send('ci', pipeline('success', 'shop/s0', { id, at: NOON - (id + 1) * MINUTE, jobs }))
  }
  const moves = (count: number, from: number) =>
    Array.from({ length: count }, (_, index) =>
      alert('Down', { service: 's0' }, { startsAt: from - index * 1_000, fingerprint: 'down' }),
    )
  await flow.send('metrics', alertmanager(moves(1, NOON)))
  const few = await flow.statementsOf(() => flow.send('metrics', alertmanager(moves(2, NOON - 1_000))))
  const many = await flow.statementsOf(() => flow.send('metrics', alertmanager(moves(20, NOON - 5_000))))
  // Each move is an event of its own, but computing links would take more than 50 statements.
  assert.ok(many - few < 18 * 10, `${few} statements for 2 moves, ${many} for 20`)
})
