/** Very long values of labels are stored, but the live state keeps only their beginning. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeFlow } from '../helpers/flow.ts'
import { alert, alertmanager } from '../helpers/senders.ts'

const LONG = 'x'.repeat(60_000)
/** In characters, of all texts of a live record. */
const MOST = 6_000

for (const name of ['severity', 'node', 'cluster', 'namespace', 'service', 'pod', 'instance', 'job', 'alertname'])
  test(`a label ${name} of 60,000 characters takes little memory in the live state`, async (t) => {
    const { send, deps, acme, alerts } = makeFlow(t)
    await send('metrics', alertmanager([alert('Slow', { service: 'cart', severity: 'warning', [name]: LONG })]))
    const sizes = await deps.engine.read(acme.key, (state) =>
      [...state.alerts.values(), ...state.services.values()].map((one) => JSON.stringify(one).length),
    )
    assert.ok(sizes.length >= 2 && sizes.every((size) => size <= MOST), `${sizes} characters`)
    assert.ok(alerts().some(({ labels }) => labels.includes(LONG)))
  })
