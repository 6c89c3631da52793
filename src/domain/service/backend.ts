/** Finds the service behind an address inside a cluster, or behind the name that a proxy gives to its backend. */

import { readPodName } from './pod-name.ts'
import type { Name } from './service.ts'

/** Traefik writes `<namespace>-<service>-<port>@<provider>`. */
const TRAEFIK = /^(.+)@([a-z]+)$/
/** Kong writes `<namespace>.<service>.<port>`, Envoy Gateway the route, HAProxy `<namespace>_<service>_<port>`. */
const NAMED: readonly RegExp[] = [
  /^([a-z\d-]+)\.([a-z\d-]+)\.(?:pnum-)?(?:\d{1,5}|https?)$/,
  /^(?:http|grpc|tcp|tls)route\/([a-z\d-]+)\/([a-z\d-]+)\//,
  /^([a-z\d-]+)_(?:svc_)?([a-z\d-]+)_(?:\d{1,5}|https?)$/,
]
/** Istio's names of clusters: `outbound|8080|v1|cart.shop.svc.cluster.local` */
const OF_ISTIO = /^(?:in|out)bound\|\d*\|[^|]*\|(.+)$/
/** The upstreams of Kong's ingress controller: `<service>.<namespace>.<port>.svc` */
const OF_KONG = /^([a-z\d-]+)\.([a-z\d-]+)\.(?:pnum-)?(?:\d{1,5}|https?)\.svc$/
/** How ids of resources of Azure and AWS begin: `/subscriptions/…/servers/orders-db`, `arn:aws:rds:eu-west-1:1234:db:orders-db` */
const OF_CLOUD = /^(?:\/subscriptions\/|arn:aws[\w-]*:(?:[^:]*:){3}(?:loadbalancer\/)?)/i
/** Elastic load balancers of AWS and their target groups: `app/web-prod/50dc6c495c0c9188` */
const OF_AWS = /^(?:app|net|gwy|targetgroup)\/([^/]+)\/[\da-f]{16}$/
/** The name of a Service inside a cluster, and of a pod behind it. */
const IN_CLUSTER = /^(?:([a-z\d-]+)\.)?([a-z\d-]+)\.([a-z\d-]+)\.svc(?:\.|$)/
/** The Services with which kube-prometheus-stack scrapes the parts of Kubernetes, after the name of its release. */
const OF_STACK =
  /^(?:[a-z\d-]+-)?kube-prometheus(?:-stack)?-(kube-(?:etcd|scheduler|controller-manager|proxy|dns)|coredns|apiserver)$/
/** A name that contains nothing but itself, as most do. */
const PLAIN = /^[A-Za-z\d-]*$/
/** Providers whose names have no namespace and no port. */
const WITHOUT_NAMESPACE = new Set([
  'docker',
  'swarm',
  'file',
  'internal',
  'consulcatalog',
  'nomad',
  'ecs',
  'http',
  'redis',
])
/** The port, or the hash that the provider for custom resources appends to the name of a route. */
const PORT = /-(?:\d{1,5}|https?|web|grpc|h2c|metrics|[\da-f]{20})$/

/** Returns whether a host is a Service or a pod inside a cluster: `db.shop.svc`, `db-0.db.shop.svc.cluster.local`. */
export function isInCluster(host: string): boolean {
  return IN_CLUSTER.test(host)
}

/** Returns the names that `serviceAt` looks for. */
export function backendsOf(value: string, namespace: string): readonly Name[] {
  const text = TRAEFIK.exec(value)
  if (!text || WITHOUT_NAMESPACE.has(text[2] ?? '')) return []
  return splits(text[1] ?? '', namespace)
}

/**
 * Returns the service behind a name: `web.shop.svc.cluster.local`, Traefik's `shop-web-80@kubernetes`, or a plain name.
 * A dash can be part of a namespace. `known`: the existing services among `backendsOf`.
 */
export function serviceAt(value: string, namespace: string, known: readonly Name[]): Name {
  if (PLAIN.test(value)) return { namespace, name: OF_STACK.exec(value)?.[1] ?? value }
  const [, ofKong, where] = OF_KONG.exec(value) ?? []
  if (ofKong && where) return { namespace: where, name: ofKong }
  const host = OF_ISTIO.exec(value)?.[1] ?? value
  const [, pod, service, inside] = IN_CLUSTER.exec(host) ?? []
  if (service && inside) return { namespace: inside, name: pod ? readPodName(pod, null, inside).name : service }
  const resource = value.replace(OF_CLOUD, '')
  const balancer = OF_AWS.exec(resource)?.[1]
  if (balancer || resource !== value) return { namespace, name: balancer ?? resource.split(/[:/]/).at(-1) ?? value }
  for (const pattern of NAMED) {
    const [, of, backend] = pattern.exec(value) ?? []
    if (of && backend) return { namespace: of, name: backend }
  }
  const [, backend, provider = ''] = TRAEFIK.exec(value) ?? []
  if (!backend) return { namespace, name: value }
  if (WITHOUT_NAMESPACE.has(provider)) return { namespace, name: backend }
  const possible = splits(backend, namespace)
  const existing = possible.find((one) => known.some((it) => it.namespace === one.namespace && it.name === one.name))
  return existing ?? possible[0] ?? { namespace, name: backend }
}

/** Returns the possible namespaces and names in `<namespace>-<service>-<port>`, likeliest first. */
function splits(backend: string, namespace: string): readonly Name[] {
  const texts = [...new Set([backend.replace(PORT, ''), backend])]
  const start = `${namespace}-`
  const inside = texts.filter((text) => namespace !== '' && text.startsWith(start))
  const cut = (text: string, at: number): Name => ({ namespace: text.slice(0, at), name: text.slice(at + 1) })
  return [
    ...inside.map((text) => cut(text, namespace.length)),
    ...texts.flatMap((text) => dashes(text).map((at) => cut(text, at))),
  ]
}

function dashes(text: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf('-', 1); at > 0 && at < text.length - 1; at = text.indexOf('-', at + 1)) found.push(at)
  return found
}
