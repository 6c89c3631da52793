/** The saved rows equal the rows that the live state would be saved as from scratch, whatever happened before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Source } from '../../src/domain/event/event.ts'
import { parseMatchers } from '../../src/domain/silence/matcher.ts'
import type { Changes, RowChange } from '../../src/engine/state/journal.ts'
import type { OrganizationState } from '../../src/engine/state/state.ts'
import { saveBatch } from '../../src/store/live/save.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import { changeIncident, createSilence, mergeServices } from '../helpers/acts.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager, type Body, crashLoop, kubernetesEvent, pipeline, watchdog } from '../helpers/senders.ts'

const down = (deployment: string, more: Body = {}) => alertmanager([alert('Down', { deployment }, more)])
const STORY: readonly (readonly [Source, Body])[] = [
  ['metrics', down('cart')],
  ['metrics', down('cart', { status: 'resolved', endsAt: new Date(NOON + MINUTE).toISOString() })],
  ['metrics', down('web')],
  ['metrics', alertmanager([alert('Slow', { deployment: 'cart', severity: 'warning' })])],
  ['cluster', crashLoop('cart-5d4f8c7b9-x2kqp', { count: 6 })],
  ['cluster', kubernetesEvent('Scheduled', 'cart-5d4f8c7b9-zzzzz')],
  ['ci', pipeline('failed', 'shop/cart')],
  ['ci', pipeline('success', 'shop/web', { id: 2 })],
  ['metrics', watchdog()],
]
const TABLES = ['services', 'alerts', 'incidents', 'senders', 'groups', 'silences', 'silenced_alerts'] as const

type Act = (flow: Flow) => Promise<unknown>
const ACTS: readonly Act[] = [
  (flow) => flow.sweepUntil(flow.clock.now + 2 * MINUTE),
  (flow) => flow.sweepUntil(flow.clock.now + 26 * 60 * MINUTE, 60 * MINUTE),
  async ({ deps, acme, incidents }) => {
    const open = incidents().find(({ status }) => status !== 'resolved')
    if (open) await changeIncident(deps, acme.key, open.id, { status: 'resolved' }, 'anna')
  },
  ({ deps, acme, clock }) => {
    const period = { startsAt: clock.now, endsAt: clock.now + 60 * MINUTE, schedule: null }
    const wanted = { matchers: parseMatchers('alertname="Down"'), comment: 'Upgrade', ...period }
    return createSilence(deps, acme.key, wanted, 'anna')
  },
  async ({ deps, acme, service }) => {
    const [from, into] = [service('web'), service('cart')]
    if (from && into) await mergeServices(deps, acme.key, from.id, into.id)
  },
]

test('after any story, the saved rows equal the rows computed from scratch', async (t) => {
  const steps = fc.array(fc.nat({ max: STORY.length + ACTS.length - 1 }), { minLength: 3, maxLength: 14 })
  await fc.assert(
    fc.asyncProperty(steps, async (order) => {
      const flow = makeFlow(t)
      for (const index of order) {
        const told = STORY[index]
        if (told) await flow.send(...told)
        else await ACTS[index - STORY.length]?.(flow)
      }
      const saved = await flow.deps.engine.read(flow.acme.key, (state) => rowsOf(flow.deps.db, state))
      const scratch = await flow.deps.engine.read(flow.acme.key, (state) => rowsFromScratch(flow.deps.db, state))
      assert.deepEqual(saved, scratch)
    }),
    { numRuns: 15 },
  )
})

/** Saves the live state as new rows inside a transaction, which is rolled back. Returns these rows. */
function rowsFromScratch(db: Db, state: OrganizationState) {
  const changes = asNew(db, state)
  let rows: ReturnType<typeof rowsOf> | null = null
  db.pragma('foreign_keys = OFF')
  try {
    db.transaction(() => {
      for (const table of [...TABLES].reverse()) db.run(db.sql.deleteFrom(table))
      saveBatch(db, changes, () => assert.fail('no new id is needed'))
      rows = rowsOf(db, state)
      throw new Error('undo')
    })
  } catch (error) {
    if (!(error instanceof Error && error.message === 'undo')) throw error
  } finally {
    db.pragma('foreign_keys = ON')
  }
  return rows
}

function asNew(db: Db, state: OrganizationState): Changes {
  const all = <Live>(rows: Iterable<Live>): RowChange<Live>[] =>
    [...rows].map((after) => ({ before: null, after, isGone: false }))
  const texts = db.all(db.sql.selectFrom('alerts').select(['id', 'labels', 'annotations', 'links']))
  return {
    rows: {
      services: all(state.services.values()),
      alerts: all(state.alerts.values()),
      incidents: all(state.incidents.values()),
      senders: all(state.senders.values()),
      groups: all(state.groups.values()),
      silences: all(state.silences.values()),
    },
    effects: texts.map(({ id, labels, annotations, links }) => ({
      kind: 'alert-texts',
      alertId: id,
      texts: { labels: JSON.parse(labels), annotations: JSON.parse(annotations), links: JSON.parse(links) },
    })),
  }
}

/** Returns the rows of everything that is in the live state. */
function rowsOf(db: Db, state: OrganizationState) {
  const live = {
    services: new Set(state.services.keys()),
    alerts: new Set(state.alerts.keys()),
    incidents: new Set(state.incidents.keys()),
    senders: new Set([...state.senders.values()].map(({ rowId }) => rowId)),
    groups: new Set(state.groupKeys.keys()),
    silences: new Set(state.silences.keys()),
  }
  const silenced = db.all(db.sql.selectFrom('silenced_alerts').selectAll().orderBy('alert_id').orderBy('silence_id'))
  const tables = TABLES.flatMap((table) => {
    if (table === 'silenced_alerts') return []
    const rows = db.all(db.sql.selectFrom(table).selectAll().orderBy('id'))
    // The database assigns the number of an incident.
    return [[table, rows.filter(({ id }) => live[table].has(id)).map((row) => ({ ...row, number: 0 }))] as const]
  })
  return { ...Object.fromEntries(tables), silenced: silenced.filter(({ alert_id }) => live.alerts.has(alert_id)) }
}
