/** Measures CPU time, which does not include time used by other processes. */
import assert from 'node:assert/strict'

const ATTEMPTS = 3
/** A collection of garbage, or a neighbor that fills the caches, slows down an attempt by less than this factor. */
const NOISE = 4

/** Fails unless this thread spends less than `limit` milliseconds of CPU time on the work. */
export function assertQuick(limit: number, work: () => unknown): void {
  for (let attempt = 1; ; attempt += 1) {
    const before = process.threadCpuUsage()
    work()
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1000
    if (ms < limit) return
    assert.ok(attempt < ATTEMPTS && ms < NOISE * limit, `${ms} ms of CPU time, not less than ${limit}`)
  }
}
