/** Delays responses to addresses that send many invalid tokens. */

import type { RefusedSenders } from '../../domain/doctor/facts.ts'
import { HOUR } from '../../domain/units.ts'

/** The number of invalid tokens per address that cause no delay. After that, one response per second is not delayed. */
const AT_ONCE = 100
const PAUSE = 1_000
/** The maximum number of tracked addresses and of delayed responses. Each delayed response keeps a connection open. */
const MAX_ADDRESSES = 10_000
const MAX_WAITING = 100
/** The maximum number of networks in the list of refused senders. */
const MAX_LISTED = 5

export type WrongTokens = {
  /**
   * Counts an invalid token. Returns how long to delay the response in milliseconds. `isSender` is true for webhook
   * requests.
   */
  readonly add: (address: string, isSender: boolean) => number
  /** Returns the networks whose webhook requests were rejected within the last hour. */
  readonly senders: () => RefusedSenders
  /** Records that a delayed response has been sent. Must be called after each delayed response. */
  readonly done: () => void
}

/** Creates the counter. @param now returns the time of a monotonic clock in milliseconds */
export function createWrongTokens(now: () => number): WrongTokens {
  /**
   * The counts of each network. `free` is the number of attempts without a delay, as of `at`. `times` counts the
   * rejected webhook requests in a series. A pause of an hour ends the series.
   */
  const known = new Map<string, { free: number; at: number; times: number; firstAt: number; lastAt: number }>()
  let waiting = 0
  return {
    add: (address, isSender) => {
      const network = networkOf(address)
      const before = known.get(network) ?? { free: AT_ONCE, at: now(), times: 0, firstAt: 0, lastAt: 0 }
      const free = Math.min(AT_ONCE, before.free + (now() - before.at) / PAUSE) - 1
      // Reinserts the entry, so that the map's first entry is always the oldest.
      known.delete(network)
      const isFirst = before.times === 0 || now() - before.lastAt >= HOUR
      const series = isFirst ? { times: 1, firstAt: now() } : { times: before.times + 1, firstAt: before.firstAt }
      const refused = isSender ? { ...series, lastAt: now() } : before
      known.set(network, { ...refused, free: Math.max(0, free), at: now() })
      const [oldest] = known.keys()
      if (known.size > MAX_ADDRESSES && oldest !== undefined) known.delete(oldest)
      if (free >= 0 || waiting >= MAX_WAITING) return 0
      waiting += 1
      return PAUSE
    },
    senders: () => {
      const refused = [...known]
        .reverse()
        .map(([network, { times, firstAt, lastAt }]) => {
          return { network, times, withinMs: lastAt - firstAt, agoMs: now() - lastAt }
        })
        .filter(({ times, agoMs }) => times > 0 && agoMs < HOUR)
        .toSorted((a, b) => a.agoMs - b.agoMs)
      const newest = refused.slice(0, MAX_LISTED)
      return { newest, more: refused.length - newest.length }
    },
    done: () => {
      waiting -= 1
    },
  }
}

/** Returns the network of an address. A single IPv6 user has 2^64 addresses, so only the first four groups are used. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => '0')
  return [...head, ...zeros, ...tail].slice(0, 4).join(':')
}
