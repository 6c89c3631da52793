/** Finds what an incident depends on: the services, hosts, nodes and registries that its alerts name. */
import type { Labels } from '../event/event.ts'
import { cacheByName } from '../memoize.ts'
import { registryOf } from '../service/image.ts'
import { isNodeService, nodeNameOf } from '../service/node.ts'
import type { ServiceKey } from '../service/service.ts'
import { CALLEE_LABELS, DNS_SERVERS, LOOKUP_FAILED } from './accused.ts'

/** An alert of an incident. `text`: its words, or the message of the event. */
export type DependentAlert = { readonly text: string; readonly labels: Labels; readonly node: string | null }

/** The services that may be the cause, by their names in lower case: those that are not well. */
export type Unwell = ReadonlyMap<string, readonly ServiceKey[]>

/** Something that several incidents can depend on. `name` is for people. */
export type Target = {
  readonly kind: 'service' | 'host' | 'node' | 'registry' | 'change'
  readonly key: string
  readonly name: string
}

/** Words shorter than this, such as `app`, are too common to be names, unless a text or a label calls them. */
const SHORTEST_NAME = 4
/** The most characters of a name in DNS, with a full stop at its end. */
const LONGEST_HOST = 254
/** Longer texts are cut, because an annotation can have 280 kB. */
const MAX_TEXT = 4_000
/** Says that something else could not be reached or did not answer. */
const UNREACHED =
  /refused|time[ds]?[ -]?out|timeout|unreachable|no such host|no route|reset|\b50[0-4]\b|unavailable|\bEOF\b|broken pipe|handshake|certificate|x509|unknown ?host|resol|connect|deadline|\bdown\b|too many|overload|upstream|depend|lag\b/i
