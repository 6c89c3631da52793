/** Collects change notices for a moment, then sends them to all event streams of the organization. */
import { setImmediate as turn } from 'node:timers/promises'
import type { Notice } from '../domain/notice.ts'

/**
 * How long notices are collected after a delivery, in milliseconds. After a longer pause, a notice is sent immediately.
 * Collecting reduces the number of writes, because each delivery is written once per stream.
 */
const PAUSE = 500
/** The same after the status of a service changed, which open pages show within a second, whatever else changes. */
const STATUS_PAUSE = 250
/** While changes keep arriving, the pause doubles with each delivery, up to this much more per open stream. */
const MAX_PAUSE_PER_STREAM = 10
const HEARTBEAT = 15_000
/** The number of streams that are written in one turn of the event loop. Each takes about 0.05 ms. */
const STREAMS_PER_TURN = 50
/** How long a turn may take, in milliseconds. Once a minute, the check of a token writes when it was used last. */
const MAX_TURN = 10
/** The memory in bytes for past deliveries of all organizations, kept for streams that reconnect. */
const KEPT = 4_194_304
/** The memory that a delivery takes in addition to its text, in bytes. */
const DELIVERY = 512
/**
 * The maximum size in bytes of missed deliveries for a stream that reconnects. Must be below the limit for unread data.
 */
const MAX_MISSED = 524_288
/** If a delivery contains more records of one kind than this, `*` is sent instead of their UUIDs. */
const MAX_IDS = 50

/** A reader of an event stream. `isAllowed` is called before each delivery. If it returns false, the stream ends. */
type Subscriber = {
  readonly organizationId: number
  readonly send: (text: Uint8Array) => void
  /** Returns a promise only if the permission has to be checked again. */
  readonly isAllowed: () => boolean | Promise<boolean>
  readonly end: () => void
}

export type Notices = {
  readonly announce: (notice: Notice) => void
  /**
   * @param after the id of the last delivery that the stream received, or '' if it is new. Returns a function that
   * unsubscribes.
   */
  readonly subscribe: (subscriber: Subscriber, after: string) => () => void
  /** Returns the number of the last delivery to an organization, or 0. */
  readonly lastDelivery: (organizationId: number) => number
  /** Returns the number of the last delivery to an organization that contained a service, or 0. */
  readonly lastStatus: (organizationId: number) => number
  /** Returns the number of open streams, of one organization or in total. */
  readonly count: (organizationId?: number) => number
  /** Ends all streams. */
  readonly close: () => void
}

/** `bytes` is encoded once and shared by all streams. */
type Delivery = { readonly number: number; readonly organizationId: number; readonly bytes: Uint8Array }

const encoder = new TextEncoder()
const STILL_HERE = encoder.encode(': still here\n\n')

