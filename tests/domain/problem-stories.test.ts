/**
 * The problem of an incident, told in stories. Each line is a minute and what happens: `a` fires, `-a` ends as reported,
 * `~a` ends by inference, `s` silences everything, `-s` ends the silence, `now` only looks. After `→` stands the status,
 * and what people are told.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemAt } from '../../src/domain/incident/problem.ts'
import { criticalMsOf, mutedMsOf } from '../helpers/lengths.ts'
import { MINUTE, NOON } from '../helpers/signals.ts'
import { play } from '../helpers/story.ts'

const STORIES: readonly (readonly [string, string])[] = [
  // Opening
  ['a critical alert opens an incident at once', '0 a → open: opened'],
  ['a repeat says nothing', '0 a → open: opened; 5 a → open'],
  ['time alone says nothing', '0 a → open: opened; 60 now → open'],
  // Worse
  [
    'a second condition in the first minute is reported at second 60',
    '0 a → open: opened; 0.5 b → open; 1 now → open: worse',
  ],
  [
    'two more conditions in the first minute are reported together',
    '0 a → open: opened; 0.2 b → open; 0.8 c → open; 1 now → open: worse',
  ],
  [
    'a condition that ends within the first minute is not reported',
    '0 a → open: opened; 0.2 b → open; 0.6 -b → open; 1 now → open',
  ],
  [
    'one that ends and returns is reported when it lasts',
    '0 a → open: opened; 0.2 b → open; 0.6 -b → open; 2 b → open: worse',
  ],
  ['a new condition later is reported at once', '0 a → open: opened; 7 b → open: worse'],
  ['a condition is reported once', '0 a → open: opened; 7 b → open: worse; 8 -b → open; 9 b → open'],
  [
    'a new condition is reported although somebody works on it',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 5 b → investigating: worse',
  ],
  ['a third condition is reported, too', '0 a → open: opened; 7 b → open: worse; 9 c → open: worse'],
  ['a condition that replaces another is reported', '0 a → open: opened; 5 -a b → open: worse'],
  // Recovery
  ['nothing is said during the settle time', '0 a → open: opened; 5 -a → open; 5.9 now → open'],
  ['the recovery is told after 60 seconds', '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered'],
  ['an inferred end needs no settle time', '0 a → open: opened; 5 ~a → monitoring: recovered'],
  ['a return within the settle time is no news', '0 a → open: opened; 5 -a → open; 5.5 a → open; 9 now → open'],
  ['one of two ends is no recovery', '0 a → open: opened; 7 b → open: worse; 8 -a → open; 12 now → open'],
  [
    'the last of two ends',
    '0 a → open: opened; 7 b → open: worse; 8 -a → open; 12 -b → open; 13 now → monitoring: recovered',
  ],
  ['the recovery is told once', '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 9 now → monitoring'],
  [
    'the recovery is told although somebody works on it',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 5 -a → investigating; 6 now → monitoring: recovered',
  ],
  ['an alert of five seconds recovers', '0 a → open: opened; 0.1 -a → open; 1.1 now → monitoring: recovered'],
  // Again
  [
    'the problem is back within 30 minutes',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 20 a → open: again',
  ],
  [
    'another condition brings it back as well',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 20 b → open: again',
  ],
  [
    'an acknowledgement before the recovery lapses',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 5 -a → investigating; 6 now → monitoring: recovered; 9 a → open: again',
  ],
  [
    'an acknowledgement after the recovery stays',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 7 ack → investigating: acknowledged; 9 a → investigating: again',
  ],
  [
    'it recovers again',
    '0 a → open: opened; 5 ~a → monitoring: recovered; 9 b → open: again; 12 -b → open; 13 now → monitoring: recovered',
  ],
  [
    'the 30 minutes count from the knowledge of the end',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 34.9 a → open: again',
  ],
  ['a wrong all-clear is taken back', '0 a → open: opened; 5 ~a → monitoring: recovered; 9 =a → open: again'],
  [
    'a wrong all-clear is taken back after the resolution',
    '0 a → open: opened; 5 ~a → monitoring: recovered; 35 now → resolved: resolved; 90 =a → open: again',
  ],
  [
    'a new start after an inferred end is no disproof',
    '0 a → open: opened; 5 ~a → monitoring: recovered; 40 now → resolved: resolved; 90 a → open: opened',
  ],
  // Resolution
  [
    'it resolves by itself 30 minutes after the end is known',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 34 now → monitoring; 35 now → resolved: resolved',
  ],
  [
    'an incident that a person acknowledged stays in monitoring',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 5 -a → investigating; 6 now → monitoring: recovered; 60 now → monitoring',
  ],
  [
    'at most 24 hours',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 5 -a → investigating; 6 now → monitoring: recovered; 1444 now → monitoring; 1445 now → resolved: resolved',
  ],
  [
    'a note is a touch',
    '0 a → open: opened; 2 note → open; 5 -a → open; 6 now → monitoring: recovered; 60 now → monitoring',
  ],
  ['incmon was stopped for long', '0 a → open: opened; 5 -a → open; 90 now → resolved: recovered, resolved'],
  [
    'with the setting off it never resolves',
    'off; 0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 9999 now → monitoring',
  ],
  [
    'another setting',
    'resolve 5; 0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 10 now → resolved: resolved',
  ],
  [
    'more than 30 minutes after the recovery a new incident opens',
    'off; 0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 36 a → open: opened',
  ],
  [
    'and after its resolution',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 35 now → resolved: resolved; 35.1 a → open: opened',
  ],
  [
    'exactly 30 minutes after the recovery it is the same',
    'off; 0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 35 a → open: again',
  ],
  // People
  ['a person resolves it while it goes on', '0 a → open: opened; 9 resolve → resolved: resolved; 90 now → resolved'],
  [
    'and no new incident opens until it has cleared once',
    '0 a → open: opened; 9 resolve → resolved: resolved; 12 a → resolved; 20 -a → resolved; 70 a → open: opened',
  ],
  ['unless another condition begins', '0 a → open: opened; 9 resolve → resolved: resolved; 12 b → open: again'],
  [
    'cleared and back within 30 minutes',
    '0 a → open: opened; 9 resolve → resolved: resolved; 20 -a → resolved; 40 a → open: again',
  ],
  ['a person reopens it', '0 a → open: opened; 9 resolve → resolved: resolved; 10 reopen → open: reopened'],
  [
    'a reopened incident that is well stays open',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 7 resolve → resolved: resolved; 8 reopen → open: reopened; 60 now → open',
  ],
  [
    'a person is told once that it is acknowledged',
    '0 a → open: opened; 2 ack → investigating: acknowledged; 3 ack → investigating',
  ],
  [
    'a person says that it is monitored while it goes on',
    '0 a → open: opened; 2 monitor → monitoring: acknowledged; 9 now → monitoring',
  ],
  [
    'and it recovers',
    '0 a → open: opened; 2 monitor → monitoring: acknowledged; 9 -a → monitoring; 10 now → monitoring: recovered',
  ],
  [
    'and returns',
    '0 a → open: opened; 2 monitor → monitoring: acknowledged; 9 -a → monitoring; 10 now → monitoring: recovered; 12 a → open: again',
  ],
  // Silences
  ['a silence says nothing', '0 a → open: opened; 5 s → open; 90 now → open'],
  [
    'a silence that ends while it burns says that it goes on, once',
    '0 a → open: opened; 5 s → open; 20 -s → open: again; 30 now → open',
  ],
  [
    'each silence that ends does',
    '0 a → open: opened; 5 s → open; 9 -s → open: again; 12 s → open; 15 -s → open: again',
  ],
  ['a silence that ends after it burned does not', '0 a → open: opened; 5 s → open; 9 -a → open; 9.5 -s → open'],
  ['what began during the silence is told alone', '0 a → open: opened; 5 s → open; 9 b → open; 20 -s → open: worse'],
  [
    'a recovery during a silence is told',
    '0 a → open: opened; 5 s → open; 9 -a → open; 10 now → monitoring: recovered',
  ],
  ['no incident opens during a silence', '0 s → none; 1 a → none; 9 now → none'],
  ['but at its end', '0 s → none; 1 a → none; 9 -s → open: opened'],
  ['what ended during a silence opens nothing', '0 s → none; 1 a → none; 2 -a → none; 9 -s → none'],
  // Flapping
  [
    'the third return within an hour is flapping',
    '0 a → open: opened; 2 ~a → monitoring: recovered; 6 a → open: again; 8 ~a → monitoring: recovered; 12 a → open: again; 14 ~a → monitoring: recovered; 18 a → open: flapping',
  ],
  [
    'then there are only digests',
    '0 a → open: opened; 2 ~a → monitoring: recovered; 6 a → open: again; 8 ~a → monitoring: recovered; 12 a → open: again; 14 ~a → monitoring: recovered; 18 a → open: flapping; 20 ~a → monitoring: digest; 24 a → open: digest',
  ],
  [
    'a new condition is still told at once',
    '0 a → open: opened; 2 ~a → monitoring: recovered; 6 a → open: again; 8 ~a → monitoring: recovered; 12 a → open: again; 14 ~a → monitoring: recovered; 18 a → open: flapping; 19 b → open: worse',
  ],
  [
    'after 30 stable minutes it flaps no more',
    '0 a → open: opened; 2 ~a → monitoring: recovered; 6 a → open: again; 8 ~a → monitoring: recovered; 12 a → open: again; 14 ~a → monitoring: recovered; 18 a → open: flapping; 50 ~a → monitoring: recovered',
  ],
  [
    'three returns in more than an hour are no flapping',
    '0 a → open: opened; 2 ~a → monitoring: recovered; 30 a → open: again; 32 ~a → monitoring: recovered; 60 a → open: again; 62 ~a → monitoring: recovered; 91 a → open: again',
  ],
]

test('there are at least 60 stories', () => assert.ok(STORIES.length >= 60, `${STORIES.length}`))

for (const [title, story] of STORIES) {
  test(title, () => {
    const { told, expected } = play(story)
    assert.deepEqual(told, expected)
  })
}

const SUMS: readonly (readonly [string, string, number])[] = [
  ['35 s and 30 s are 65 s', '0 a → open: opened; 0.5833 -a → open; 8 a → open: again; 8.5 -a → open', 65],
  [
    'the settle time does not count',
    '0 a → open: opened; 5 -a → open; 6 now → monitoring: recovered; 9 now → monitoring',
    300,
  ],
  ['a gap within the settle time does not count', '0 a → open: opened; 5 -a → open; 5.5 a → open; 6.5 -a → open', 360],
  ['a disproved gap counts', '0 a → open: opened; 5 ~a → monitoring: recovered; 9 =a → open: again; 10 -a → open', 600],
  ['overlapping conditions count once', '0 a → open: opened; 2 b → open: worse; 4 -a → open; 6 -b → open', 360],
  ['what goes on counts until now', '0 a → open: opened; 10 now → open', 600],
  ['a resolution does not end what fires', '0 a → open: opened; 5 resolve → resolved: resolved; 9 now → resolved', 540],
  ['what ends after a resolution counts', '0 a → open: opened; 5 resolve → resolved: resolved; 8 -a → resolved', 480],
  [
    'a resolution of what is well adds nothing',
    '0 a → open: opened; 5 -a → open; 5.5 resolve → resolved: resolved',
    300,
  ],
  [
    'a reopening keeps the sum',
    '0 a → open: opened; 5 resolve → resolved: resolved; 9 reopen → open: reopened; 10 now → open',
    600,
  ],
  ['silenced time does not count', '0 a → open: opened; 5 s → open; 20 -s → open: again; 21 -a → open', 360],
]
for (const [title, story, seconds] of SUMS) {
  test(`critical for: ${title}`, () => {
    const { problem, now } = play(story)
    assert.ok(problem && Math.abs(criticalMsOf(problem, now) / 1000 - seconds) <= 1)
  })
}

for (const [title, story, seconds] of [
  ['a silence that ended', '0 a → open: opened; 5 s → open; 20 -s → open: again; 21 -a → open', 900],
  ['a silence that goes on', '0 a → open: opened; 5 s → open; 20 now → open', 900],
  [
    'two silences',
    '0 a → open: opened; 5 s → open; 10 -s → open: again; 20 s → open; 25 -s → open: again; 30 now → open',
    600,
  ],
  ['no silence', '0 a → open: opened; 5 -a → open', 0],
  ['a silence after the end', '0 a → open: opened; 5 -a → open; 5.5 s → open', 0],
] as const) {
  test(`silenced time is known: ${title}`, () => {
    const { problem, now } = play(story)
    assert.ok(problem && Math.abs(mutedMsOf(problem, now) / 1000 - seconds) <= 1)
  })
}

for (const [title, story, minutes] of [
  [
    'an incident that opens when its silence ends',
    '0 s → none; 1 a → none; 9 -s → open: opened; 12 now → open',
    [1, 9],
  ],
  ['a silence in an open incident', '0 a → open: opened; 5 s → open; 20 -s → open: again; 30 now → open', [0, 20]],
  ['an alert that began again', '0 a → open: opened; 5 s → open; 6 -a → open; 8 a → open; 20 -s → open', [8, 20]],
  ['no silence', '0 a → open: opened; 5 now → open', null],
  [
    'what began after the silence',
    '0 s → none; 1 a → none; 9 -s → open: opened; 10 -a → open; 12 now → monitoring: recovered; 15 a → open: again',
    null,
  ],
] as const) {
  test(`the silence is known with which a problem began: ${title}`, () => {
    const covered = play(story).problem?.covered ?? null
    const at = (time: number) => (time - NOON) / MINUTE
    assert.deepEqual(covered && [at(covered.since), at(covered.until)], minutes)
  })
}

test('the problem is on until the settle time is over', () => {
  const { problem } = play('0 a → open: opened; 5 -a → open')
  assert.ok(problem)
  assert.deepEqual(
    [5.9, 6].map((minute) => problemAt(problem, NOON + minute * MINUTE)),
    ['on', 'off'],
  )
})
