/** Repeated failures are logged once and counted, and the recovery is logged too. */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import { createLog } from '../../src/server/log.ts'
import { watchRepeated } from '../../src/server/repeated.ts'
import { startPruning, startSweeping } from '../../src/server/timers.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { makeWorld } from '../helpers/app.ts'
import { eventually } from '../helpers/server.ts'

const DAMAGE = Object.assign(new Error('malformed'), { code: 'SQLITE_CORRUPT' })

function watched() {
  const { log, said } = logged()
  return { ...watchRepeated(log, 'the sweep'), said }
}

/** Returns a log and its messages, with the counts that they mention. */
function logged() {
  const lines: string[] = []
  const log = createLog('info', (line) => void lines.push(line))
  const said = () => lines.map((line) => JSON.parse(line)).map(({ message, times }) => [message, times])
  return { log, lines, said }
}

describe('a failure', () => {
  test('is logged once, then with the number of repeats', () => {
    const { failed, tell, said } = watched()
    for (let time = 0; time < 12; time += 1) failed(DAMAGE)
    tell()
    failed(DAMAGE)
    tell()
    assert.deepEqual(said(), [
      ['the sweep failed', undefined],
      ['the sweep failed again', 11],
      ['the sweep failed again', 1],
    ])
  })

  test('of another kind is also logged', () => {
    const { failed, tell, said } = watched()
    for (const error of [DAMAGE, new Error('a bug'), DAMAGE]) failed(error)
    tell()
    assert.deepEqual(said(), [
      ['the sweep failed', undefined],
      ['the sweep failed', undefined],
      ['the sweep failed again', 1],
    ])
  })

  test('is logged again after a pause', () => {
    const { failed, tell, said } = watched()
    failed(DAMAGE)
    tell()
    tell()
    failed(DAMAGE)
    assert.deepEqual(said(), Array(2).fill(['the sweep failed', undefined]))
  })

  test('is logged again when it ends, with the number of repeats', () => {
    const { failed, worked, tell, said } = watched()
    for (const happened of [worked, () => failed(DAMAGE), () => failed(DAMAGE), worked, worked, tell]) happened()
    assert.deepEqual(said(), [
      ['the sweep failed', undefined],
      ['the sweep works again', 2],
    ])
  })
})

/** Sweeps the world's store every millisecond. Each sweep writes, as if something was due. */
function sweeping(t: TestContext) {
  const { db, deps } = makeWorld(t)
  const { log, lines, said } = logged()
  let rounds = 0
  const sweep = async () => {
    rounds += 1
    db.execute('UPDATE organizations SET name = name')
    return deps.engine.sweep()
  }
  const { tell, stop } = startSweeping({ ...deps, engine: { ...deps.engine, sweep } }, log, 1)
  t.after(stop)
  const afterRounds = (more: number, from = rounds) =>
    eventually(
      async () => rounds,
      (count) => count > from + more,
    )
  return { db, lines, said, tell, afterRounds }
}

test('a failing sweep logs once what to do, and keeps running', async (t) => {
  const { db, lines, said, tell, afterRounds } = sweeping(t)
  db.pragma('query_only = ON')
  await afterRounds(3)
  tell()
  db.pragma('query_only = OFF')
  await afterRounds(3)
  const told = said().map(([message]) => message)
  assert.deepEqual(told, ['the sweep failed', 'the sweep failed again', 'the sweep works again'])
  assert.match(JSON.parse(lines[0] ?? '').remedy, /^cannot write to the database: check the owner/)
})

test('pruning waits for a lock and logs one line without a stack', async (t) => {
  const { db, deps } = makeWorld(t)
  const { log, lines, said } = logged()
  db.pragma('busy_timeout = 1')
  const other = openStore(db.file)
  t.after(() => other.close())
  other.execute('BEGIN IMMEDIATE')
  t.after(startPruning(deps, log, { first: 1, every: 60_000, pause: 1, retry: 1 }))
  await eventually(async () => lines.length, Boolean)
  other.execute('ROLLBACK')
  await eventually(
    async () => lines.length,
    (count) => count > 1,
  )
  const [{ time, ...line }] = lines.map((one) => JSON.parse(one))
  assert.deepEqual(line, {
    level: 'error',
    message: 'the pruning failed',
    cause: 'SqliteError: database is locked',
    remedy: 'another process is writing to the database: try again, or stop that process',
  })
  assert.deepEqual(
    said().map(([message]) => message),
    ['the pruning failed', 'the pruning works again'],
  )
})

test('after the clock has jumped by days, pruning deletes nothing, and logs once why', async (t) => {
  const { deps } = makeWorld(t)
  const { log, said } = logged()
  let now = deps.now()
  let rounds = 0
  const jumping = {
    ...deps,
    now: () => {
      rounds += 1
      return now
    },
  }
  t.after(startPruning(jumping, log, { first: 1, every: 1, pause: 1, retry: 1 }))
  now += 3 * 86_400_000
  await eventually(
    async () => rounds,
    (count) => count > 5,
  )
  assert.deepEqual(said(), [
    [
      'the clock has moved forward by more than an hour, so nothing is deleted for a day, in case the clock is wrong: check it',
      undefined,
    ],
  ])
})
