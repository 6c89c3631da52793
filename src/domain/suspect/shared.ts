/** Finds workload problems that are caused by what several workloads share: their namespace, or a registry. */
import { imageOfMessage, registryOf } from '../service/image.ts'
import type { Components } from './component.ts'
import type { Factor, SymptomEvent } from './symptom.ts'

/**
 * Messages from pod admission. A quota applies to the whole namespace, so the workload that happens to exceed the quota
 * is not at fault. Missing service accounts are a namespace problem if several workloads are affected, because the
 * accounts were probably forgotten or created too late.
 */
const FAULTS = [
  { condition: 'quota', message: /exceeded quota: [\w.-]+/, least: 1, failure: [0.9, 'the quota is used up'] },
  {
    condition: 'service accounts',
    message: /serviceaccount "[\w.-]+" not found|error looking up service account/,
    least: 2,
    failure: [0.7, 'service accounts are missing'],
  },
] as const

/**
 * `kubectl apply` and Helm create accounts, quotas and workloads within seconds of each other, so the first attempts to
 * create pods may fail. The ReplicaSet controller retries immediately. A fault that lasts no longer than this is
 * probably part of an installation.
 */
const INSTALLATION = 60_000
/**
 * The factor for a fault during an installation. Any value from 0.2 to 0.7 gives the same ranking on recorded
 * incidents.
 */
const ROUTINE = 0.5

/** Errors of the network or of the registry itself. A missing tag or wrong credentials are the service's own fault. */
const UNREACHABLE =
  /dial tcp|i\/o timeout|no such host|connection (?:refused|reset)|TLS handshake|\bEOF\b|deadline exceeded|Client\.Timeout|server misbehaving|network is unreachable|x509|toomanyrequests|too many requests|\b(?:429|50[0-4])\b/i
/** From this many services on, the registry is the suspect. */
const LEAST = 3
const FAILURE = { code: 'failure', value: 0.9, text: 'the registry cannot be reached' } as const

/** Finds the symptoms that a namespace problem explains, and replaces them with a single symptom of the namespace. */
export function ofNamespaces(sightings: readonly SymptomEvent[], components: Components): readonly SymptomEvent[] {
  return FAULTS.reduce((before, fault) => withFault(before, components, fault), sightings)
}

function withFault(
  sightings: readonly SymptomEvent[],
  { byId }: Components,
  fault: (typeof FAULTS)[number],
): SymptomEvent[] {
  const keyOf = (one: SymptomEvent) => {
    const service = fault.message.test(one.text) ? byId.get(one.component) : undefined
    // A workload that keeps failing after the others have recovered has a problem of its own.
    return service ? JSON.stringify([service.cluster, service.namespace, hasEnded(one)]) : null
  }
  return [...Map.groupBy(sightings, keyOf)].flatMap(([key, own]) => {
    const namespace: string = key === null ? '' : JSON.parse(key)[1]
    const workloads = new Set(own.map(({ component }) => component))
    return key === null || workloads.size < fault.least ? own : [ofNamespace(namespace, own, fault)]
  })
}

function ofNamespace(name: string, own: readonly SymptomEvent[], fault: (typeof FAULTS)[number]): SymptomEvent {
  const inOrder = byStart(own)
  const shared = combined(`namespace/${name}`, inOrder, inOrder)
  const [value, text] = fault.failure
  const factors: Factor[] = [{ code: 'failure', value, text }]
  if (hasEnded(shared) && shared.lastAt - shared.startsAt < INSTALLATION)
    factors.push({ code: 'installation', value: ROUTINE, text: 'resolved within a minute, as during an installation' })
  return {
    ...shared,
    condition: fault.condition,
    gist: fault.condition,
    factors: [...factors, ...shared.factors.slice(1, 2)],
  }
}

function hasEnded({ factors }: SymptomEvent): boolean {
  return factors.some(({ code }) => code === 'recovered' || code === 'silent')
}

/** Replaces the failed pulls from a registry that several services cannot reach with one symptom of the registry. */
export function ofRegistries(sightings: readonly SymptomEvent[]): readonly SymptomEvent[] {
  const failed = sightings.filter(({ condition, text }) => condition === 'ImagePullBackOff' && UNREACHABLE.test(text))
  const byHost = Map.groupBy(failed, ({ text }) => {
    const image = imageOfMessage(text)
    return image === null ? null : registryOf(image)
  })
  return [...byHost].reduce((before, [host, own]) => {
    const components = new Set(own.map(({ component }) => component))
    if (host === null || components.size < LEAST) return before
    const isPull = ({ condition, component }: SymptomEvent) =>
      condition === 'ImagePullBackOff' && components.has(component)
    return [...before.filter((one) => !isPull(one)), ofRegistry(host, before.filter(isPull), own)]
  }, sightings)
}

function ofRegistry(host: string, pulls: readonly SymptomEvent[], failed: readonly SymptomEvent[]): SymptomEvent {
  const shared = combined(`registry/${host}`, byStart(failed), pulls.length > 0 ? pulls : failed)
  return {
    ...shared,
    condition: 'registry',
    gist: `registry ${host}`,
    witnesses: shared.witnesses.toSorted(),
    factors: [FAILURE, ...shared.factors.slice(1, 2)],
  }
}

function byStart(sightings: readonly SymptomEvent[]): SymptomEvent[] {
  return sightings.toSorted((a, b) => a.startsAt - b.startsAt || (a.component < b.component ? -1 : 1))
}

/** Combines `all` into a symptom of `component`. `inOrder`: those that show the fault, earliest first. */
function combined(component: string, inOrder: readonly SymptomEvent[], all: readonly SymptomEvent[]): SymptomEvent {
  const [first] = inOrder
  if (!first) throw new Error(`${component} needs a workload that shows its fault`)
  return {
    ...first,
    component,
    witnesses: [...new Set(inOrder.map((one) => one.component))],
    lastAt: Math.max(...all.map(({ lastAt }) => lastAt)),
    spans: all.flatMap(({ spans }) => spans),
    node: null,
    isFiring: all.some(({ isFiring }) => isFiring),
    evidence: inOrder.flatMap(({ evidence }) => evidence),
    seen: all.reduce((sum, { seen }) => sum + seen, 0),
    seenBefore: all.reduce((sum, { seenBefore }) => sum + seenBefore, 0),
  }
}
