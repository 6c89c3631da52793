/** Live pages. When the event stream reports a change, the script fetches the page again and morphs the old page. */
import { byId, parsePage } from './dom.ts'
import { morph } from './morph.ts'

const KINDS = 'organization service alert incident correlation silence channel token reset'.split(' ')
/** The minimum time between two requests for the page, in milliseconds: after a change of a status, and after others. */
const STATUS_WAIT = 500
const LEAST_WAIT = 2_000
/** Requests from open pages are spread over this time, in milliseconds. */
const SPREAD = 300
const MINUTE = 60_000
/** How long a refresh leaves the confirmation of an action on the page, in milliseconds. */
const CONFIRMED = 10_000
const RETRY = 10_000
const NEVER = Number.POSITIVE_INFINITY

/** How long the changes since the last request may wait, in milliseconds; 0 if there are none. */
let pending = 0
let timer = 0
/** When the next request is sent; infinite if none is scheduled, 0 during a request. */
let dueAt = NEVER
/** When the last request began, and the time that the server wants after it, in milliseconds. */
let lastAt = 0
let wanted = 0
/** When the page stopped receiving changes; null while the page receives them. */
let lostAt: Date | null = null
let stream: EventSource | null = null
/** The list whose rows are held, and the newest page in its own order; null while no rows are held. */
let held: { readonly list: Element; readonly page: Document } | null = null

/** @param prefix the path under which a proxy serves the pages, or '' */
export function startLive(prefix: string): void {
  if (document.body.dataset.stream !== 'on') return
  const follow = () => listen(`${prefix}/api/stream`)
  follow()
  document.addEventListener('visibilitychange', follow)
  for (const kind of ['pointerover', 'focusin', 'focusout']) document.addEventListener(kind, followUse)
  document.documentElement.addEventListener('pointerleave', followUse)
  // Durations grow even if nothing happens, so the page is refreshed every minute.
  setInterval(schedule, MINUTE)
  setInterval(showClock, 1_000)
}

/** Opens the event stream, or closes it if the tab is hidden. A tab that becomes visible again is refreshed. */
function listen(address: string): void {
  stream?.close()
  stream = null
  if (document.hidden) {
    lostAt ??= new Date()
    return
  }
  const own = new EventSource(address)
  stream = own
  own.onopen = () => {
    if (lostAt) schedule()
    lostAt = null
    if (!held) showState('live', 'Live')
  }
  own.onerror = () => {
    lostAt ??= new Date()
    const since = timeOf(lostAt)
    showState('lost', `Not updated since ${since}`)
    setTimeout(() => lostAt && showLost(since), MINUTE)
    if (own.readyState === EventSource.CLOSED) setTimeout(() => stream === own && listen(address), RETRY)
  }
  const more = document.querySelector('main [data-events]') ? ['event'] : []
  for (const kind of KINDS.concat(more))
    own.addEventListener(kind, () => schedule(kind === 'service' ? STATUS_WAIT : LEAST_WAIT))
}

/** Schedules a request for the page, sooner after the change of a status. A hidden tab sends no requests. */
function schedule(wait = LEAST_WAIT): void {
  pending = Math.min(pending || wait, wait)
  if (document.hidden) return
  const at = Math.max(Date.now() + Math.random() * SPREAD, lastAt + Math.max(wanted, pending))
  if (dueAt <= at) return
  clearTimeout(timer)
  dueAt = at
  timer = setTimeout(refresh, at - Date.now())
}

async function refresh(): Promise<void> {
  pending = dueAt = 0
  lastAt = Date.now()
  let told = 0
  try {
    const response = await fetch(location.href, { headers: { accept: 'text/html', 'x-refresh': '1' } })
    told = Number(response.headers.get('x-refresh-after'))
    // A redirect means that the session has ended. The page is left as it is, so that typed text is not lost.
    if (response.ok && !response.redirected) swap(await response.text(), response.headers.get('x-csrf'))
    // The server is busy.
    if (response.status === 503) pending = LEAST_WAIT
  } finally {
    // If the server responds slowly, the page sends requests less often.
    wanted = Math.max(told, (told > 0 ? 2 : 11) * (Date.now() - lastAt))
    dueAt = NEVER
    if (pending) schedule(pending)
  }
}

/** @param csrf the CSRF token for the page's forms; null if the forms already contain the token */
function swap(html: string, csrf: string | null): void {
  const page = parsePage(html)
  if (csrf !== null) for (const field of page.querySelectorAll('input[name=csrf]')) field.setAttribute('value', csrf)
  const list = listInUse()
  const row = list?.querySelector(':scope > :is(:hover, :focus-within)')
  const top = row?.getBoundingClientRect().top ?? 0
  const newest = list && (page.cloneNode(true) as Document)
  const news = list && holdRows(list, page)
  apply(page)
  if (list && newest && news) hold({ list, page: newest }, news)
  if (!row?.isConnected) return
  // Content above the row may have grown, and the button must not cover the row.
  const { top: now, bottom } = row.getBoundingClientRect()
  const end = byId('newer')?.offsetTop ?? 1e9
  scrollBy(0, now - top + Math.max(0, bottom - now + top - end))
}

