/** The gaps of a flapping alert. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gapsBetween, gapsOfEvents } from '../../src/domain/alert/groups.ts'

const spell = (startsAt: number, endsAt: number | null) => ({ startsAt, endsAt })
const event = (kind: string, at: number) => ({ kind, at })

for (const [what, spells, gaps] of [
  ['one alert has no gap', [spell(1, 5)], []],
  ['alerts that overlap or touch have none', [spell(1, 5), spell(3, 9), spell(9, 12)], []],
  ['alerts one after the other have a gap', [spell(1, 5), spell(8, 9)], [[5, 8]]],
  ['a long alert fills the gaps of short ones', [spell(1, 2), spell(4, 5), spell(0, 9)], []],
  ['an alert that fires has no end', [spell(1, null), spell(8, 9)], []],
  ['no alert has no gap', [], []],
] as const) {
  test(what, () => {
    assert.deepEqual(gapsBetween(spells), gaps)
    assert.deepEqual(gapsBetween(spells.toReversed()), gaps)
  })
}

for (const [what, events, gaps] of [
  [
    'an alert that fires again after its end has a gap',
    [event('firing', 1), event('resolved', 4), event('firing', 7)],
    [[4, 7]],
  ],
  [
    'an end that is reported twice is one end',
    [event('resolved', 4), event('resolved', 5), event('firing', 7)],
    [[4, 7]],
  ],
  ['an alert that has ended has no gap after its end', [event('firing', 1), event('resolved', 4)], []],
  ['other events fill no gap', [event('resolved', 4), event('test', 5), event('firing', 7)], [[4, 7]]],
  ['a repeat at the time of the end is no gap', [event('resolved', 4), event('firing', 4)], []],
] as const) {
  test(what, () => {
    assert.deepEqual(gapsOfEvents(events), gaps)
  })
}
