/** /sources and /welcome: the senders, the rejected items, and the steps to connect a sender. */

import { loadExample, removeExample } from '../../actions/example.ts'
import { createToken } from '../../actions/tokens.ts'
import { BUDGETS } from '../../domain/budgets.ts'
import type { Source } from '../../domain/event/event.ts'
import { EXAMPLE_CLUSTER } from '../../domain/example/recorded.ts'
import { hoursUntil } from '../../domain/sender/sender.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import { DAY } from '../../domain/units.ts'
import type { Reply } from '../../http/middleware/reply.ts'
import { READERS } from '../../intake/index.ts'
import { testEvent } from '../../intake/test-event.ts'
import { listGaps } from '../../store/kubernetes.ts'
import { listRecipients } from '../../store/notification/channels.ts'
import { listOrganizations } from '../../store/organizations.ts'
import { listRejections } from '../../store/rejections.ts'
import { listSenders, type SenderRecord } from '../../store/senders.ts'
import { findHasServices } from '../../store/views.ts'
import { type PageRoute, page, type Visit } from '../page.ts'
import { choiceOf, pageOf } from '../visit/choice.ts'
import { bannerFor, type Done, redirect, show } from '../visit/reply.ts'
import { serverAddress } from '../visit/visitor.ts'
import { ConnectSteps, ConnectTabs } from './connect.tsx'
import { CONNECTIONS, type ConnectionName } from './connections.ts'
import { SourcesPage } from './page.tsx'
import { WelcomePage } from './welcome.tsx'

const SENDERS = { page: 1, limit: 1_000 }
const MAX_ROWS = 40
const WEEK = 7 * DAY
const REJECTIONS = { page: 1, limit: 20 }
const MAX_TEXT = BUDGETS['shown-payload'].value
const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/
/** The host of a server that listens on all interfaces. */
const WILDCARD = /^(?:0\.0\.0\.0|\[::\])$/

export const sourceRoutes: readonly PageRoute[] = [
  page('GET /sources', 'read', (visit) => showSources(visit, null), { shared: true, early: true }),
  page('POST /sources', 'admin', async (visit) => showSources(visit, await newToken(visit))),
  page('GET /welcome', 'read', (visit) => showWelcome(visit, null)),
  page('POST /welcome', 'admin', async (visit) => showWelcome(visit, await newToken(visit))),
  page('POST /welcome/example', 'admin', startExample),
  page('POST /welcome/example/remove', 'admin', endExample),
  // After a test event, the browser shows this URL, and the page's script reloads it.
  page('GET /sources/test', 'read', (visit) => showSources(visit, null)),
  page('GET /welcome/test', 'read', (visit) => showWelcome(visit, null)),
  page('POST /sources/test', 'write', (visit) => sendTest(visit, showSources)),
  page('POST /welcome/test', 'write', (visit) => sendTest(visit, showWelcome)),
]

async function showSources(visit: Visit, secret: string | null, done: Done | '' = ''): Promise<Reply> {
  const { own, store, visitor, now } = visit
  const { organizationId } = visitor
  const { items: senders } = await own.read(listSenders, SENDERS)
  const rejected = await own.read(listRejections, { from: now - DAY }, REJECTIONS)
  // A refused request belongs to no organization, so its address is shown only if there is a single organization.
  const isOnly = (await store.read(listOrganizations)).length === 1
  const failing = (await own.read(listRecipients)).filter((channel) => channel.failing !== null)
  const current = connectionOf(visit)
  const watched = visit.server.clusters(organizationId)
  const isWatched = ({ source, cluster }: SenderRecord) =>
    source === 'cluster' && watched.some(({ name }) => name === cluster)
  const { title, rest } = headlineOf(senders, rejected.total, isWatched)
  const pages = Math.ceil(senders.length / MAX_ROWS)
  const page = pageOf(visit.query('page'), pages)
  const rows = senders.slice((page - 1) * MAX_ROWS, page * MAX_ROWS)
  const shown = rows.map((sender) => ({
    ...{ ...sender, byHour: hoursUntil(sender.hours, now) },
    isWatched: isWatched(sender),
    hasTwin: senders.some((one) => one !== sender && one.source === sender.source),
  }))
  const counts = { rejections: rejected.items.map(shortened), rejected: rejected.total }
  const refused = isOnly ? visit.server.wrongTokens.senders() : null
  const clusters = await Promise.all(
    watched.map(async (state) => ({
      ...state,
      gaps: await own.read(listGaps, state.name, now - WEEK, now),
    })),
  )
  const content = (
    <SourcesPage {...{ lead: `${title}.`, rest, senders: shown, refused, failing, clusters, page, pages, ...counts }}>
      <ConnectTabs current={current} />
      <Connect visit={visit} secret={secret} path="/sources" senders={senders} />
    </SourcesPage>
  )
  const shownOnce = { banner: bannerFor(done), still: secret !== null }
  return show(visit, { title, content, current: 'sources', ...shownOnce })
}

/** Cuts off the text and the error of a rejected item. */
function shortened<Item extends { readonly payload: string; readonly error: string }>(item: Item): Item {
  return { ...item, payload: cut(item.payload), error: cut(item.error) }
}

function cut(text: string): string {
  if (text.length <= MAX_TEXT) return text
  const rest = formatCount(text.length - MAX_TEXT)
  return `${text.slice(0, MAX_TEXT).toWellFormed()} … (${rest} more characters in GET /api/rejections)`
}

