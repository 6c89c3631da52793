/** Judges free disk space. */

const MEBIBYTE = 1_048_576
/** In bytes. With less free space, one alert storm could fill the disk. */
const USUAL = 1_000_000_000
const TIMES_THE_LEAST = 4

/** `short`: the server is not ready. `scarce`: a person should check. */
export type DiskSpace = 'short' | 'scarce' | 'enough'

/**
 * Judges the free disk space.
 * @param free bytes
 * @param minFree the minimum in MiB
 */
export function judgeDiskSpace(free: number, minFree: number): DiskSpace {
  const least = minFree * MEBIBYTE
  if (free < least) return 'short'
  return free < Math.max(USUAL, TIMES_THE_LEAST * least) ? 'scarce' : 'enough'
}

/** Returns whole MiB, the unit of the setting. */
export function wholeMebibytes(bytes: number): number {
  return Math.floor(bytes / MEBIBYTE)
}
