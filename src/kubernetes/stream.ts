/** Reads one resource of a cluster for as long as the server runs: list, watch, and again after every failure. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kind } from '../domain/watch/object.ts'
import { ApiError, type Client, parsed, TOO_MANY, UNREADABLE } from './client.ts'

// biome-ignore lint/suspicious/noExplicitAny: `domain/kubernetes/parse.ts` reads the objects
export type Json = any

/** What a stream delivers, in order. `version`: everything up to this resource version was delivered. */
export type Delivered =
  | { readonly type: 'object' | 'deleted'; readonly object: Json; readonly version: string | null }
  | { readonly type: 'bookmark'; readonly version: string }
  /** The list is complete. Objects that it did not contain are gone. */
  | { readonly type: 'listed'; readonly uids: ReadonlySet<string>; readonly version: string }

type StreamDeps = {
  readonly client: Client
  /** Takes what was delivered. Resolves when there is room for more. */
  readonly take: (delivered: Delivered) => Promise<void> | void
  readonly warn: (problem: string) => void
  /** The API server has forgotten the changes since the last version. */
  readonly forgotten: () => void
  readonly state: (state: StreamState) => void
  readonly random: () => number
  readonly signal: AbortSignal
  /** Returns a signal that aborts when another stream has reached the API server. */
  readonly reached: () => AbortSignal
}

/**
 * `doing`: `connect` until the API server has answered the request for a watch. `error`: what failed; null if nothing
 * did. `status`: the HTTP status of the failure.
 */
export type StreamState = {
  readonly doing: 'list' | 'connect' | 'watch'
  readonly error: string | null
  readonly status: number
}

const PAGE = 500
const NOT_JSON = 'sent an object that is not JSON'
/** The API server ends each watch after this time, and the next one may reach another server. */
const WATCH_SECONDS = 300
const FIRST_PAUSE = 500
const LONGEST_PAUSE = 30_000
/** The longest pause that an API server can ask for. */
const LONGEST_AFTER = 300_000
/** What only an administrator can change is tried again after this time. */
const DENIED_PAUSE = 60_000

/** Resolves when the signal aborts. `version`: where to resume; null to list first. */
export async function runStream(stream: Stream, version: string | null, deps: StreamDeps): Promise<void> {
  const { state, signal } = deps
  let [from, failures, path, isCut] = [version, 0, 0, false]
  const cut = () => {
    if (!isCut) deps.warn(`${stream.name}: an object is too large; only the beginning of its lists and texts is read`)
    isCut = true
  }
  const works = () => {
    failures = 0
  }
  while (!signal.aborted) {
    const base = pathOf(stream, stream.resource.paths[path] ?? '')
    try {
      if (from === null) from = await list(base, deps, cut)
      from = await watch(base, from, deps, { works, cut })
      state({ doing: 'connect', error: null, status: 200 })
      // The API server ends a watch after minutes. One that ends at once must not be repeated without a pause.
      await pause(FIRST_PAUSE, signal)
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof ApiError)) throw error
      if (error.status === 410) {
        if (from !== null) deps.forgotten()
        from = null
        state({ doing: 'list', error: null, status: 200 })
        failures += 1
        if (failures > 1) await pause(pauseOf(error, failures, deps.random()), signal)
        continue
      }
      // An older API server does not have the newest version of the resource.
      if (error.status === 404 && path + 1 < stream.resource.paths.length) path += 1
      else {
        failures += 1
        state({ doing: from === null ? 'list' : 'connect', error: error.message, status: error.status })
        const isUnreachable = error.status === 0
        const until = isUnreachable ? AbortSignal.any([signal, deps.reached()]) : signal
        await pause(pauseOf(error, failures, deps.random()), until)
      }
    }
  }
}

/** Returns a text or number as a text that fits into a URL, and everything else as ''. */
export function textIn(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value).toWellFormed() : ''
}

/** Delivers all objects in pages. Returns the version of the list. */
async function list(path: string, { client, take }: StreamDeps, cut: () => void): Promise<string> {
  const uids = new Set<string>()
  let next = ''
  for (;;) {
    const known = uids.size
    const more = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
    const page = (await client.items(`${path}?limit=${PAGE}${more}`, async (text) => {
      const object: Json = parsed(text, NOT_JSON, cut)
      uids.add(textIn(object?.metadata?.uid))
      await take({ type: 'object', object, version: null })
    })) as Json
    next = textIn(page?.metadata?.continue)
    const version = textIn(page?.metadata?.resourceVersion)
    if (next !== '' && uids.size === known) throw new ApiError(0, 'the API server continues a list without new objects')
    if (next !== '') continue
    await take({ type: 'listed', uids, version })
    return version
  }
}