/** @param run unique for this process, so that ids from an earlier process are not accepted */
export function createNotices(run: string, elapsed: () => number): Notices {
  const subscribers = new Set<Subscriber>()
  const gathered = new Map<number, Map<string, Set<string>>>()
  const kept: Delivery[] = []
  let keptBytes = 0
  /** The number of the last delivery to each organization that is no longer kept. */
  const dropped = new Map<number, number>()
  const last = new Map<number, number>()
  const lastStatus = new Map<number, number>()
  let number = 0
  let deliveredAt = Number.NEGATIVE_INFINITY
  let pause = PAUSE
  let timer: NodeJS.Timeout | undefined
  let dueAt = 0
  /** Resolves when all streams have what was sent last. The next delivery waits for it and contains what comes meanwhile. */
  let sending = Promise.resolve()
  const deliver = () => {
    timer = undefined
    deliveredAt = elapsed()
    const deliveries = new Map<number, Uint8Array>()
    for (const [organizationId, kinds] of gathered) {
      number += 1
      last.set(organizationId, number)
      if (kinds.has('service')) lastStatus.set(organizationId, number)
      const bytes = encoder.encode(textOf(kinds, `${run}-${number}`))
      kept.push({ number, organizationId, bytes })
      keptBytes += bytes.length + DELIVERY
      deliveries.set(organizationId, bytes)
    }
    sendToAll(({ organizationId }) => deliveries.get(organizationId))
    gathered.clear()
    dropOldest()
  }
  const dropOldest = () => {
    let count = 0
    for (const { number, organizationId, bytes } of kept) {
      if (keptBytes <= KEPT) break
      keptBytes -= bytes.length + DELIVERY
      dropped.set(organizationId, number)
      count += 1
    }
    kept.splice(0, count)
  }
  /** Sends to the streams that are open now. A stream that is opened later finds the delivery in `kept`. */
  const sendToAll = (bytesFor: (one: Subscriber) => Uint8Array | undefined) => {
    const streams = [...subscribers]
    const send = async () => {
      let [count, began] = [0, performance.now()]
      for (const one of streams) {
        const bytes = bytesFor(one)
        if (!bytes || !subscribers.has(one)) continue
        if (count === STREAMS_PER_TURN || performance.now() - began > MAX_TURN) {
          await turn()
          ;[count, began] = [0, performance.now()]
        }
        count += 1
        sendTo(one, bytes)
      }
    }
    sending = sending.then(send)
  }
  const sendTo = (subscriber: Subscriber, bytes: Uint8Array) => {
    const finish = (isAllowed: boolean) => {
      if (!subscribers.has(subscriber)) return
      if (isAllowed) return subscriber.send(bytes)
      subscribers.delete(subscriber)
      subscriber.end()
    }
    const isAllowed = subscriber.isAllowed()
    if (isAllowed instanceof Promise) void isAllowed.then(finish)
    else finish(isAllowed)
  }
  const heartbeat = setInterval(() => sendToAll(() => STILL_HERE), HEARTBEAT)
  heartbeat.unref()
  return {
    announce: ({ kind, id, organizationId }) => {
      const kinds = gathered.get(organizationId) ?? new Map<string, Set<string>>()
      gathered.set(organizationId, kinds)
      const ids = kinds.get(kind)
      if (!ids) kinds.set(kind, new Set([id]))
      else if (ids.size <= MAX_IDS) ids.add(id)
      const now = elapsed()
      if (timer === undefined) {
        dueAt = Math.max(now, deliveredAt + pause)
        const longest = PAUSE + MAX_PAUSE_PER_STREAM * subscribers.size
        pause = dueAt > now ? Math.min(pause * 2, longest) : PAUSE
      } else if (kind !== 'service' || dueAt <= deliveredAt + STATUS_PAUSE) return
      if (kind === 'service') dueAt = Math.min(dueAt, Math.max(now, deliveredAt + STATUS_PAUSE))
      clearTimeout(timer)
      timer = setTimeout(() => void sending.then(deliver), Math.max(0, dueAt - now))
    },
    subscribe: (subscriber, after) => {
      subscribers.add(subscriber)
      const missed = missedBy(subscriber.organizationId, after)
      const now = `id: ${run}-${number}\n`
      subscriber.send(encoder.encode(`retry: 2000\n\n${missed === null ? `${now}event: reset\ndata: *\n\n` : ''}`))
      for (const { bytes } of missed ?? []) subscriber.send(bytes)
      if (missed !== null) subscriber.send(encoder.encode(`${now}\n`))
      return () => void subscribers.delete(subscriber)
    },
    lastDelivery: (organizationId) => last.get(organizationId) ?? 0,
    lastStatus: (organizationId) => lastStatus.get(organizationId) ?? 0,
    count: (organizationId) =>
      organizationId === undefined
        ? subscribers.size
        : subscribers
            .values()
            .filter((one) => one.organizationId === organizationId)
            .toArray().length,
    close: () => {
      clearInterval(heartbeat)
      clearTimeout(timer)
      for (const one of subscribers) one.end()
      subscribers.clear()
    },
  }

  /** Returns the deliveries after this id, or null if some are no longer stored or their total size is too large. */
  function missedBy(organizationId: number, after: string): readonly Delivery[] | null {
    if (after === '') return []
    const digits = after.startsWith(`${run}-`) ? after.slice(run.length + 1) : ''
    const last = /^\d+$/.test(digits) ? Number(digits) : Number.NaN
    if (!(last >= (dropped.get(organizationId) ?? 0) && last <= number)) return null
    const since = kept.slice(kept.findLastIndex((one) => one.number <= last) + 1)
    const missed = since.filter((one) => one.organizationId === organizationId)
    return missed.reduce((size, { bytes }) => size + bytes.length, 0) > MAX_MISSED ? null : missed
  }
}

/**
 * Only the last event has the id: if the connection breaks during a delivery, the client receives the whole delivery
 * again.
 */
function textOf(kinds: ReadonlyMap<string, ReadonlySet<string>>, id: string): string {
  const events = [...kinds].flatMap(([kind, ids]) =>
    (ids.size > MAX_IDS ? ['*'] : [...ids]).map((one) => `event: ${kind}\ndata: ${one}\n\n`),
  )
  const last = events.pop() ?? ''
  return `${events.join('')}id: ${id}\n${last}`
}
