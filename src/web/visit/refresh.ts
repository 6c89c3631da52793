/** Refreshes open pages. Visitors who see the same page share one rendering, so that many open pages cost little. */

import { headerOf } from '../../http/middleware/header.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import type { Web } from '../../server/web.ts'
import type { Visit } from '../page.ts'
import { cookieOf, serverAddress, sessionSecrets } from './visitor.ts'

/** How long visitors share a rendering if nothing changes, in milliseconds. A page shows durations, which grow. */
const SHARED_FOR = 2_000
/** The minimum time between two renderings of the same page, in milliseconds. A change is shown after at most this time. */
const RENDER_EVERY = 1_000
/** The same after the status of a service changed, which open pages show within a second. */
const STATUS_EVERY = 400
const MAX_PAGES = 100
/** The minimum time between two refreshes of a page for each open page, in milliseconds. */
const WAIT_PER_PAGE = 10

/** The fractional parts of this number's multiples are spread evenly. */
const GOLDEN_RATIO = 0.618
/** The maximum number of pages rendered at the same time. Each page reads several lists. */
const SLOTS = 4

/**
 * A page without CSRF tokens. `delivery` is the last delivery of notices before rendering started. `at` and `delivery`
 * are infinite until rendering starts.
 */
type Rendering = { at: number; delivery: number; readonly reply: Promise<Reply> }
type Refreshes = {
  readonly pages: Map<string, Rendering>
  /** The last rendering of each slot. */
  readonly slots: Promise<unknown>[]
  started: number
  answered: number
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
  const state = refreshes.get(server.web) ?? { pages: new Map(), slots: [], started: 0, answered: 0 }
  refreshes.set(server.web, state)
  const key = keyOf(visit)
  const known = state.pages.get(key)
  const isCurrent = known !== undefined && known.delivery >= notices.lastDelivery(visitor.organizationId)
  const shared = isCurrent && server.elapsed() - known.at < SHARED_FOR ? known : start(state, key, visit, render)
  const reply = await shared.reply
  const wait = waitAfter(state, notices.count())
  return { ...reply, headers: { ...reply.headers, 'x-csrf': visitor.csrf, 'x-refresh-after': `${wait}` } }
}

/**
 * Returns the time until a page's next refresh, in milliseconds. The time varies if many pages are open, so that pages
 * do not refresh simultaneously.
 */
function waitAfter(state: Refreshes, pages: number): number {
  state.answered += 1
  const factor = 0.75 + ((state.answered * GOLDEN_RATIO) % 1) / 2
  return Math.round(pages * WAIT_PER_PAGE * factor)
}

/** Renders a page when a slot is free. */
function start(state: Refreshes, key: string, visit: Visit, render: (visit: Visit) => Promise<Reply>): Rendering {
  const { server, visitor, deps } = visit
  const run = async () => {
    rendering.at = server.elapsed()
    rendering.delivery = server.web.notices.lastDelivery(visitor.organizationId)
    const now = deps.now()
    const viewer = { ...visit.viewer, now }
    return render({ ...visit, now, viewer, visitor: { ...visitor, csrf: '' } })
  }
  const slot = state.started % SLOTS
  const reply = Promise.allSettled([due(visit, state.pages.get(key)), state.slots[slot]]).then(run)
  const never = Number.POSITIVE_INFINITY
  const rendering: Rendering = { at: never, delivery: never, reply }
  state.started += 1
  state.slots[slot] = reply
  state.pages.delete(key)
  state.pages.set(key, rendering)
  reply.catch(() => state.pages.get(key) === rendering && state.pages.delete(key))
  for (const oldest of state.pages.keys()) if (state.pages.size > MAX_PAGES) state.pages.delete(oldest)
  return rendering
}

/** Resolves when a page may be rendered again. The next rendering then includes more changes. */
async function due({ server, visitor }: Visit, previous: Rendering | undefined): Promise<void> {
  if (!previous) return
  await previous.reply
  const isStatus = server.web.notices.lastStatus(visitor.organizationId) > previous.delivery
  const wait = previous.at + (isStatus ? STATUS_EVERY : RENDER_EVERY) - server.elapsed()
  if (wait > 0) await server.pause(wait)
}

/** Returns a key for everything that a shared page depends on, except the records. */
function keyOf(visit: Visit): string {
  const { c, visitor, viewer } = visit
  const cookies = ['theme', 'keys'].map((name) => cookieOf(c, name))
  const headers = [serverAddress(c, visit), headerOf(c, 'accept-encoding'), sessionSecrets(c, visit).length > 1]
  return JSON.stringify([visitor.organizationId, visitor.scopes, viewer.zone, c.req.url, ...cookies, ...headers])
}
