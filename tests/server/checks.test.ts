/** The process checks behind /readyz. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkProcess } from '../../src/server/checks.ts'

const GOOD = { free: 9 * 1_048_576, minFree: 8, stalled: 0, damage: null, isLoaded: true, isStopping: false }

function failing(state: Partial<Parameters<typeof checkProcess>[0]>) {
  return checkProcess({ ...GOOD, ...state }).filter(({ detail }) => detail !== null)
}

test('free space, a responsive event loop and no shutdown are fine', () => assert.deepEqual(failing({}), []))

for (const [what, state, name, detail] of [
  [
    'too little room',
    { free: 8 * 1_048_576 - 1 },
    'disk',
    /^7 MiB of disk space is free, .+ min-free-disk = 8; free some space$/,
  ],
  ['a disk that does not answer', { free: null }, 'disk', /is not responding/],
  ['a loop that stood still', { stalled: 1_000 }, 'event-loop', /^the process was blocked for 1000 ms/],
  ['damage', { damage: 'the database is damaged; restore' }, 'integrity', /^the database is damaged/],
  ['a stop', { isStopping: true }, 'running', /^incmon is stopping$/],
] as const) {
  test(`${what} fails and says so`, () => {
    const [check, ...others] = failing(state)
    assert.deepEqual([check?.name, others], [name, []])
    assert.match(check?.detail ?? '', detail)
  })
}

test('a minimum of 0 disables the check', () => assert.deepEqual(failing({ free: 0, minFree: 0 }), []))
