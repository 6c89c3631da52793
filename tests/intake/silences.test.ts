/** Silences in amtool's output format. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSilences } from '../../src/intake/silences.ts'

const SILENCE = {
  id: 'f1e0b2a2-9a0c-4a9b-8d5a-0c9b7c1c7c5e',
  status: { state: 'active' },
  updatedAt: '2026-03-14T12:00:00.000Z',
  comment: 'Upgrade',
  createdBy: 'basil',
  startsAt: '2026-03-14T12:00:00.000Z',
  endsAt: '2026-03-14T14:00:00.000+01:00',
  matchers: [
    { isEqual: true, isRegex: false, name: 'alertname', value: 'HighLatency' },
    { isEqual: false, isRegex: true, name: 'severity', value: 'info|none' },
  ],
}

test('parses the output of amtool', () => {
  assert.deepEqual(readSilences([SILENCE]), [
    {
      matchers: [
        { name: 'alertname', op: '=', value: 'HighLatency' },
        { name: 'severity', op: '!~', value: 'info|none' },
      ],
      startsAt: Date.UTC(2026, 2, 14, 12),
      endsAt: Date.UTC(2026, 2, 14, 13),
      comment: 'Upgrade',
      createdBy: 'basil',
      labelsOnly: true,
    },
  ])
})

test('the author defaults to Alertmanager, and isEqual can be missing', () => {
  const { createdBy: _, comment: __, ...bare } = { ...SILENCE, matchers: [{ name: 'a', value: 'b', isRegex: true }] }
  const [read] = readSilences([bare])
  assert.deepEqual(
    [read?.createdBy, read?.comment, read?.matchers[0]?.op],
    ['Alertmanager', 'imported from Alertmanager', '=~'],
  )
})

for (const [what, json] of [
  ['an object', SILENCE],
  ['a silence without matchers', [{ ...SILENCE, matchers: undefined }]],
  ['an end that is no time', [{ ...SILENCE, endsAt: 'tomorrow' }]],
  ['a text', ['x']],
] as const) {
  test(`refuses ${what}`, () => assert.throws(() => readSilences(json), SyntaxError))
}
