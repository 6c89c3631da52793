/**
 * Deliveries with very many items: stored in chunks with other requests in between, with the same result as if stored
 * at once.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { withEngine } from '../../src/actions/deps.ts'
import { payloadOf } from '../../src/store/payloads.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, type Body, watchdog } from '../helpers/senders.ts'

const pods = (count: number) =>
  Array.from({ length: count }, (_, i) => alert('PodDown', { pod: `job-${i}` }, { startsAt: NOON }))
const MANY = alertmanager(pods(1200))

const countRows = ({ deps: { db } }: Flow, table: 'events' | 'alerts' | 'rejections' | 'incidents') =>
  db.first(db.sql.selectFrom(table).select((eb) => eb.fn.countAll<number>().as('n')))?.n

const senderOf = ({ deps: { db } }: Flow) => db.first(db.sql.selectFrom('senders').selectAll())

/** Runs `happens` when the first chunk is on disk. */
function afterFirstPart(flow: Flow, happens: () => void): void {
  const { observe } = flow.deps
  flow.deps.observe = (batch) => {
    observe(batch)
    flow.deps.observe = observe
    happens()
  }
}

/**
 * Makes it impossible to store an event of this name, and therefore its delivery, until the returned function is
 * called.
 */
function poison({ deps: { db } }: Flow, pod: string): () => void {
  db.execute(`CREATE TRIGGER poison BEFORE INSERT ON events WHEN new.object LIKE '%${pod}%' OR new.text LIKE '%${pod}%'
    BEGIN SELECT RAISE(ABORT, 'poison'); END`)
  return () => db.execute('DROP TRIGGER poison')
}

/** Locks the database from another process when the first chunk is on disk, for longer than anyone waits. */
function holdAfterFirstPart(t: TestContext, flow: Flow): () => void {
  const other = openStore(flow.file, { busyMs: 0 })
  t.after(() => other.close())
  afterFirstPart(flow, () => {
    other.execute('BEGIN IMMEDIATE')
    setImmediate(() => {
      flow.clock.now += 5_001
    })
  })
  return () => other.execute('ROLLBACK')
}

test('its receipt lists each item in order', async (t) => {
  const flow = makeFlow(t)
  const { eventIds, rejected, isRepeat } = await flow.send('metrics', MANY)
  assert.deepEqual([new Set(eventIds).size, rejected, isRepeat], [1200, [], false])
  const ordered = flow.deps.db.all(flow.deps.db.sql.selectFrom('events').select(payloadOf().as('body')).orderBy('id'))
  assert.deepEqual(
    ordered.map(({ body }) => JSON.parse(body ?? '').labels.pod),
    pods(1200).map((_, i) => `job-${i}`),
  )
})

test('a small request in between is answered first', async (t) => {
  const flow = makeFlow(t)
  const answered: string[] = []
  await Promise.all([
    flow.send('metrics', MANY).then(() => answered.push('Acme, many')),
    flow.send('metrics', alertmanager([alert('A')])).then(() => answered.push('Acme')),
    flow
      .send('cluster', { podName: 'p', reason: 'BackOff' }, { as: flow.charlie })
      .then(() => answered.push('Charlie')),
  ])
  assert.deepEqual(answered.toSorted(), ['Acme', 'Acme, many', 'Charlie'])
  assert.equal(answered.at(-1), 'Acme, many')
  assert.equal(flow.events(flow.charlie).length, 1)
})

test('invalid items are listed by index and stored once', async (t) => {
  const flow = makeFlow(t)
  const items = [...Array(1100).fill({ labels: 7 }), ...pods(2), 'none']
  const { eventIds, rejected } = await flow.send('metrics', alertmanager(items))
  assert.equal(eventIds.length, 2)
  assert.deepEqual(
    rejected.map(({ index }) => index),
    [...Array(1100).keys(), 1102],
  )
  assert.equal(countRows(flow, 'rejections'), 1101)
})

test('its sender, group and heartbeat are counted once', async (t) => {
  const flow = makeFlow(t)
  const items = [...pods(1200), ...(watchdog({ startsAt: NOON }).alerts as Body[]), { labels: 7 }]
  for (const minutes of [0, 2, 4]) await flow.send('metrics', alertmanager(items), { at: NOON + minutes * MINUTE })
  const { events, rejections, gaps, longest_gap, heartbeat_gap } = senderOf(flow) ?? assert.fail()
  assert.deepEqual([events, rejections], [3 * 1201, 3])
  assert.deepEqual([gaps, longest_gap, heartbeat_gap], [2, 2 * MINUTE, 2 * MINUTE])
  assert.ok(flow.alerts().every(({ occurrences }) => occurrences === 3))
})

