/** Measures CPU time, which does not include time used by other processes. */

/** Returns how many milliseconds of CPU time this thread spends on the work. */
export function busyFor(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
