/** The migration that turns the lengths of a problem into periods: each incident keeps its lengths. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { migrationText } from '../../src/assets.ts'
import { lengthsOf } from '../../src/domain/incident/lasted.ts'
import { MINUTE } from '../../src/domain/units.ts'
import { findLiveIncident } from '../../src/store/incident/live-incidents.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { makeIncident, makeOrganization, makeService, NOON } from '../helpers/factory.ts'
import { temporaryStore } from '../helpers/store.ts'

const after = (minutes: number) => NOON + minutes * MINUTE
const OVER = { since: null, endedAt: after(30), knownAt: after(31), criticalMs: 20 * MINUTE, mutedMs: 10 * MINUTE }
const ON = { since: after(40), firing: ['Down'] }

for (const [name, problem, more, expected] of [
  ['a problem that is over', OVER, {}, { critical: 20, warning: 0, silenced: 10 }],
  ['one that is back', { ...OVER, ...ON }, {}, { critical: 40, warning: 0, silenced: 10 }],
  ['one whose end is only assumed', { ...OVER, isGuess: true }, {}, { critical: 20, warning: 0, silenced: 10 }],
  [
    'one that a silence covers',
    { ...OVER, mutedMs: 0, isMuted: true, mutedSince: after(50) },
    {},
    { critical: 20, warning: 0, silenced: 10 },
  ],
  [
    'one that a user lowered',
    { ...ON, since: NOON, raised: { at: after(20), ms: 20 * MINUTE, earlier: { critical: 20 * MINUTE } } },
    { severity: 'warning' },
    { critical: 20, warning: 40, silenced: 0 },
  ],
  [
    'what a user declared',
    { since: NOON },
    { origin: 'manual', severity: 'warning' },
    { critical: 0, warning: 60, silenced: 0 },
  ],
  [
    'what a user declared, with an alert',
    { ...ON, since: NOON, raised: { at: after(40), ms: 40 * MINUTE, earlier: { warning: 40 * MINUTE } } },
    { origin: 'manual', severity: 'warning' },
    { critical: 20, warning: 40, silenced: 0 },
  ],
  [
    'what a user declared and raised',
    { since: NOON, raised: { at: after(20), ms: 20 * MINUTE, earlier: { warning: 20 * MINUTE } } },
    { origin: 'manual' },
    { critical: 40, warning: 20, silenced: 0 },
  ],
  ['a missing heartbeat', { since: after(10) }, { cause: 'silence' }, { critical: 50, warning: 0, silenced: 0 }],
  ['an incident without a problem', {}, {}, { critical: 0, warning: 0, silenced: 0 }],
] as const) {
  test(`${name} keeps its lengths`, (t) => {
    const incident = migrated(t, problem, more)
    const { msOf, silencedMs } = lengthsOf(incident, after(60))
    const lengths = { critical: msOf('critical'), warning: msOf('warning'), silenced: silencedMs }
    const minutes = Object.fromEntries(Object.entries(lengths).map(([key, ms]) => [key, ms / MINUTE]))
    assert.deepEqual(minutes, expected)
    for (const old of ['criticalMs', 'mutedMs', 'mutedSince', 'raised', 'ended', 'reportedAt'])
      assert.equal(old in incident.problem, false)
  })
}

function migrated(t: TestContext, problem: object, more: object) {
  const db = temporaryStore(t)
  const acme = makeOrganization(db, 'Acme', 'Team')
  const { key } = makeIncident(db, acme, makeService(db, acme, 'cart'))
  const row = { origin: 'automatic', problem: JSON.stringify(problem), ...more } as const
  db.run(db.sql.updateTable('incidents').set(row).where('id', '=', key))
  db.execute(migrationText('0033_add_periods_of_problems'))
  const uuid = db.first(db.sql.selectFrom('incidents').select('uuid').where('id', '=', key))?.uuid
  assert.ok(uuid)
  const incident = findLiveIncident(db, acme.key, uuidFromBytes(uuid))
  assert.ok(incident)
  return incident
}
