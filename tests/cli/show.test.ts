/** What `incmon incident show` says about the problem of an incident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemText } from '../../src/cli/show.ts'

for (const [problemState, criticalSeconds, silencedSeconds, isEndInferred, text] of [
  ['on', 249, 0, false, 'goes on; on for 4 min 9 s'],
  ['on', 249, 1200, false, 'goes on; on for 4 min 9 s, not counting 20 min under a silence'],
  ['on', 249, 0, true, 'goes on; on for at least 4 min 9 s'],
  ['silenced', 3, 4, false, 'goes on under a silence; on for 3 s, not counting 4 s under a silence'],
  ['settling', 249, 0, false, 'no longer fires, but may come back; on for 4 min 9 s'],
  ['off', 249, 0, false, 'is over; on for 4 min 9 s'],
  ['off', 0, 0, false, 'is over'],
  ['off', 0, 0, true, 'is over'],
] as const) {
  test(`a problem of ${criticalSeconds} s that is ${problemState}, ${silencedSeconds} s silenced, ${isEndInferred}`, () => {
    assert.equal(problemText({ problemState, criticalSeconds, silencedSeconds, isEndInferred }), text)
  })
}
