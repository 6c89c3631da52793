/** Refreshes open pages. Visitors who see the same page share one rendering, so that many open pages cost little. */

import { headerOf } from '../../http/middleware/header.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import type { Web } from '../../server/web.ts'
import type { Visit } from './page.ts'
import { cookieOf, serverAddress } from './visitor.ts'

/**
 * The maximum age of a rendering, in milliseconds. A page shows durations, so the page changes even if no record
 * changes.
 */
const MAX_AGE = 10_000
const MAX_PAGES = 100
/**
 * The maximum share of the main thread's time for all refreshes. `RENDERING_SHARE` is the maximum for repeated
 * renderings of one page.
 */
const SHARE = 0.025
const RENDERING_SHARE = 0.01
/** The CPU time of a request without its rendering, in milliseconds: the initial estimate and the minimum. */
const LEAST_COST = 0.3
/**
 * The ratio of a request's whole CPU time to its measured CPU time, in a server that is also storing thousands of
 * alerts per second. The measurement starts when the handler is called and ends when the response is written. It does
 * not include parsing the request, sending the response, the garbage collection, and colder CPU caches.
 */
const WHOLE_REQUEST = 4
/**
 * The approximate number of refreshes in each moving average. If more pages are open, the average for rendering covers
 * as many refreshes as there are pages.
 */
const AVERAGED = 100
/** The minimum and the maximum time between two refreshes of a page, in milliseconds. */
const LEAST_WAIT = 2_000
const MOST_WAIT = 300_000

/** The fractional parts of this number's multiples are spread evenly. */
const GOLDEN_RATIO = 0.618
/** The maximum number of pages rendered at the same time. Each page reads several lists. */
const SLOTS = 4

/**
 * A page without CSRF tokens. `delivery` is the last delivery of notices before rendering started. `at` and `delivery`
 * are infinite until rendering starts. `took` is the CPU time of rendering in the main thread, in milliseconds.
 */
type Rendering = { at: number; delivery: number; took: number; isFinished: boolean; readonly reply: Promise<Reply> }
type Refreshes = {
  readonly pages: Map<string, Rendering>
  /** The last rendering of each slot. */
  readonly slots: Promise<unknown>[]
  started: number
  answered: number
  /** The average CPU times of a refresh in the main thread, in milliseconds. */
  readonly cost: { request: number; rendering: number }
}

const refreshes = new WeakMap<Web, Refreshes>()

/** Returns whether the request was sent by an open page's script. */
export function isRefresh({ c }: Pick<Visit, 'c'>): boolean {
  return headerOf(c, 'x-refresh') !== undefined
}

/**
 * Returns the page as rendered after the last delivery of notices. The CSRF token is in the `x-csrf` header instead of
 * the forms. The `x-refresh-after` header contains the time until the next refresh in milliseconds.
 */
export async function refresh(visit: Visit, render: (visit: Visit) => Promise<Reply>): Promise<Reply> {
  const { server, visitor } = visit
  const { notices } = server.web
  const state = refreshes.get(server.web) ?? createRefreshes()
  refreshes.set(server.web, state)
  const key = keyOf(visit)
  const known = state.pages.get(key)
  const isCurrent = known !== undefined && known.delivery >= notices.lastDelivery(visitor.organizationId)
  const shared = isCurrent && server.elapsed() - known.at < MAX_AGE ? known : start(state, key, visit, render)
  const { isFinished } = shared
  const reply = await shared.reply
  const wait = waitAfter(state, notices.count())
  // Node writes the response before it calls this function.
  if (isFinished) process.nextTick(() => measure(state, server.worked() - visit.workedBefore))
  return { ...reply, headers: { ...reply.headers, 'x-csrf': visitor.csrf, 'x-refresh-after': `${wait}` } }
}

function createRefreshes(): Refreshes {
  return { pages: new Map(), slots: [], started: 0, answered: 0, cost: { request: LEAST_COST, rendering: 0 } }
}

/** Updates the average with the CPU time of a request that did not wait for its rendering. */
function measure({ cost }: Refreshes, handled: number): void {
  cost.request += (Math.max(LEAST_COST, WHOLE_REQUEST * handled) - cost.request) / AVERAGED
}

/**
 * Returns the time until a page's next refresh, in milliseconds. The time varies, so that pages do not refresh
 * simultaneously.
 */
function waitAfter(state: Refreshes, pages: number): number {
  const { cost } = state
  state.answered += 1
  cost.rendering -= cost.rendering / Math.max(AVERAGED, pages)
  const wait = (pages * (cost.request + cost.rendering)) / SHARE
  const factor = 0.75 + ((state.answered * GOLDEN_RATIO) % 1) / 2
  return Math.round(Math.min(MOST_WAIT, Math.max(LEAST_WAIT, wait * factor)))
}

/** Renders a page when a slot is free. */
function start(state: Refreshes, key: string, visit: Visit, render: (visit: Visit) => Promise<Reply>): Rendering {
  const { server, visitor, deps } = visit
  const run = async () => {
    rendering.at = server.elapsed()
    rendering.delivery = server.web.notices.lastDelivery(visitor.organizationId)
    const now = deps.now()
    const viewer = { ...visit.viewer, now }
    const onRendered = (ms: number) => {
      rendering.took = ms
      state.cost.rendering += ms / Math.max(AVERAGED, server.web.notices.count())
    }
    const reply = await render({ ...visit, now, viewer, visitor: { ...visitor, csrf: '' }, onRendered })
    rendering.isFinished = true
    return reply
  }
  const slot = state.started % SLOTS
  const reply = Promise.allSettled([due(server, state.pages.get(key)), state.slots[slot]]).then(run)
  const never = Number.POSITIVE_INFINITY
  const rendering: Rendering = { at: never, delivery: never, took: 0, isFinished: false, reply }
  state.started += 1
  state.slots[slot] = reply
  state.pages.delete(key)
  state.pages.set(key, rendering)
  reply.catch(() => state.pages.get(key) === rendering && state.pages.delete(key))
  for (const oldest of state.pages.keys()) if (state.pages.size > MAX_PAGES) state.pages.delete(oldest)
  return rendering
}

/**
 * Resolves when a page may be rendered again. The more CPU time the previous rendering took, the longer the wait. The
 * next rendering then includes more changes.
 */
async function due(server: Visit['server'], previous: Rendering | undefined): Promise<void> {
  if (!previous) return
  await previous.reply
  const wait = previous.at + previous.took / RENDERING_SHARE - server.elapsed()
  if (wait > 0) await server.pause(wait)
}

/** Returns a key for everything that a shared page depends on, except the records. */
function keyOf(visit: Visit): string {
  const { c, visitor, viewer } = visit
  const cookies = ['theme', 'keys'].map((name) => cookieOf(c, name))
  const headers = [serverAddress(c, visit), headerOf(c, 'accept-encoding')]
  return JSON.stringify([visitor.organizationId, visitor.scopes, viewer.zone, c.req.url, ...cookies, ...headers])
}