test('an end anywhere in it applies from its first item on', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([...pods(1200), alert('Over', {}, { endsAt: NOON })]))
  await flow.sweepUntil(NOON + 11 * 60 * MINUTE, 60 * MINUTE)
  assert.equal(flow.alerts().filter(({ status }) => status === 'firing').length, 1200)
})

/** New alerts, ends, repeats and conditions of many services in one body. */
const MIXED = alertmanager(
  Array.from({ length: 1500 }, (_, i) => {
    const labels = {
      deployment: `svc-${i % 40}`,
      pod: `svc-${i % 40}-${i % 700}`,
      severity: i % 3 ? 'warning' : 'critical',
    }
    const times = i % 5 === 0 ? { endsAt: NOON - MINUTE } : { startsAt: NOON - 60 * MINUTE + i * 1000 }
    return i % 50 === 7 ? i : alert(`Rule${i % 11}`, labels, times)
  }),
)

function recordOf(flow: Flow) {
  return {
    alerts: flow.alerts().map(({ service, name, status, severity, starts_at, ends_at, occurrences, labels }) => {
      return { service, name, status, severity, starts_at, ends_at, occurrences, labels }
    }),
    services: flow.services().map(({ name, status, score }) => ({ name, status, score })),
    incidents: flow
      .incidents()
      .map(({ service_id, title, status, started_at }) => ({ service_id, title, status, started_at }))
      // A chunk is evaluated before the next one is stored, so the numbers of incidents depend on the chunks.
      .toSorted((a, b) => a.service_id - b.service_id || a.started_at - b.started_at),
    events: flow.events().map(({ alert_id, service_id, name, at }) => ({ alert_id, service_id, name, at })),
    sender: senderOf(flow),
  }
}

test('the stored records equal those of a single transaction', async (t) => {
  const [parts, whole] = [makeFlow(t), makeFlow(t)]
  await parts.send('metrics', MIXED)
  await withEngine(whole.deps, undefined, Number.POSITIVE_INFINITY).engine.submit(whole.delivery('metrics', MIXED))
  assert.ok(parts.batches.length > 1 && whole.batches.length === 1)
  // A batch evaluates only some of the services. The sweep evaluates the rest.
  for (const flow of [parts, whole]) await flow.sweepUntil(flow.clock.now + 1)
  assert.deepEqual(recordOf(parts), recordOf(whole))
})

test('its items are counted as they are stored, and the request is counted once', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([...pods(1200), 'none']))
  const sum = (name: 'deliveries' | 'items' | 'rejected') => flow.batches.reduce((all, batch) => all + batch[name], 0)
  assert.deepEqual([sum('deliveries'), sum('items'), sum('rejected')], [1, 1200, 1])
  assert.ok(flow.batches.every(({ items }) => items < 1000))
})

test('a few very long items are also stored in chunks', async (t) => {
  const flow = makeFlow(t)
  const many = Array.from({ length: 6 }, (_, i) =>
    alert('Wordy', { pod: `job-${i}` }, { summary: 'x'.repeat(500_000) }),
  )
  const body = alertmanager(many)
  const delivery = { ...flow.delivery('metrics', body), bytes: JSON.stringify(body).length }
  const { eventIds } = await flow.submit(delivery)
  assert.deepEqual([eventIds.length, flow.batches.map(({ items }) => items)], [6, [1, 1, 1, 1, 1, 1]])
})

test('sent three times with one Idempotency-Key, twice at once, it gets the same ids and is stored once', async (t) => {
  const flow = makeFlow(t)
  const send = () => flow.send('metrics', MANY, { key: 'one' })
  const [first, second] = await Promise.all([send(), send()])
  const third = await send()
  assert.deepEqual([second.eventIds, third.eventIds], [first.eventIds, first.eventIds])
  assert.deepEqual([first.eventIds.length, countRows(flow, 'events'), senderOf(flow)?.events], [1200, 1200, 1200])
})