/** Delivers changes until the server ends the watch. Returns the version at which to resume. */
async function watch(
  path: string,
  version: string,
  { client, take, state }: StreamDeps,
  { works, cut }: { readonly works: () => void; readonly cut: () => void },
): Promise<string> {
  let last = version
  const query = `?watch=1&allowWatchBookmarks=true&timeoutSeconds=${WATCH_SECONDS}&resourceVersion=${encodeURIComponent(last)}`
  try {
    const onOpen = () => state({ doing: 'watch', error: null, status: 200 })
    const onLine = async (line: string) => {
      const { type, object }: Json = parsed(line, NOT_JSON, cut) ?? {}
      if (type === 'ERROR')
        throw new ApiError(Number(textIn(object?.code)), textIn(object?.message) || 'the watch failed')
      works()
      const at = textIn(object?.metadata?.resourceVersion) || last
      if (type === 'BOOKMARK') await take({ type: 'bookmark', version: at })
      else await take({ type: type === 'DELETED' ? 'deleted' : 'object', object, version: at })
      last = at
    }
    await client.lines(path + query, { onOpen, onLine })
  } catch (error) {
    // A cut connection resumes at the last version; a server that answers with an error is asked less often.
    if (last === version || !(error instanceof ApiError) || ![0, UNREADABLE].includes(error.status)) throw error
  }
  return last
}

/** Returns how long to wait after a failure, in milliseconds, so that many clients do not come back at once. */
export function pauseOf({ status, retryAfter }: ApiError, failures: number, random: number): number {
  if (status === 403 || status === TOO_MANY) return DENIED_PAUSE
  const longest = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** Math.min(failures - 1, 10))
  return Math.max(Math.min(retryAfter ?? 0, LONGEST_AFTER), longest * (0.5 + random / 2))
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal, ref: false }).catch(() => {})
}

// What incmon reads from a cluster, in the order in which it must be listed: owners before what they own.

type Resource = {
  readonly kind: Kind
  readonly group: string
  readonly plural: string
  /** The paths of the API to try, without a namespace. */
  readonly paths: readonly string[]
  readonly namespaced: boolean
  /** What is missing without the permission to read it. */
  readonly without: string
}

export const RESOURCES: readonly Resource[] = [
  row('Node', '', 'nodes', 'nodes that fail, are drained or are removed', false),
  {
    ...row('HorizontalPodAutoscaler', 'autoscaling', 'horizontalpodautoscalers', 'autoscalers that cannot scale'),
    paths: ['/apis/autoscaling/v2', '/apis/autoscaling/v1'],
  },
  row('Deployment', 'apps', 'deployments', 'available replicas, and who changed an image'),
  row('StatefulSet', 'apps', 'statefulsets', 'the rollouts and replicas of StatefulSets'),
  row('DaemonSet', 'apps', 'daemonsets', 'the rollouts and replicas of DaemonSets'),
  row('ReplicaSet', 'apps', 'replicasets', 'the rollouts of Deployments and their images'),
  row('CronJob', 'batch', 'cronjobs', 'CronJobs that have not failed yet'),
  row('Job', 'batch', 'jobs', 'the CronJob that a failed Job belongs to'),
  row('Pod', '', 'pods', 'crash loops, pods that cannot start, and the end of every problem'),
  {
    ...row('Event', 'events.k8s.io', 'events', 'probes, volumes and everything else that only events tell'),
    paths: ['/apis/events.k8s.io/v1', '/api/v1'],
  },
]

function row(kind: Kind, group: string, plural: string, without: string, namespaced = true): Resource {
  return { kind, group, plural, paths: [group === '' ? '/api/v1' : `/apis/${group}/v1`], namespaced, without }
}

/** One list and watch: of a resource, in one namespace or in all of them. */
export type Stream = { readonly resource: Resource; readonly namespace: string; readonly name: string }

/** Returns the streams to read. `namespaces`: empty for all. Nodes have no namespace. */
export function streamsOf(namespaces: readonly string[]): Stream[] {
  return RESOURCES.flatMap((resource) => {
    const inside = resource.namespaced && namespaces.length > 0 ? namespaces : ['']
    return inside.map((namespace) => ({
      ...{ resource, namespace },
      name: namespace === '' ? resource.plural : `${namespace}/${resource.plural}`,
    }))
  })
}

function pathOf({ resource, namespace }: Stream, base: string): string {
  return `${base}${namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource.plural}`
}
