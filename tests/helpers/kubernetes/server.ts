/**
 * A fake Kubernetes API server, written from the API documentation: lists in pages, watches that resume, bookmarks, 410,
 * selectors, permissions, TLS, and connections that hang. `kubectl` works with it.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { discovery, NEW_EVENTS, RESOURCES, type Resource } from './resources.ts'
import { type Change, createStorage, type Json, matches } from './storage.ts'

type Options = {
  readonly now?: () => number
  /** By how many milliseconds the clock that responses show is ahead. */
  readonly ahead?: number
  /** The time between bookmarks, in milliseconds. */
  readonly bookmarks?: number
  /** The PEM texts of the certificate and its key. `clientCa`: accepts clients with a certificate of this CA. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly clientCa?: string }
}

export type FakeCluster = Awaited<ReturnType<typeof startFakeCluster>>

export async function startFakeCluster(t: { after: (work: () => void) => void }, options: Options = {}) {
  const storage = createStorage(options.now ?? Date.now)
  const state = {
    /** The accepted bearer tokens. */
    tokens: new Set(['secret']),
    /** `list pods`, `watch events` or `get nodes`: what RBAC refuses. */
    denied: new Set<string>(),
    /** Answers all requests with this status; 0 for none. `retryAfter`: in seconds. */
    failing: { status: 0, retryAfter: 0 },
    /** Open connections stay open, but nothing is sent. */
    isHung: false,
    /** Sends each line of a watch in two parts. */
    isSplit: false,
    /** Announces 410 with the HTTP status instead of an ERROR line. */
    isGoneByStatus: false,
    delay: 0,
    /** By how many milliseconds the changes of a resource, such as `pods`, are sent later than those of others. */
    late: new Map<string, number>(),
    requests: [] as string[],
  }
  const sockets = new Set<Socket>()
  const watches = new Set<() => void>()
  const handle = handler(storage, state, watches, options.bookmarks ?? 1000)
  const listener: RequestListener = (request, response) => {
    if (options.ahead) response.setHeader('Date', new Date(Date.now() + options.ahead).toUTCString())
    setTimeout(() => handle(request, response), state.delay)
  }
  const make = (): Server => {
    const { tls } = options
    const made = tls
      ? createSecureServer(
          {
            cert: tls.cert,
            key: tls.key,
            ...(tls.clientCa ? { ca: tls.clientCa, requestCert: true, rejectUnauthorized: false } : {}),
          },
          listener,
        )
      : createServer(listener)
    const keep = (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    }
    return made.on('connection', keep)
  }
  let server = make()
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  await listen(0)
  const { port } = server.address() as AddressInfo
  const stop = async () => {
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of sockets) socket.destroy()
    await closed
  }
  t.after(() => void stop())
  return {
    ...storage,
    state,
    url: `${options.tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    stop,
    /** Closes all connections and listens again on the same port. The objects and the history stay. */
    restart: async () => {
      await stop()
      server = make()
      await listen(port)
    },
    /** Ends every open watch, as the server does after `timeoutSeconds`. */
    endWatches: () => {
      for (const end of [...watches]) end()
    },
    watching: () => watches.size,
  }
}

type State = FakeCluster['state']

function handler(storage: ReturnType<typeof createStorage>, state: State, watches: Set<() => void>, bookmarks: number) {
  return (request: IncomingMessage, response: ServerResponse): unknown => {
    // The connection may have ended since the request arrived. It would never end again.
    if (request.socket.destroyed) return null
    const url = new URL(request.url ?? '/', 'http://fake')
    state.requests.push(`${request.method} ${request.url}`)
    if (state.isHung) return null
    if (state.failing.status > 0) {
      if (state.failing.retryAfter > 0) response.setHeader('Retry-After', String(state.failing.retryAfter))
      return refuse(response, state.failing.status, 'TooManyRequests', 'the server is busy')
    }
    if (!isKnown(request, state)) return refuse(response, 401, 'Unauthorized', 'Unauthorized')
    const found = discovery(url.pathname)
    if (found) return answer(response, 200, found)
    if (url.pathname.endsWith('/selfsubjectaccessreviews')) return review(request, response, state)
    const asked = resourceAt(url.pathname)
    if (!asked) return refuse(response, 404, 'NotFound', 'the server could not find the requested resource')
    const isWatch = url.searchParams.has('watch') && !['0', 'false'].includes(url.searchParams.get('watch') ?? '')
    const verb = asked.name !== '' ? 'get' : isWatch ? 'watch' : 'list'
    const { plural, group } = asked.resource
    if (state.denied.has(`${verb} ${plural}`)) {
      const what = `cannot ${verb} resource "${plural}" in API group "${group}" at the cluster scope`
      return refuse(
        response,
        403,
        'Forbidden',
        `${plural} is forbidden: User "system:serviceaccount:incmon:incmon" ${what}`,
      )
    }
    const shown = asked.resource === NEW_EVENTS ? newEvent : (object: Json) => object
    const isAsked = (object: Json) =>
      object.kind === asked.resource.kind &&
      (asked.namespace === '' || object.metadata.namespace === asked.namespace) &&
      matches(object, url.searchParams.get('fieldSelector'), url.searchParams.get('labelSelector'))
    if (asked.name !== '') {
      const object = storage.get(asked.resource.kind, asked.namespace, asked.name)
      if (!object) return refuse(response, 404, 'NotFound', `${plural} "${asked.name}" not found`)
      return answer(response, 200, shown(withVersion(object, asked.resource)))
    }
    if (!isWatch) return list({ storage, response, url, asked: asked.resource, isAsked, shown })
    const from = Number(url.searchParams.get('resourceVersion') ?? '0') || 0
    return watch({ storage, response, state, watches, bookmarks, url, from, isAsked, asked: asked.resource, shown })
  }
}

function isKnown(request: IncomingMessage, state: State): boolean {
  if ((request.socket as TLSSocket).authorized) return true
  return state.tokens.has((request.headers.authorization ?? '').replace('Bearer ', ''))
}

function resourceAt(path: string): { resource: Resource; namespace: string; name: string } | null {
  const parts = /^\/(?:api|apis\/([^/]+))\/(v\d+)\/(?:namespaces\/([^/]+)\/)?([a-z]+)(?:\/([^/]+))?$/.exec(path)
  const [, group = '', version, namespace = '', plural, name = ''] = parts ?? []
  const resource = [...RESOURCES, NEW_EVENTS].find(
    (one) => one.group === group && one.version === version && one.plural === plural,
  )
  return resource ? { resource, namespace, name } : null
}

/** Newer versions of kubectl send protobuf, whose strings are readable as well. */
async function review(request: IncomingMessage, response: ServerResponse, state: State): Promise<unknown> {
  const text = Buffer.concat(await request.toArray()).toString('latin1')
  const words: readonly string[] = text.match(/[a-z]+/g) ?? []
  const allowed = ![...state.denied].some((pair) => pair.split(' ').every((word) => words.includes(word)))
  const found = { kind: 'SelfSubjectAccessReview', apiVersion: 'authorization.k8s.io/v1', metadata: {}, spec: {} }
  return answer(response, 201, { ...found, status: { allowed, ...(allowed ? {} : { reason: 'RBAC: not allowed' }) } })
}

type Listing = {
  readonly storage: ReturnType<typeof createStorage>
  readonly response: ServerResponse
  readonly url: URL
  readonly asked: Resource
  readonly isAsked: (object: Json) => boolean
  readonly shown: (object: Json) => Json
}

/** A token for the next page names the snapshot and the position in it. */
function list({ storage, response, url, asked, isAsked, shown }: Listing): unknown {
  const limit = Number(url.searchParams.get('limit') ?? '0') || Number.POSITIVE_INFINITY
  const token = url.searchParams.get('continue')
  const [version = '', position = '0', id = ''] = token
    ? Buffer.from(token, 'base64url').toString().split(' ')
    : [String(storage.version())]
  const all = token ? storage.snapshots.get(id) : storage.all(asked.kind).filter(isAsked)
  if (!all) return refuse(response, 410, 'Expired', 'The provided continue parameter is too old')
  const from = Number(position)
  const items = all.slice(from, from + limit).map((object) => shown(withVersion(object, asked)))
  const rest = all.length - from - items.length
  const own = id || `${version}/${storage.snapshots.size}`
  if (rest > 0) storage.snapshots.set(own, all)
  const next = rest > 0 ? Buffer.from(`${version} ${from + items.length} ${own}`).toString('base64url') : undefined
  return answer(response, 200, {
    ...{ kind: `${asked.kind}List`, apiVersion: apiVersionOf(asked) },
    metadata: { resourceVersion: version, ...(next ? { continue: next, remainingItemCount: rest } : {}) },
    items,
  })
}

type Watching = Listing & {
  readonly state: State
  readonly watches: Set<() => void>
  readonly bookmarks: number
  readonly from: number
}

function watch({ storage, response, state, watches, bookmarks, url, from, isAsked, asked, shown }: Watching): unknown {
  const missed =
    from === 0
      ? storage.all(asked.kind).map((object): Change => ({ version: 0, type: 'ADDED', object }))
      : storage.since(from)
  if (!missed) {
    const gone = status(410, 'Expired', `too old resource version: ${from} (${storage.version()})`)
    if (state.isGoneByStatus) return answer(response, 410, gone)
    response.writeHead(200, { 'Content-Type': 'application/json' })
    return response.end(`${JSON.stringify({ type: 'ERROR', object: gone })}\n`)
  }
  response.writeHead(200, { 'Content-Type': 'application/json', 'Transfer-Encoding': 'chunked' })
  response.flushHeaders()
  const send = (type: string, object: Json): unknown => {
    if (state.isHung || response.writableEnded) return null
    const line = `${JSON.stringify({ type, object })}\n`
    const half = Math.floor(line.length / 2)
    if (!state.isSplit) return response.write(line)
    response.write(line.slice(0, half))
    return response.write(line.slice(half))
  }
  const tell = ({ type, object }: Change) => {
    const late = state.late.get(asked.plural)
    const line = shown(withVersion(object, asked))
    if (!isAsked(object)) return
    if (late) setTimeout(send, late, type, line)
    else send(type, line)
  }
  for (const change of missed) tell(change)
  const stopListening = storage.listen(tell)
  const mark = () =>
    send('BOOKMARK', {
      ...{ kind: asked.kind, apiVersion: apiVersionOf(asked) },
      metadata: { resourceVersion: String(storage.version()), creationTimestamp: null },
    })
  const marking = url.searchParams.has('allowWatchBookmarks') ? setInterval(mark, bookmarks) : undefined
  const end = () => response.end()
  const seconds = Number(url.searchParams.get('timeoutSeconds') ?? '0')
  const timer = seconds > 0 ? setTimeout(end, seconds * 1000) : undefined
  watches.add(end)
  return response.once('close', () => {
    stopListening()
    clearInterval(marking)
    clearTimeout(timer)
    watches.delete(end)
  })
}

function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`
}

function withVersion(object: Json, asked: Resource): Json {
  return { apiVersion: apiVersionOf(asked), ...object }
}

/** Renames the fields of an event of `v1` as `events.k8s.io/v1` does. */
function newEvent({ involvedObject, message, source, firstTimestamp, lastTimestamp, count, ...rest }: Json): Json {
  const old = {
    deprecatedSource: source,
    deprecatedFirstTimestamp: firstTimestamp,
    deprecatedLastTimestamp: lastTimestamp,
    deprecatedCount: count,
  }
  return { ...rest, apiVersion: 'events.k8s.io/v1', regarding: involvedObject, note: message, ...old }
}

function status(code: number, reason: string, message: string): object {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code }
}

function refuse(response: ServerResponse, code: number, reason: string, message: string): unknown {
  return answer(response, code, status(code, reason, message))
}

function answer(response: ServerResponse, code: number, body: object): unknown {
  return response.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
}
