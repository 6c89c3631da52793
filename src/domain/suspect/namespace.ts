/** Finds workload problems that are caused by the namespace. */
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

/** Finds the symptoms that a namespace problem explains, and replaces them with a single symptom of the namespace. */
export function ofNamespaces(sightings: readonly SymptomEvent[], components: Components): SymptomEvent[] {
  return FAULTS.reduce<readonly SymptomEvent[]>(
    (before, fault) => withFault(before, components, fault),
    sightings,
  ).slice()
}

function withFault(
  sightings: readonly SymptomEvent[],
  { byId }: Components,
  fault: (typeof FAULTS)[number],
): SymptomEvent[] {
  const keyOf = (one: SymptomEvent) => {
    const service = fault.message.test(one.text) ? byId.get(one.component) : undefined
    // A workload that keeps failing after the others have recovered has a problem of its own.
    const isOver = one.factors.some(({ code }) => code === 'recovered' || code === 'silent')
    return service ? JSON.stringify([service.cluster, service.namespace, isOver]) : null
  }
  const groups = Map.groupBy(sightings, keyOf)
  return [...groups].flatMap(([key, own]) => {
    const namespace: string = key === null ? '' : JSON.parse(key)[1]
    const workloads = new Set(own.map(({ component }) => component))
    return key === null || workloads.size < fault.least ? own : [combined(own, namespace, fault)]
  })
}

function combined(own: readonly SymptomEvent[], namespace: string, fault: (typeof FAULTS)[number]): SymptomEvent {
  const inOrder = own.toSorted((a, b) => a.startsAt - b.startsAt || (a.component < b.component ? -1 : 1))
  const [first = own[0]] = inOrder
  if (!first) throw new Error('a namespace needs a workload that shows its fault')
  const witnesses = [...new Set(inOrder.map(({ component }) => component))]
  const [, persistence] = first.factors
  const [value, text] = fault.failure
  const lastAt = Math.max(...own.map((one) => one.lastAt))
  const isOver = persistence && ['recovered', 'silent'].includes(persistence.code)
  const factors: Factor[] = [{ code: 'failure', value, text }]
  if (isOver && lastAt - first.startsAt < INSTALLATION)
    factors.push({ code: 'installation', value: ROUTINE, text: 'resolved within a minute, as during an installation' })
  return {
    ...first,
    component: `namespace/${namespace}`,
    condition: fault.condition,
    gist: fault.condition,
    witnesses,
    lastAt,
    spans: inOrder.flatMap(({ spans }) => spans),
    factors: persistence ? [...factors, persistence] : factors,
    node: null,
    isFiring: own.some((one) => one.isFiring),
    evidence: inOrder.flatMap(({ evidence }) => evidence),
    seen: own.reduce((sum, { seen }) => sum + seen, 0),
    seenBefore: own.reduce((sum, { seenBefore }) => sum + seenBefore, 0),
  }
}
