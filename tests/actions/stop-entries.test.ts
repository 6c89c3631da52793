/** What the timeline of an incident says about times in which incmon was not running. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { changeIncident } from '../../src/engine/changes/incidents/incident-changes.ts'
import { findLiveIncident } from '../../src/store/incident/live-incidents.ts'
import { recordStop } from '../../src/store/incident/stops.ts'
import { findTimeline } from '../../src/store/incident/timeline-facts.ts'
import { generatePostmortem } from '../../src/store/live/postmortem.ts'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

for (const [what, from, seconds, gaps] of [
  ['six minutes', NOON, 360, ['no report was received for 6 min, because incmon was not running']],
  ['a minute', NOON, 60, ['no report was received for 1 min, because incmon was not running']],
  ['a restart', NOON, 59, []],
  ['the first start', null, 360, []],
  ['a clock that was set back', NOON, -360, []],
] as const) {
  test(`the timeline of an unresolved incident after ${what}`, async (t) => {
    const { deps, send, incidents, acme, clock } = makeFlow(t)
    const down = (service: string, more: object) => alert('Down', { service }, { startsAt: NOON - MINUTE, ...more })
    await send('metrics', alertmanager([down('cart', {})]))
    recordStop(deps.db, from, NOON + seconds * 1000)
    const [{ id = '' } = {}] = incidents()
    const rows = findTimeline(deps.db, acme.key, id, clock.now) ?? []
    assert.deepEqual(
      rows.filter(({ kind }) => kind === 'gap').map(({ text }) => text),
      gaps,
    )
    const incident = findLiveIncident(deps.db, acme.key, id)
    const document = incident && generatePostmortem(deps.db, { incident, at: clock.now })?.document
    assert.equal(document?.includes('because incmon was not running'), gaps.length > 0)
  })
}

test('a resolved incident, and one that opens later, have no entry', async (t) => {
  const { deps, send, incidents, acme, clock, timeline } = makeFlow(t)
  await send('metrics', alertmanager([alert('Down', { service: 'cart' }, { startsAt: NOON - MINUTE })]))
  const [{ id = '' } = {}] = incidents()
  await deps.engine.run(acme.key, (ctx) => changeIncident(ctx, id, { status: 'resolved' }, 'Ann', clock.now))
  recordStop(deps.db, NOON, NOON + 6 * MINUTE)
  await send('metrics', alertmanager([alert('Down', { service: 'web' })]), { at: NOON + 7 * MINUTE })
  assert.deepEqual(
    incidents().flatMap((one) => timeline(one).filter(({ kind }) => kind === 'gap')),
    [],
  )
})
