/** Reading exports: entries are sorted by time of receipt in every file layout, and invalid entries are reported. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { openDump } from '../../src/cli/dump.ts'
import { NOON } from '../helpers/factory.ts'

const opened = (text: string) => openDump(Buffer.from(text), NOON)
const alertAt = (second: number) => ({
  labels: { n: String(second) },
  updatedAt: new Date(NOON - second * 1000).toISOString(),
})
const namesOf = (text: string) =>
  opened(text).entries.map(({ read }) => (read().payload as { groupLabels: { n: string } }).groupLabels.n)

test('entries are sorted by time of receipt, whatever the order of the lines', () => {
  const seconds = fc.uniqueArray(fc.integer({ min: 0, max: 100_000 }), { maxLength: 20 })
  const broken = fc.array(fc.constantFrom('nonsense', '{}', '[1]', '{"source": "ci"}'), { maxLength: 5 })
  const lines = fc.tuple(seconds, broken).chain(([some, none]) => {
    const all = [...some.map((second) => JSON.stringify(alertAt(second))), ...none]
    return fc.tuple(fc.constant({ some, none }), fc.shuffledSubarray(all, { minLength: all.length }))
  })
  fc.assert(
    fc.property(lines, ([{ some, none }, shuffled]) => {
      const text = shuffled.join('\r\n')
      assert.deepEqual(namesOf(text), some.toSorted((a, b) => b - a).map(String))
      assert.equal(opened(text).faults.length, none.length)
    }),
  )
})

test('a list has the same entries on one line, on many lines, and as one list per line', () => {
  const [one, two] = [alertAt(1), alertAt(2)]
  for (const text of [
    JSON.stringify([one, two]),
    `\n ${JSON.stringify([one, two], null, 2)}\n`,
    `${JSON.stringify([one])}\n${JSON.stringify([two])}\n`,
    `${JSON.stringify(one)}\n${JSON.stringify([two])}`,
  ])
    assert.deepEqual(namesOf(text), ['2', '1'])
})

test('a time a few seconds ahead is treated as now, and a time minutes ahead is rejected', () => {
  const [ahead] = opened(JSON.stringify(alertAt(-30))).entries
  const { entries, faults } = opened(JSON.stringify([alertAt(-90)]))
  assert.deepEqual([ahead?.receivedAt, entries], [NOON, []])
  assert.match(faults[0]?.error ?? '', /^updatedAt: is in the future/)
})

test('entries without a time come last', () => {
  const text = `{"source": "ci", "payload": 1}\n${JSON.stringify(alertAt(1))}`
  assert.deepEqual(
    opened(text).entries.map(({ where, receivedAt }) => [where, receivedAt]),
    [
      ['line 2', NOON - 1000],
      ['line 1', null],
    ],
  )
})

test('an empty file has neither entries nor errors', () => {
  for (const text of ['', ' \n\r\n', '[]']) assert.deepEqual(opened(text), { entries: [], faults: [] })
})