test('sent twice at once without a key, the second repeats the alerts of the first', async (t) => {
  const flow = makeFlow(t)
  const [first, second] = await Promise.all([flow.send('metrics', MANY), flow.send('metrics', MANY)])
  assert.deepEqual([second.eventIds, second.isRepeat], [first.eventIds, true])
  assert.deepEqual([flow.alerts().length, countRows(flow, 'events')], [1200, 1200])
})

test('if the database fails in the middle, the error says that a part is stored', async (t) => {
  const flow = makeFlow(t)
  const release = holdAfterFirstPart(t, flow)
  await assert.rejects(flow.send('metrics', MANY), {
    code: 'unavailable',
    message: 'another process has locked the database: only part of this request was stored, send it again',
  })
  release()
  const stored = flow.alerts().length
  assert.ok(stored > 0 && stored < 1200)
})

test('if the first chunk cannot be stored, nothing is stored', async (t) => {
  const flow = makeFlow(t)
  const letGo = poison(flow, 'job-0')
  await assert.rejects(flow.send('metrics', MANY), /poison/)
  letGo()
  assert.deepEqual([flow.alerts().length, senderOf(flow)], [0, undefined])
})

test('retried after a partial failure, nothing is stored twice', async (t) => {
  const flow = makeFlow(t)
  const letGo = poison(flow, 'job-700')
  await assert.rejects(flow.send('metrics', MANY, { key: 'one' }), /poison/)
  letGo()
  const { eventIds } = await flow.send('metrics', MANY, { key: 'one', at: NOON + MINUTE })
  assert.deepEqual([new Set(eventIds).size, countRows(flow, 'events'), countRows(flow, 'alerts')], [1200, 1200, 1200])
})

test('ends and repeats are correct after a partial failure', async (t) => {
  const [refused, never] = [makeFlow(t), makeFlow(t)]
  const letGo = poison(refused, 'svc-9-689')
  await assert.rejects(refused.send('metrics', MIXED), /poison/)
  letGo()
  for (const flow of [refused, never]) await flow.send('metrics', MIXED)
  const kept = (flow: Flow) => recordOf(flow).alerts.map(({ occurrences, ...alert }) => alert)
  assert.deepEqual(kept(refused), kept(never))
})

test('an item that cannot be stored does not affect other requests', async (t) => {
  const flow = makeFlow(t)
  poison(flow, 'job-0')
  const [many, one] = await Promise.allSettled([
    flow.send('metrics', MANY),
    flow.send('metrics', alertmanager([alert('A')]), { as: flow.charlie }),
  ])
  assert.deepEqual([many.status, one.status], ['rejected', 'fulfilled'])
  assert.equal(flow.alerts(flow.charlie).length, 1)
})

test('closing stores the current chunk and refuses the rest of the queue', async (t) => {
  const flow = makeFlow(t)
  let closing: Promise<void> | null = null
  afterFirstPart(flow, () => {
    closing = flow.closeIngest()
  })
  const waiting = [flow.send('metrics', MANY), flow.send('metrics', alertmanager(pods(1300)))]
  const outcomes = await Promise.allSettled(waiting)
  await closing
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
    ['only part of', 'nothing from'].map(
      (what) => `incmon is stopping: ${what} this request was stored, send it again`,
    ),
  )
  assert.ok(Number(countRows(flow, 'alerts')) < 1200)
})

test('all large requests are refused if the database stays locked', async (t) => {
  const flow = makeFlow(t)
  holdAfterFirstPart(t, flow)
  const waiting = Array.from({ length: 3 }, () => flow.send('metrics', MANY))
  const outcomes = await Promise.allSettled(waiting)
  assert.deepEqual(
    outcomes.map((outcome) => outcome.status === 'rejected' && outcome.reason.message),
    ['only part of', 'nothing from', 'nothing from'].map(
      (what) => `another process has locked the database: ${what} this request was stored, send it again`,
    ),
  )
})

test('large requests count as pending requests', async (t) => {
  const flow = makeFlow(t)
  const { engine } = withEngine(flow.deps, () => 2)
  const outcomes = await Promise.allSettled(
    Array.from({ length: 3 }, () => engine.submit(flow.delivery('metrics', MANY))),
  )
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected'],
  )
})

test('a dry run is answered in one step', async (t) => {
  const flow = makeFlow(t)
  const { decisions } = await flow.send('metrics', MANY, { dryRun: true })
  assert.deepEqual([decisions?.length, flow.batches.length, flow.alerts().length], [1200, 0, 0])
})
