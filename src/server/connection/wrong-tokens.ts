/** Delays responses to addresses that try many invalid tokens. */

/** Number of invalid tokens per address without a delay. After that, one per second is not delayed. */
const AT_ONCE = 100
const PAUSE = 1_000
/** The maximum number of remembered addresses, and of delayed responses. Each delayed response keeps a connection open. */
const MAX_ADDRESSES = 10_000
const MAX_WAITING = 100

export type WrongTokens = {
  /** Counts one invalid token. Returns the delay of the response in milliseconds. */
  readonly add: (address: string) => number
  /** Call this after a delayed response was sent. */
  readonly done: () => void
}

/** Creates the counter. @param now returns the milliseconds of a monotonic clock */
export function createWrongTokens(now: () => number): WrongTokens {
  /** By network: free attempts, and when they were computed. */
  const known = new Map<string, { free: number; at: number }>()
  let waiting = 0
  return {
    add: (address) => {
      const network = networkOf(address)
      const before = known.get(network) ?? { free: AT_ONCE, at: now() }
      const free = Math.min(AT_ONCE, before.free + (now() - before.at) / PAUSE) - 1
      // Inserted again, so that the first entry of the map is the oldest.
      known.delete(network)
      known.set(network, { free: Math.max(0, free), at: now() })
      const [oldest] = known.keys()
      if (known.size > MAX_ADDRESSES && oldest !== undefined) known.delete(oldest)
      if (free >= 0 || waiting >= MAX_WAITING) return 0
      waiting += 1
      return PAUSE
    },
    done: () => {
      waiting -= 1
    },
  }
}

/**
 * Returns the network of an address. One owner of IPv6 has 2^64 addresses, so the first four groups stand for all of
 * them.
 */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
