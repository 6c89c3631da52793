/** Typos in payloads are reported if they are likely, and never for real senders' payloads. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { misspellings } from '../../src/intake/misspellings.ts'

const labelled = (labels: object) => ({ alerts: [{ labels }] })

const CASES: readonly [what: string, body: unknown, found: readonly string[]][] = [
  ['a field of the body', { alrts: [] }, ['alrts alerts']],
  ['a field of an alert', { alerts: [{}, { lables: {} }] }, ['alerts[1].lables labels']],
  ['a label', labelled({ alertnam: 'Slow' }), ['alerts[0].labels.alertnam alertname']],
  ['a severity', labelled({ severity: 'critcal' }), ['alerts[0].labels.severity critcal critical']],
  ['a label beside the right one', labelled({ alertname: 'Slow', alertnam: 'x' }), []],
  ['a label that adds a word', labelled({ service_id: 'a', namespace_id: 'b', severity_id: 'c' }), []],
  ['a label with a word apart', labelled({ alert_name: 'Slow' }), ['alerts[0].labels.alert_name alertname']],
  ['a severity of another vocabulary', labelled({ severity: 'sev1' }), []],
  ['labels that are no object', labelled([1]), []],
  ['a body that is no object', 'alerts', []],
  ['no body', null, []],
]

for (const [what, body, found] of CASES) {
  test(`${what}: ${found.length === 0 ? 'not reported' : 'reported with the intended name'}`, () => {
    assert.deepEqual(
      misspellings(body).map(({ path, meant }) => `${path} ${meant}`),
      found,
    )
  })
}

for (const name of ['cluster-event', 'alertmanager-notification', 'grafana-notification', 'gitlab-pipeline']) {
  test(`the example ${name} has no typos`, () => {
    const text = readFileSync(new URL(`../../examples/${name}.json`, import.meta.url), 'utf8')
    assert.deepEqual(misspellings(JSON.parse(text)), [])
  })
}

for (const name of ['device', 'security', 'service_id', 'server']) {
  test(`the label ${name} is no misspelling`, () => assert.deepEqual(misspellings(labelled({ [name]: 'x' })), []))
}

test('a payload with very many names is only partly compared', () => {
  const labels = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`alertnam${index}`, '']))
  assert.ok(misspellings(labelled(labels)).length <= 50)
})
