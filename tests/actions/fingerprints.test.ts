/** An alert with several fingerprints: their severities, labels and ends, in memory and in the database. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { type Flow, makeFlow } from '../helpers/flow.ts'
import { type AlertMore, alert, alertmanager } from '../helpers/senders.ts'

const HOUR = 60 * MINUTE
const at = (minutes: number) => NOON + minutes * MINUTE

function disk(severity: string, more: AlertMore = {}) {
  return alert('DiskAlmostFull', { deployment: 'cart', device: 'sda1', severity }, { startsAt: NOON, ...more })
}

function rows({ deps: { db } }: Flow) {
  const columns = ['severity', 'said', 'labels', 'ended', 'seen_at'] as const
  return db.all(db.sql.selectFrom('alert_fingerprints').select(columns).orderBy('severity'))
}

async function sendBoth(flow: Flow) {
  await flow.send('metrics', alertmanager([disk('warning')]))
  await flow.send('metrics', alertmanager([disk('page', { startsAt: at(1) })]), { at: at(1) })
}

test('an alert is a warning again when only its warning still fires, and the timeline shows the change', async (t) => {
  const flow = makeFlow(t)
  await sendBoth(flow)
  assert.deepEqual([flow.alerts()[0]?.severity, flow.services()[0]?.status], ['critical', 'critical'])
  const ended = disk('page', { startsAt: at(1), endsAt: at(30) })
  await flow.send('metrics', alertmanager([ended, disk('warning')]), { at: at(30) })
  const [known] = flow.alerts()
  assert.deepEqual([known?.status, known?.severity, known?.said], ['firing', 'warning', 'warning'])
  assert.notEqual(flow.services()[0]?.status, 'critical')
  const { db } = flow.deps
  const changes = db.all(db.sql.selectFrom('timeline').select('facts').where('kind', '=', 'alert'))
  const facts = changes.map((row) => JSON.parse(row.facts ?? 'null'))
  assert.deepEqual(
    facts.filter((one) => one?.from === 'critical'),
    [{ code: 'severity', from: 'critical', to: 'warning' }],
  )
})

test('the severities of the fingerprints survive a restart', async (t) => {
  const flow = makeFlow(t)
  await sendBoth(flow)
  flow.restart()
  await flow.send('metrics', alertmanager([disk('page', { startsAt: at(1), endsAt: at(9) })]), { at: at(9) })
  assert.deepEqual([flow.alerts().length, flow.alerts()[0]?.severity], [1, 'warning'])
})

test('only the labels that differ are stored, and nothing for an alert with a single fingerprint', async (t) => {
  const flow = makeFlow(t)
  await flow.send('metrics', alertmanager([disk('warning')]))
  assert.deepEqual(rows(flow), [])
  await flow.send('metrics', alertmanager([disk('page', { startsAt: at(1) })]), { at: at(1) })
  assert.deepEqual(rows(flow), [
    { severity: 'critical', said: 'page', labels: '{"severity":"page"}', ended: 0, seen_at: at(1) },
    { severity: 'warning', said: 'warning', labels: null, ended: 0, seen_at: NOON },
  ])
})

test('the rows are deleted once the alert can no longer be reopened', async (t) => {
  const flow = makeFlow(t)
  await sendBoth(flow)
  const ends = [disk('warning', { endsAt: at(5) }), disk('page', { startsAt: at(1), endsAt: at(5) })]
  await flow.send('metrics', alertmanager(ends), { at: at(5) })
  assert.deepEqual([rows(flow).length, flow.alerts()[0]?.status], [2, 'resolved'])
  await flow.sweepUntil(at(5) + 25 * HOUR, 25 * HOUR)
  assert.deepEqual(rows(flow), [])
})
