/** Finds the service that an alert or a message accuses: the callee in a label, or in `dial tcp: lookup payment: …`. */
import type { Labels } from '../event/event.ts'
import { areApart } from '../service/cluster.ts'
import { hostOf } from '../service/host.ts'
import type { Components } from './component.ts'
import type { SuspectAlert, SuspectService } from './suspect.ts'

/**
 * Labels in a caller's alert that name the called service. Istio, Linkerd, Envoy, OpenTelemetry and others use these
 * labels.
 */
export const CALLEE_LABELS = [
  ...['destination', 'destination_service_name', 'destination_service', 'destination_workload', 'destination_app'],
  ...['upstream', 'upstream_service', 'dependency', 'callee', 'target_service', 'peer_service', 'remote_service'],
  ...['dst', 'dst_service', 'dst_deployment', 'server', 'backend'],
]

/** How messages name the host that could not be reached. To teach incmon another one, add a row. */
const CALLED: readonly RegExp[] = [
  // URLs of any scheme, also of databases and queues, in Go's `Get "http://payment/charge": …` and JDBC's `jdbc:mysql://`.
  /\b[a-z][a-z+.-]{0,30}:\/\/[^\s"'`<>()]+/gi,
  // Go: `dial tcp: lookup payment on 10.96.0.10:53`, `dial tcp payment:8080: i/o timeout`
  /(?<=\blookup )[\w.-]+/g,
  /(?<=\bdial (?:tcp|udp) )[\w.-]+(?=:\d)/g,
  // Node: `getaddrinfo ENOTFOUND payment`, `connect ECONNREFUSED payment:80`
  /(?<=\b(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|EHOSTUNREACH) )[\w.-]+/g,
  // Python, PostgreSQL, Java, curl: `host='payment'`, `could not translate host name "db"`, `UnknownHostException: payment`
  /(?<=\bhost(?: ?name)?(?: |=|: ?)["'`]?)[\w.-]+/gi,
  /(?<=\bUnknownHost(?:Exception)?: )[\w.-]+/g,
  // `connection to server at "db"`, `could not connect to server db:5432`, `failed to connect to payment:8080`
  /(?<=\bconnect(?:ion|ing)? (?:to|with) (?:(?:server|host|database|broker) )?(?:at )?["'`]?)[\w.-]+/gi,
  // Java's sockets, .NET: `Connection refused: db/10.43.7.12:5432`, `db/<unresolved>:5432`, `Connection refused (db:5432)`
  /(?<![\w.-])[\w.-]+(?=\/(?:\d+(?:\.\d+){3}|<unresolved>):\d)/g,
  /(?<=\()[a-z][\w.-]*(?=:\d{2,5}\))/gi,
  // The address of a Service in a cluster
  /(?<![\w.-])[a-z\d](?:[\w-]|\.(?!svc\b))*\.svc(?:\.[\w.-]+)?(?=:\d)/gi,
  // Kubernetes: `no endpoints available for service "payment"`
  /(?<=\bendpoints available for service ["'`]?)[\w.-]+/gi,
]

/** One of these texts is part of all that the patterns find. Most messages have none, and then no pattern is tried. */
const HINT =
  /:\/\/|lookup |dial |ENOTFOUND|EAI_AGAIN|ECONN|ETIMEDOUT|host|connect|name resolution|endpoints available|[a-z\d>]:\d\d/i

/** Says that a name was not found in DNS. While the DNS server itself has a problem, it is the cause. */
export const LOOKUP_FAILED =
  /\blookup \S.*(?:no such host|timeout|misbehaving)|\bENOTFOUND\b|\bEAI_AGAIN\b|name resolution/i
/** Says that the DNS server did not answer. Nothing is known then about the name that was looked up. */
const UNANSWERED = /\blookup \S.*(?:timeout|misbehaving)|\bEAI_AGAIN\b|temporary failure in name resolution/i
export const DNS_SERVERS = ['coredns', 'kube-dns']

/** Messages are cut at 1,024 characters. The first few hosts are the ones that the error is about. */
const MAX_HOSTS = 8

/** Annotations that lead to an explanation or say what to do. Their hosts are not what failed. */
const ADVICE =
  /^__|^hint$|url|link|run_?book|play_?book|dashboard|panel|image|action|remed|resol|mitigat|fix|procedure|steps|impact|doc/i
const URL = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'`<>()]+/gi
const EXPLANATION =
  /runbook|playbook|grafana|dashboard|wiki|docs|confluence|kibana|jaeger|zipkin|sentry|\/(?:d|graph|explore|alerting|traces?)\b/i
/** Longer texts are cut, because an annotation can have 64 kB. */
const MAX_WORDS = 4_000

/** Returns what an alert says to people: its summary and its annotations, without advice and links to explanations. */
export function wordsOf(summary: string, annotations: Labels): string {
  const names = Object.keys(annotations).filter((name) => !ADVICE.test(name))
  const texts = new Set([summary, ...names.sort().map((name) => annotations[name] ?? '')])
  const words = [...texts].join('\n').slice(0, MAX_WORDS)
  return words.replace(URL, (address) => (EXPLANATION.test(address) ? ' ' : address))
}

/** Returns the only known service, other than its own, that a message of a service says it called; null if none. */
export function accusedIn(components: Components, own: SuspectService, message: string): string | null {
  if (!HINT.test(message)) return null
  const servers = LOOKUP_FAILED.test(message) ? DNS_SERVERS.flatMap((name) => inCluster(components, own, name)) : []
  const server = servers.find(({ id }) => id !== own.id && components.unwell.has(id))
  if (server) return server.id
  if (servers.length > 0 && UNANSWERED.test(message)) return null
  const hosts = new Set(
    CALLED.flatMap((pattern) => message.match(pattern) ?? []).map((one) =>
      hostOf(one.replace(/(?<![.,:;])[.,:;]+$/, '')),
    ),
  )
  const found = [...hosts].slice(0, MAX_HOSTS).flatMap((host) => serviceOfHost(components, own, host) ?? [])
  const [only, ...others] = new Set(found.map(({ id }) => id).filter((id) => id !== own.id))
  return only !== undefined && others.length === 0 ? only : null
}

/** Returns the callee that the labels or the message name, if it is a known service other than the alert's own. */
export function calledServiceOf(components: Components, alert: SuspectAlert): string | null {
  const own = components.byId.get(alert.service)
  if (!own) return null
  for (const label of CALLEE_LABELS) {
    const value = alert.labels[label]
    const named = value === undefined ? null : findCallee(components, own, value)
    if (named && named.id !== own.id) return named.id
  }
  return accusedIn(components, own, alert.words)
}

function inCluster({ byName }: Components, own: SuspectService, name: string): readonly SuspectService[] {
  return (byName.get(name) ?? []).filter(({ cluster }) => !areApart(cluster, own.cluster))
}

/** Finds a service by name in the caller's namespace, by `name.namespace`, or by name alone if the name is unique. */
function findCallee(components: Components, own: SuspectService, value: string): SuspectService | null {
  const [name = '', namespace] = value.trim().replace(/:\d+$/, '').split('.')
  const same = inCluster(components, own, name)
  const near = same.filter((service) => service.namespace === (namespace ?? own.namespace))
  const found = near.length > 0 || namespace !== undefined ? near : same
  return found.length === 1 ? (found[0] ?? null) : null
}

/** What people append to the name of a workload for its Kubernetes Service. Bitnami and CloudNativePG use most of them. */
const OF_SERVICES = /-(?:headless|svc|service|master|primary|rw|ro|read|replicas|client|nodes|hl)$/

/** Returns the known service behind a host name inside the cluster: `pay`, `pay.shop` or `pay-0.pay.shop.svc`. */
function serviceOfHost(components: Components, own: SuspectService, host: string): SuspectService | null {
  const [first = '', second, ...others] = host.toLowerCase().split('.')
  const isPod = others[1] === 'svc'
  if (others.length > 0 && others[0] !== 'svc' && !isPod) return null
  const [name, namespace] = isPod ? [second ?? '', others[0]] : [first, second ?? own.namespace]
  const ofPod = isPod ? [first.replace(/-\d{1,4}$/, '')] : []
  const candidates = [name, name.replace(OF_SERVICES, ''), ...ofPod].map((one) => {
    return inCluster(components, own, one).filter((service) => {
      return service.namespace === namespace || (second === undefined && own.namespace === '')
    })
  })
  const found = candidates.find(({ length }) => length > 0) ?? []
  return found.length === 1 ? (found[0] ?? null) : null
}
