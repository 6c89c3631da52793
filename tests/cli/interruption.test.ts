/** Signals sent to commands that write files. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { interruptible } from '../../src/cli/progress.ts'

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  test(`${signal} stops the work at its next check and gives a one-line error`, async () => {
    const work = interruptible(async (aborted) => {
      // Calls the listener directly. Emitting the signal would also stop the test runner.
      process.listeners(signal).at(-1)?.(signal)
      aborted.throwIfAborted()
    })
    await assert.rejects(work, { name: 'CommandError', message: 'stopped: nothing was changed' })
  })
}

test('an error from the work is kept, and the signal handlers are removed', async () => {
  const before = process.listenerCount('SIGINT')
  const work = interruptible(async () => {
    throw new Error('the disk is full')
  })
  await assert.rejects(work, /the disk is full/)
  assert.equal(process.listenerCount('SIGINT'), before)
})
