/** What `incmon incident show` says about the problem of an incident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemText } from '../../src/cli/show.ts'

for (const [problem, criticalSeconds, silencedSeconds, isEndInferred, text] of [
  ['on', 249, 0, false, 'on, 4 min 9 s in all'],
  ['on', 249, 1200, false, 'on, 4 min 9 s in all, not counting 20 min under a silence'],
  ['on', 249, 0, true, 'on, at least 4 min 9 s in all'],
  ['off', 249, 0, false, 'off, was on for 4 min 9 s'],
  ['off', 249, 1200, true, 'off, was on for at least 4 min 9 s, not counting 20 min under a silence'],
  ['off', 0, 0, false, 'off'],
  ['off', 0, 0, true, 'off'],
] as const) {
  test(`a problem of ${criticalSeconds} s that is ${problem}, ${silencedSeconds} s silenced, ${isEndInferred}`, () => {
    assert.equal(problemText({ problem, criticalSeconds, silencedSeconds, isEndInferred }), text)
  })
}
