/** Wrong tokens: whoever tries many from one address waits for each further answer; nobody else does. */

/** So many from one address are answered at once; after that one a second, and what is above it waits. */
const AT_ONCE = 100
const PAUSE = 1_000
/** Addresses remembered, the last heard; and answers that wait at a time, since each of them holds a connection. */
const MOST_ADDRESSES = 10_000
const MOST_WAITING = 100

export type WrongTokens = {
  /** Counts one; how long its answer should wait, in milliseconds. */
  readonly add: (address: string) => number
  /** An answer that waited is sent. */
  readonly done: () => void
}

/**
 * @param now milliseconds of a clock that does not jump
 */
export function createWrongTokens(now: () => number): WrongTokens {
  /** By network: how many are still free, and when that was reckoned. */
  const known = new Map<string, { free: number; at: number }>()
  let waiting = 0
  return {
    add: (address) => {
      const network = networkOf(address)
      const before = known.get(network) ?? { free: AT_ONCE, at: now() }
      const free = Math.min(AT_ONCE, before.free + (now() - before.at) / PAUSE) - 1
      // Set anew, so that the first in the map is the one not heard for the longest time.
      known.delete(network)
      known.set(network, { free: Math.max(0, free), at: now() })
      const [oldest] = known.keys()
      if (known.size > MOST_ADDRESSES && oldest !== undefined) known.delete(oldest)
      if (free >= 0 || waiting >= MOST_WAITING) return 0
      waiting += 1
      return PAUSE
    },
    done: () => {
      waiting -= 1
    },
  }
}

/** One holder of IPv6 has 2^64 addresses: their first four groups, in which `::` may hide zeros, stand for all of them. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
