/** Dumps: found whatever their layout, in order of receipt, and nothing lost beside what is broken. */
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

test('in whatever order the lines stand, entries come in order of receipt, one for each that can be read', () => {
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

test('a list is read the same on one line, on many, and line by line beside others', () => {
  const [one, two] = [alertAt(1), alertAt(2)]
  for (const text of [
    JSON.stringify([one, two]),
    `\n ${JSON.stringify([one, two], null, 2)}\n`,
    `${JSON.stringify([one])}\n${JSON.stringify([two])}\n`,
    `${JSON.stringify(one)}\n${JSON.stringify([two])}`,
  ])
    assert.deepEqual(namesOf(text), ['2', '1'])
})

test('a clock that is ahead by seconds is taken for now, by minutes it is refused', () => {
  const [ahead] = opened(JSON.stringify(alertAt(-30))).entries
  const { entries, faults } = opened(JSON.stringify([alertAt(-90)]))
  assert.deepEqual([ahead?.receivedAt, entries], [NOON, []])
  assert.match(faults[0]?.error ?? '', /^updatedAt: lies in the future/)
})

test('what names no time comes last, and is told apart from what does', () => {
  const text = `{"source": "ci", "payload": 1}\n${JSON.stringify(alertAt(1))}`
  assert.deepEqual(
    opened(text).entries.map(({ where, receivedAt }) => [where, receivedAt]),
    [
      ['line 2', NOON - 1000],
      ['line 1', null],
    ],
  )
})

test('a file with nothing in it has neither entries nor faults', () => {
  for (const text of ['', ' \n\r\n', '[]']) assert.deepEqual(opened(text), { entries: [], faults: [] })
})
