/** Signals to commands that write files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interruptible } from '../../src/cli/progress.ts'

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} stops the work where it looks, in one line`, async () => {
    const work = interruptible(async (aborted) => {
      // Not emitted: whoever runs the tests listens too.
      process.listeners(signal).at(-1)?.(signal)
      aborted.throwIfAborted()
    })
    await assert.rejects(work, { name: 'CommandError', message: 'stopped: nothing was changed' })
  })
}

test('what fails by itself says why, and the signals are given back', async () => {
  const before = process.listenerCount('SIGINT')
  const work = interruptible(async () => {
    throw new Error('the disk is full')
  })
  await assert.rejects(work, /the disk is full/)
  assert.equal(process.listenerCount('SIGINT'), before)
})
