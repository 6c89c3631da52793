/** A Grafana rule that has no data or cannot be evaluated does not show that its condition is over. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { alert, grafana } from '../helpers/senders.ts'

/** An item of the rule `Old stock`. `reason`: Grafana's state of the rule; '' if the rule was evaluated. */
function stock(reason: string, more: Parameters<typeof alert>[2] = {}) {
  const item = alert('Old stock', { service: 'stock' }, { startsAt: NOON, fingerprint: 'f', summary: 'Old.', ...more })
  const state = reason === '' ? {} : { grafana_state_reason: reason }
  return grafana([{ ...item, annotations: { summary: 'Old.', ...state } }])
}

for (const [what, sent, severity, summary, problem] of [
  ['no data', stock('NoData'), 'critical', 'Old (Grafana has no data)', 'on'],
  ['an error', stock('Error'), 'critical', 'Old (Grafana cannot evaluate the rule)', 'on'],
  [
    'no data with a new start',
    stock('NoData', { startsAt: NOON + 5 * MINUTE }),
    'critical',
    'Old (Grafana has no data)',
    'on',
  ],
  ['a measured repeat', stock(''), 'critical', 'Old.', 'on'],
  ['an end', stock('', { endsAt: NOON + 5 * MINUTE }), 'critical', 'Old.', 'off'],
  ['an end without data', stock('NoData', { endsAt: NOON + 5 * MINUTE }), 'critical', 'Old.', 'off'],
  ['an end with an error', stock('Error', { endsAt: NOON + 5 * MINUTE }), 'critical', 'Old.', 'off'],
  [
    'an end because the series is missing',
    stock('MissingSeries', { endsAt: NOON + 5 * MINUTE }),
    'critical',
    'Old.',
    'off',
  ],
] as const) {
  test(`${what} leaves a critical condition ${problem}`, async (t) => {
    const flow = makeFlow(t)
    await flow.send('dashboard', stock(''), { at: NOON })
    await flow.send('dashboard', sent, { at: NOON + 5 * MINUTE })
    await flow.sweepUntil(NOON + 10 * MINUTE)
    const [stored] = flow.alerts()
    assert.deepEqual([stored?.severity, stored?.summary], [severity, summary])
    const { since } = JSON.parse(flow.incidents()[0]?.problem ?? '{}')
    assert.equal(since === null ? 'off' : 'on', problem)
  })
}

test('a rule that has had no data from the start, or again after its end, is a warning', async (t) => {
  const flow = makeFlow(t)
  await flow.send('dashboard', stock('NoData'), { at: NOON })
  assert.deepEqual([flow.alerts()[0]?.severity, flow.incidents().length], ['warning', 0])
  await flow.send('dashboard', stock(''), { at: NOON + MINUTE })
  assert.deepEqual([flow.alerts()[0]?.severity, flow.alerts()[0]?.summary], ['critical', 'Old.'])
})

test('what never had data and ends was a warning', async (t) => {
  const flow = makeFlow(t)
  await flow.send('dashboard', stock('NoData'), { at: NOON })
  await flow.send('dashboard', stock('', { endsAt: NOON + 5 * MINUTE }), { at: NOON + 5 * MINUTE })
  assert.deepEqual([flow.alerts()[0]?.severity, flow.alerts()[0]?.status], ['warning', 'resolved'])
})

test('DatasourceNoData is an alert of its own, and the alert of its rule ends when Grafana reports the end', async (t) => {
  const flow = makeFlow(t)
  await flow.send('dashboard', stock(''), { at: NOON })
  const labels = { service: 'stock', rulename: 'Old stock' }
  const blind = alert('DatasourceNoData', labels, { startsAt: NOON, fingerprint: 'g', summary: 'No data.' })
  await flow.send('dashboard', grafana([blind]), { at: NOON + MINUTE })
  const shown = () => flow.alerts().map(({ name, severity, status }) => `${name} ${severity} ${status}`)
  assert.deepEqual(shown(), ['Old stock critical firing', 'Old stock (DatasourceNoData) warning firing'])
  await flow.send('dashboard', stock('', { endsAt: NOON + 2 * MINUTE }), { at: NOON + 2 * MINUTE })
  assert.deepEqual(shown(), ['Old stock critical resolved', 'Old stock (DatasourceNoData) warning firing'])
})

for (const [alertname, said, summary] of [
  ['DatasourceNoData', {}, 'Grafana has no data for this rule'],
  ['DatasourceError', { Error: 'query A: timeout' }, 'Grafana cannot evaluate this rule: query A: timeout'],
  ['DatasourceError', {}, 'Grafana cannot evaluate this rule'],
  ['Old stock', { Error: 'query A: timeout' }, 'Old.'],
] as const) {
  test(`${alertname} with ${JSON.stringify(said)} says “${summary}”`, async (t) => {
    const flow = makeFlow(t)
    const labels = { service: 'stock', rulename: 'Old stock' }
    const item = alert(alertname, labels, { startsAt: NOON, fingerprint: 'g' })
    await flow.send('dashboard', grafana([{ ...item, annotations: { summary: 'Old.', ...said } }]), { at: NOON })
    assert.equal(flow.alerts()[0]?.summary, summary)
  })
}
