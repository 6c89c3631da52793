/** The time of the processor, which does not pass while other processes have it. */

/** Milliseconds that this thread was busy with the work, by itself. */
export function busyFor(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
