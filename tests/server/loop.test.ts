/** Monitoring of the event loop, with manually advanced clocks. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { watchLoop } from '../../src/server/checks.ts'

function watched(t: TestContext) {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const clock = { steady: 0, wall: 0 }
  const jumps: number[] = []
  const loop = watchLoop(
    () => clock.steady,
    () => clock.wall,
    (ms) => void jumps.push(ms),
  )
  t.after(loop.stop)
  /** Runs one check after the given times have passed on both clocks. */
  const turn = (steady: number, wall = steady) => {
    clock.steady += steady
    clock.wall += wall
    t.mock.timers.tick(1_000)
  }
  return { loop, jumps, turn }
}

test('a responsive event loop is not stalled', (t) => {
  const { loop, turn } = watched(t)
  turn(1_000)
  assert.equal(loop.stalled(), 0)
})

test('a stall is reported for ten seconds', (t) => {
  const { loop, turn } = watched(t)
  turn(4_000)
  assert.equal(loop.stalled(), 3_000)
  for (let second = 0; second < 10; second += 1) turn(1_000)
  assert.equal(loop.stalled(), 0)
})

for (const hours of [-1, 24 * 365]) {
  test(`a clock jump of ${hours} hours is logged and is not a stall`, (t) => {
    const { loop, jumps, turn } = watched(t)
    turn(1_000, 1_000 + hours * 3_600_000)
    assert.deepEqual([jumps, loop.stalled()], [[hours * 3_600_000], 0])
  })
}

test('a correction of seconds is not logged', (t) => {
  const { jumps, turn } = watched(t)
  turn(1_000, 31_000)
  assert.deepEqual(jumps, [])
})
