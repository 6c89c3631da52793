/** What `incmon incident show` says about the problem of an incident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemText } from '../../src/cli/show.ts'

for (const [problem, criticalSeconds, text] of [
  ['on', 249, 'on, 4 min 9 s in all'],
  ['off', 249, 'off, was on for 4 min 9 s'],
  ['off', 0, 'off'],
] as const) {
  test(`a problem of ${criticalSeconds} s that is ${problem}`, () => {
    assert.equal(problemText({ problem, criticalSeconds }), text)
  })
}
