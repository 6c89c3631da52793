/** Room on the disk: how little is too little to go on, and how little will be soon. */

const MEBIBYTE = 1_048_576
/** With less than this, or than a few times what has to be free, a bad night fills it. In bytes. */
const USUAL = 1_000_000_000
const TIMES_THE_LEAST = 4

/** `short`: the server is not ready. `scarce`: a person should look. */
export type Room = 'short' | 'scarce' | 'enough'

/**
 * @param free bytes
 * @param minFree MiB that have to be free
 */
export function roomOf(free: number, minFree: number): Room {
  const least = minFree * MEBIBYTE
  if (free < least) return 'short'
  return free < Math.max(USUAL, TIMES_THE_LEAST * least) ? 'scarce' : 'enough'
}

/** In MiB, as the setting is; a part of one is none. */
export function wholeMebibytes(bytes: number): number {
  return Math.floor(bytes / MEBIBYTE)
}
