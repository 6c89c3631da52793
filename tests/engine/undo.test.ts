/** Failures leave no trace: the live state is the same as before, and the same as after a restart. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { OrganizationState } from '../../src/engine/state/state.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { changeIncident } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, crashLoop, kubernetesEvent, pipeline, watchdog } from '../helpers/senders.ts'

const TABLES = ['services', 'alerts', 'incidents', 'senders', 'groups'] as const
const KEYS = ['serviceByKey', 'aliases', 'incidentById', 'namesakes'] as const
const NAMES = ['alertByFingerprint', 'alertByLogicalKey'] as const
const INDEXES = [
  ...(['servicesByName', 'alertsOfService', 'alertsOfGroup', 'incidentsOfService'] as const),
  ...(['alertsOnNode', 'nodesWithAlerts'] as const),
] as const

type Keyed<Found> = { readonly keys: () => Iterable<unknown>; readonly get: (key: never) => Found }

/** Returns a copy of the live state. */
function snapshot(state: OrganizationState) {
  const tableOf = ({ keys, get }: Keyed<unknown>) =>
    [...keys()].map((key) => [key, lasting(get(key as never))] as const).toSorted(byText)
  const indexOf = ({ keys, get }: Keyed<ReadonlySet<unknown>>) =>
    [...keys()].map((key) => [key, [...get(key as never)].toSorted()] as const).toSorted(byText)
  return {
    ...Object.fromEntries([...TABLES, ...KEYS].map((name) => [name, tableOf(state[name])])),
    ...Object.fromEntries(INDEXES.map((name) => [name, indexOf(state[name])])),
    ...Object.fromEntries(NAMES.map((name) => [name, [...state[name].entries()].toSorted()])),
  }
}

/** Omits what is loaded only on demand, and the time of the next check, which a repeat does not change. */
function lasting(value: unknown): unknown {
  if (!(value instanceof Object)) return value
  const { changeAt: _, endingEventAt: __, hasOnlyCi: ___, dueAt: ____, ...rest } = value as Record<string, unknown>
  return rest
}

function byText([a]: readonly [unknown, unknown], [b]: readonly [unknown, unknown]): number {
  return String(a) < String(b) ? -1 : 1
}

/** Creates a flow with every kind of record, on a disk that is full while `disk.isFull` is set. */
async function start(t: TestContext) {
  const disk = { isFull: false }
  const failing = (db: Db): Db => ({
    ...db,
    transactionAhead: (work) =>
      db.transactionAhead(() => {
        const result = work()
        if (disk.isFull) throw Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
        return result
      }),
  })
  const flow = makeFlow(t, failing)
  await flow.send('cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { node: 'worker-2', count: 6 }))
  await flow.send('cluster', kubernetesEvent('NodeNotReady', 'worker-3', { kind: 'Node' }))
  await flow.send('metrics', alertmanager([down('cart'), down('web')]))
  await flow.send('ci', pipeline('failed', 'shop/cart', { at: NOON }))
  await flow.send('metrics', watchdog())
  await flow.sweepUntil(NOON + 2 * MINUTE)
  const live = () => flow.deps.engine.read(flow.acme.key, snapshot)
  return { ...flow, disk, live }
}

const down = (service: string, more = {}) =>
  alert('Down', { service, severity: 'critical' }, { startsAt: NOON, fingerprint: service, ...more })

test('a restart loads the same live state', async (t) => {
  const { live, deps, incidents } = await start(t)
  const before = await live()
  assert.ok(incidents().length >= 2)
  await deps.engine.reload()
  assert.deepEqual(await live(), before)
})

test('a failed commit changes nothing, and the same request is accepted once the disk has space', async (t) => {
  const { live, disk, send, deps, acme, incidents, clock } = await start(t)
  const before = await live()
  const ended = { status: 'resolved', endsAt: new Date(clock.now).toISOString() }
  const bodies = [alertmanager([down('new'), down('cart', ended)]), alertmanager([down('web', ended)])]
  disk.isFull = true
  const refused = await Promise.allSettled([
    ...bodies.map((body) => send('metrics', body)),
    send('cluster', kubernetesEvent('NodeNotReady', 'worker-2', { kind: 'Node' })),
    changeIncident(deps, acme.key, incidents()[0]?.id ?? '', { status: 'resolved' }, 'anna'),
  ])
  assert.deepEqual(new Set(refused.map(({ status }) => status)), new Set(['rejected']))
  assert.deepEqual(await live(), before)
  disk.isFull = false
  for (const body of bodies) await send('metrics', body)
  const after = await live()
  assert.notDeepEqual(after, before)
  await deps.engine.reload()
  assert.deepEqual(await live(), after)
})

test('a failing decision changes nothing and does not affect the rest of its batch', async (t) => {
  const { live, deps, acme, send } = await start(t)
  const before = await live()
  const failing = deps.engine.run(acme.key, (ctx) => {
    const incident = [...ctx.state.incidents.values()][0] ?? assert.fail()
    ctx.put.incident({ ...incident, title: 'half done' })
    throw new Error('a bug')
  })
  const [failed, taken] = await Promise.allSettled([failing, send('metrics', alertmanager([down('cart')]))])
  assert.deepEqual([failed.status, taken.status], ['rejected', 'fulfilled'])
  const titles = (state: Awaited<ReturnType<typeof live>>) => JSON.stringify(state).includes('half done')
  assert.deepEqual([titles(before), titles(await live())], [false, false])
  const after = await live()
  await deps.engine.reload()
  assert.deepEqual(await live(), after)
})