const PROBE = /\bprobe (?:failed|errored)/i
const URL_HOST = /\b[a-z][a-z\d+.-]{1,20}:\/\/(?:[^\s/@"']*@)?([\w.-]+)(?::\d+)?([^\s"']*)/gi
const HOST_AND_PORT = /(?<![\w./@-])([a-z\d](?:[a-z\d.-]*[a-z\d])?):(\d{2,5})(?!\w|:\d)/gi
/** Before a host and port. Without it, `status:503` would be a host. */
const CALLING = /(?:\b(?:to|at|from|tcp|host|server|upstream|backend)|\bE[A-Z]{6,})\s+["'`]?$/
const AFTER_WORD = /\b(?:lookup|resolve|resolving|hostname|host|UnknownHostException:?)\s+["'`]?([a-z\d][\w.-]+)/gi
const SOURCE_FILE = /\.(?:go|py|java|js|ts|rb|php|rs|cs|kt|scala|c|cc|cpp)$/i
const DNS_PORT = '53'
const LOCAL = /^(?:localhost|127\.|0\.0\.0\.0|::1)/
/** Services of Kubernetes that lead to the same workload under another name. */
const SUFFIX = /-(?:rw|ro|r|headless|hl|primary|replicas?|svc|service|\d{1,4})$/
/** Labels that often name the service itself, and not what it calls. */
const OWN_LABELS: ReadonlySet<string> = new Set(['server', 'backend'])
/** What service meshes write if they do not know the called service. */
const UNNAMED = /^(?:unknown|none|default|passthroughcluster|blackholecluster)$/i
const IMAGE = /\bimage "?([^\s"]+)/i
const REFUSED_CREDENTIALS = /\b40[13]\b|unauthorized|forbidden|denied/i
const MISSING_IMAGE = /not found|manifest unknown|does not exist|invalid reference/i

/** Returns the target that a service itself is. */
export function targetOfService(service: ServiceKey): Target {
  const { cluster, namespace, name } = service
  if (isNodeService(service)) return nodeTarget(cluster, nodeNameOf(service))
  return { kind: 'service', key: `service ${cluster}/${namespace}/${name}`, name }
}

/** Returns what an incident of a service depends on, without the service itself. */
export function dependenciesOf(own: ServiceKey, alerts: readonly DependentAlert[], unwell: Unwell): readonly Target[] {
  const found = [
    ...alerts.flatMap((alert) => [...calledIn(alert, own, unwell), ...namedIn(alert, own, unwell)]),
    ...nodeOf(own, alerts),
    ...registriesOf(alerts),
  ]
  const self = targetOfService(own).key
  return [...new Map(found.filter(({ key }) => key !== self).map((one) => [one.key, one])).values()]
}

function calledIn({ labels }: DependentAlert, own: ServiceKey, unwell: Unwell): Target[] {
  return CALLEE_LABELS.flatMap((label) => {
    const host = labels[label]?.replace(/:\d+$/, '') ?? ''
    return targetOfHost(host, own, unwell, !OWN_LABELS.has(label) && !UNNAMED.test(host)) ?? []
  })
}

function namedIn({ text: whole }: DependentAlert, own: ServiceKey, unwell: Unwell): Target[] {
  const { isUnreached, servers, addressed, looked, words, registry } = namesIn(whole.slice(0, MAX_TEXT))
  // A word such as `users` is the name of a service only if the text says that something was not reached.
  const names = words.filter((word) => unwell.has(word) && (isUnreached || word.includes('-')))
  const found = [
    ...servers.flatMap((name) => knownService(name, undefined, own, unwell) ?? []).map(targetOfService),
    ...addressed.flatMap((host) => targetOfHost(host, own, unwell, true) ?? []),
    ...[...looked, ...names].flatMap((host) => targetOfHost(host, own, unwell, false) ?? []),
  ]
  // The registry has a name. The error of a failed pull can have its address instead.
  const isRegistry = ({ kind, name }: Target) => kind === 'host' && (isAddress(name) || name === registry)
  return registry === null ? found : found.filter((one) => !isRegistry(one))
}

/** The alerts of a storm are grouped again for each message and each page. */
const STORM = { entries: 4_000, length: 500 }

/** Returns the hosts that a text names, and its words in lower case. */
const namesIn = cacheByName((text) => {
  const isProbe = PROBE.test(text)
  const isUnreached = UNREACHED.test(text)
  const { addressed, looked } = isUnreached ? hostsIn(text) : { addressed: [], looked: [] }
  const isCalled = (host: string) => !isProbe || !isAddress(host)
  const words = [...new Set(text.toLowerCase().match(/[a-z\d][\w-]*[a-z\d]/g) ?? [])]
  const servers = LOOKUP_FAILED.test(text) ? DNS_SERVERS : []
  const registry = registryIn(text)
  return {
    isUnreached,
    servers,
    addressed: addressed.filter(isCalled),
    looked: looked.filter(isCalled),
    words,
    registry,
  }
}, STORM)

/** Returns the hosts that a text calls, and the words that are hosts only if they are known names. */
function hostsIn(text: string): { readonly addressed: readonly string[]; readonly looked: readonly string[] } {
  const urls = [...text.matchAll(URL_HOST)]
  const linked = urls.map(([, host = '']) => host)
  const rest = text.replace(URL_HOST, ' ')
  const ports = [...rest.matchAll(HOST_AND_PORT)].flatMap(({ 1: host = '', 2: port, index }) => {
    const isName = isAddress(host) || /[a-z]/i.test(host)
    const isCalled = CALLING.test(rest.slice(Math.max(0, index - 20), index))
    return isName && port !== DNS_PORT && !SOURCE_FILE.test(host) ? [{ host, isCalled }] : []
  })
  const looked = [...rest.matchAll(AFTER_WORD)].map(([, host = '']) => host)
  const { true: called = [], false: others = [] } = Object.groupBy(ports, ({ isCalled }) => `${isCalled}`)
  const remote = (hosts: readonly string[]) => hosts.filter((host) => !LOCAL.test(host))
  return {
    addressed: remote([...linked, ...called.map(({ host }) => host)]),
    looked: remote([...others.map(({ host }) => host), ...looked]),
  }
}

function isAddress(host: string): boolean {
  return /^[\d.]+$/.test(host)
}

/**
 * Returns the service or the external host that a name in an alert of `own` leads to; null if it leads to none.
 * @param isHost whether the text uses the name as a host: a name without dots is then a service of the same namespace
 */
function targetOfHost(host: string, own: ServiceKey, unwell: Unwell, isHost: boolean): Target | null {
  if (host.length > LONGEST_HOST) return null
  const name = host.toLowerCase().replace(/\.+$/, '')
  if (name.length < (isHost && !isAddress(name) ? 2 : SHORTEST_NAME)) return null
  if (isAddress(name)) return { kind: 'host', key: `host ${name}`, name }
  const inCluster = /^(.+?)\.svc(?:\.[\w.-]+)?$/.exec(name)?.[1]
  const labels = (inCluster ?? name).split('.')
  // The pod of a StatefulSet has the name `postgres-0.postgres.shop.svc`.
  const [first = '', second] = inCluster !== undefined && labels.length > 2 ? labels.slice(-2) : labels
  if (labels.length > 2 && inCluster === undefined) return { kind: 'host', key: `host ${name}`, name }
  const known = knownService(first, second, own, unwell)
  if (known) return targetOfService(known)
  if (second === undefined && !isHost) return null
  return targetOfService({ cluster: own.cluster, namespace: second ?? own.namespace, name: first })
}

/** A service without a namespace in the text is the one of the same namespace, or the only one of its name. */
function knownService(name: string, namespace: string | undefined, own: ServiceKey, unwell: Unwell): ServiceKey | null {
  for (const one of [name, name.replace(SUFFIX, '')]) {
    const same = (unwell.get(one) ?? []).filter(({ cluster }) => cluster === own.cluster)
    const near = same.filter((service) => service.namespace === (namespace ?? own.namespace))
    const found = near.length > 0 || namespace !== undefined ? near : same
    if (found.length === 1) return found[0] ?? null
  }
  return null
}

/** Returns the node on which all conditions of the incident are. */
function nodeOf({ cluster }: ServiceKey, alerts: readonly DependentAlert[]): Target[] {
  const [node, second] = [...new Set(alerts.flatMap((alert) => alert.node ?? []))]
  return node === undefined || second !== undefined ? [] : [nodeTarget(cluster, node)]
}

function nodeTarget(cluster: string, node: string): Target {
  return { kind: 'node', key: `node ${cluster}/${node}`, name: `node ${node}` }
}

/**
 * Returns the registries from which images could not be pulled, or whose credentials were refused. A tag that does not
 * exist is no fault of a registry.
 */
function registriesOf(alerts: readonly DependentAlert[]): Target[] {
  const texts = alerts.map(({ text }) => text.slice(0, MAX_TEXT))
  if (texts.some((text) => /pull/i.test(text) && MISSING_IMAGE.test(text))) return []
  return texts.flatMap((text) => {
    const host = registryIn(text)
    if (host === null) return []
    const what = REFUSED_CREDENTIALS.test(text) ? 'credentials for' : 'registry'
    return [{ kind: 'registry', key: `${what} ${host}`, name: `the ${what} ${host}` }]
  })
}

/** Returns the registry of the image that a text could not pull; null if it names none. */
function registryIn(text: string): string | null {
  const image = /pull/i.test(text) ? IMAGE.exec(text)?.[1] : undefined
  return image === undefined ? null : registryOf(image)
}