/** Shows how to connect a sender. `secret` is the token to show. `done` is the action that this request performed. */
export async function showWelcome(visit: Visit, secret: string | null, done: Done | '' = ''): Promise<Reply> {
  const { own } = visit
  const current = connectionOf(visit)
  const { items: senders } = await own.read(listSenders, SENDERS)
  const hasServices = await own.read(findHasServices)
  const hasEvents = senders.length > 0
  const content = (
    <WelcomePage {...{ current, hasServices, hasEvents }}>
      <Connect visit={visit} secret={secret} path="/welcome" senders={senders} />
    </WelcomePage>
  )
  const shownOnce = { banner: bannerFor(done), still: secret !== null }
  return show(visit, { title: 'Connect a sender', content, current: 'services', ...shownOnce })
}

function Connect(props: { visit: Visit; secret: string | null; path: string; senders: readonly SenderRecord[] }) {
  const { visit, secret, path, senders } = props
  const current = connectionOf(visit)
  const own = senders.filter(
    ({ source, cluster, lastEventAt }) =>
      source === sourceOf(current) && lastEventAt !== null && cluster !== EXAMPLE_CLUSTER,
  )
  const at = Math.max(...own.map(({ lastEventAt }) => lastEventAt ?? 0))
  const arrival = own.length === 0 ? null : { at, events: own.reduce((sum, { events }) => sum + events, 0) }
  return <ConnectSteps {...{ secret, path, current, arrival }} {...senderAddress(visit)} />
}

/**
 * Returns the URL at which the visitor reaches this server. If only the server's public URL works on other machines,
 * returns the public URL. `missing`: the settings to change if the URL works only on this machine; otherwise empty.
 */
function senderAddress(visit: Visit): { readonly address: string; readonly missing: readonly string[] } {
  const own = serverAddress(visit.c, visit)
  const { url, publicUrl } = visit.server.listening() ?? { url: own, publicUrl: own }
  const address = isLocal(own) && !isLocal(publicUrl) ? publicUrl : own
  const settings = LOOPBACK.test(hostOf(url)) ? ['host', 'public-url'] : ['public-url']
  return { address, missing: isLocal(address) ? settings : [] }
}

function isLocal(url: string): boolean {
  return LOOPBACK.test(hostOf(url)) || WILDCARD.test(hostOf(url))
}

function hostOf(url: string): string {
  return new URL(url).hostname
}

async function newToken(visit: Visit): Promise<string> {
  const { store, visitor } = visit
  const { organizationId } = visitor
  const { name } = CONNECTIONS[connectionOf(visit)]
  const { token } = await store.run(createToken, { organizationId, name: name.toLowerCase(), scopes: ['ingest'] })
  return token
}

async function startExample(visit: Visit): Promise<Reply> {
  const { own, server, now } = visit
  const deliveries = server.web
    .example(now)
    .map(({ at, source, body }) => ({ at, source, intake: READERS[source](body, at) }))
  await own.run(loadExample, deliveries)
  return redirect(visit, '/', 'example-loaded')
}

async function endExample(visit: Visit): Promise<Reply> {
  await visit.own.run(removeExample)
  return redirect(visit, '/', 'example-removed')
}

/**
 * Stores a test event from the chosen sender, then renders the page again with the token that was shown before. A
 * redirect would lose the token.
 */
async function sendTest(visit: Visit, showPage: typeof showSources): Promise<Reply> {
  const { deps, visitor, now, form } = visit
  const source = sourceOf(connectionOf(visit))
  await deps.engine.submit({
    ...{ organizationId: visitor.organizationId, cluster: '', source, intake: testEvent(source, visitor.actor, now) },
    ...{ receivedAt: now, idempotencyKey: null, dryRun: false, isFromCache: false },
  })
  const secret = form.text('secret')
  return showPage(visit, secret === '' ? null : secret, 'test-sent')
}

function connectionOf({ form, query }: Visit): ConnectionName {
  return choiceOf(form.text('connect') || query('connect'), Object.keys(CONNECTIONS) as ConnectionName[], 'metrics')
}

function headlineOf(
  senders: readonly SenderRecord[],
  rejected: number,
  isWatched: (sender: SenderRecord) => boolean,
): { readonly title: string; readonly rest: string } {
  if (senders.length === 0) return { title: 'No sender is connected yet', rest: '' }
  const silent = senders.filter(({ heartbeat }) => heartbeat?.silent)
  const names = silent.map(({ source, cluster }) => CONNECTIONS[source].name + (cluster === '' ? '' : ` of ${cluster}`))
  const known = senders.length - silent.length
  const connected = `${known === 1 ? '1 sender is' : `${known} senders are`} connected`
  const items = rejected === 0 ? '' : ` ${countOf(rejected, 'item')} ${rejected === 1 ? 'was' : 'were'} rejected.`
  if (silent.length === 0) {
    return {
      title: connected,
      rest: `${heartbeatText(senders.filter((one) => one.heartbeat !== null || !isWatched(one)))}${items}`,
    }
  }
  const title = `${silent.length === 1 ? '1 heartbeat has' : `${silent.length} heartbeats have`} stopped: ${names.join(', ')}`
  return { title, rest: `${known === 0 ? '' : `${connected}.`}${items}`.trim() }
}

/** Returns a sentence about the senders' heartbeats. Called only if no heartbeat is missing. */
function heartbeatText(senders: readonly SenderRecord[]): string {
  const without = senders.filter(({ heartbeat }) => heartbeat === null).length
  if (without === 0) return 'No heartbeat is missing.'
  if (without === senders.length) return without === 1 ? '1 sender has no heartbeat.' : 'No sender has a heartbeat.'
  const known = senders.length - without
  return `${known === 1 ? '1 heartbeat is' : `${known} heartbeats are`} on time; ${countOf(without, 'sender')} ${without === 1 ? 'has' : 'have'} no heartbeat.`
}

/** Returns the source of the events that this connection sends. */
function sourceOf(name: ConnectionName): Source {
  return name === 'other' || name === 'prometheus' ? 'metrics' : name
}