function apply(page: Document): void {
  release()
  document.title = page.title
  // A confirmation with an Undo button stays until the user opens another page.
  if (performance.now() > CONFIRMED) document.querySelector('#banner > .banner-done:not(:has(form))')?.remove()
  for (const after of page.querySelectorAll('[data-live][id], #symbols, #tab-icon')) {
    const before = byId(after.id)
    // A page with content that is shown only once, such as a secret, is never refreshed.
    const isStill = before?.id === 'main' && !before.hasAttribute('data-live')
    if (before && after.id !== 'banner' && !isStill) morph(before, after)
  }
}

/** Shows what is new in a list whose rows are held, and says that the rows are held instead of "Live". */
function hold(rows: NonNullable<typeof held>, { text, isCritical }: News): void {
  held = rows
  const button = document.createElement('button')
  button.id = 'newer'
  button.className = `button newer ${isCritical ? 'newer-critical' : ''}`
  button.textContent = text
  button.onclick = () => apply(rows.page)
  document.body.append(button)
  showState('held', 'Rows held')
}

function release(): void {
  byId('newer')?.remove()
  if (held && !lostAt) showState('live', 'Live')
  held = null
}

/** Shows the newest page as soon as the pointer and the focus have left the list. */
function followUse(): void {
  setTimeout(() => held && listInUse() !== held.list && apply(held.page))
}

function showState(state: string, word: string): void {
  const live = byId('live')
  if (live) live.dataset.state = state
  write('live-word', word)
}

function write(id: string, text: string): void {
  const shown = byId(id)
  if (shown && shown.textContent !== text) shown.textContent = text
}

function showLost(since: string): void {
  const banner = byId('banner')
  if (!banner || byId('lost')) return
  banner.innerHTML = '<div id="lost" class="banner banner-warning"><div class="inner row"></div></div>'
  const text = `Connection lost. This page shows the state at ${since}.`
  banner.firstElementChild?.firstElementChild?.append(text)
}

function showClock(): void {
  write('clock', timeOf(new Date()))
  if (!lostAt) byId('lost')?.remove()
}

/** Formats a time of day in the page's time zone, for example `03:14 Berlin`. */
function timeOf(at: Date): string {
  const zone = byId('clock')?.dataset.zone ?? 'UTC'
  const time = at.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone })
  return `${time} ${zone.slice(zone.lastIndexOf('/') + 1).replaceAll('_', ' ')}`
}

const LISTS = 'main :is(tbody, .rows, .healthy, .wall-cells)'

/** What the new page says about a list whose rows are held. */
type News = { readonly text: string; readonly isCritical: boolean }

/** Returns the list with the pointer or the focus in one of its rows, or null. */
function listInUse(): Element | null {
  return document.querySelector(`${LISTS} > :is(:hover, :focus-within)`)?.parentElement ?? null
}

/**
 * Gives the same list on the new page the order of `list`: new rows are left out, and rows that are gone stay.
 * @returns what is left out or in another place; null if no row would have moved
 */
function holdRows(list: Element, page: Document): News | null {
  const before = rowsOf(list)
  const found = sameList(before, page)
  const after = found && rowsOf(found)
  // Rows that cannot be told apart cannot be held.
  if (!found || !after || before.size < list.childElementCount || after.size < found.childElementCount) return null
  if ([...before.keys()].join('\n') === [...after.keys()].join('\n')) return null
  const news = newsOf(before, after)
  found.replaceChildren(...[...before].map(([key, row]) => after.get(key) ?? row.cloneNode(true)))
  return news
}

/** Rows have no ids: the list with the most rows in common is the same list. */
function sameList(before: ReadonlyMap<string, Element>, page: Document): Element | null {
  let [best, most]: [Element | null, number] = [null, 0]
  for (const one of page.querySelectorAll(LISTS)) {
    const common = [...one.children].filter((row) => before.has(keyOf(row))).length
    if (common > most) [best, most] = [one, common]
  }
  return best
}

/** Names the first of what is worse, or else of what is new: the lists begin with what is worst. */
function newsOf(before: ReadonlyMap<string, Element>, after: ReadonlyMap<string, Element>): News {
  const isCritical = (row: Element | undefined) => row?.className === 'service-critical'
  const worse = [...after].filter(([key, row]) => isCritical(row) && !isCritical(before.get(key)))
  const rows = worse[0] ? worse : [...after].filter(([key]) => !before.has(key))
  const row = rows[0]?.[1]
  const name = row?.getAttribute('data-name') ?? row?.getAttribute('title') ?? row?.querySelector('a')?.textContent
  const more = rows[1] ? ` and ${rows.length - 1} more` : ''
  const text = row ? `${name}${more} ${worse[0] ? 'became critical' : 'appeared'}, show` : 'New order, show'
  return { text, isCritical: !!worse[0] }
}

/** The rows of a list by the address of their first link. */
function rowsOf(list: Element): ReadonlyMap<string, Element> {
  return new Map([...list.children].map((row) => [keyOf(row), row]))
}

function keyOf(row: Element): string {
  return (row.matches('a') ? row : row.querySelector('a[href]'))?.getAttribute('href') ?? ''
}
