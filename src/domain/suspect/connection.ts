/** Finds connections other than time between a suspect and the service of the incident. */
import { cacheLast } from '../memoize.ts'
import { areApart } from '../service/cluster.ts'
import { shareEnvironment } from '../service/environment.ts'
import { isNodeService } from '../service/node.ts'
import { MINUTE } from '../units.ts'
import type { Components } from './component.ts'
import type { SuspectFacts, SuspectService } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/** `own`: the suspect is the service itself. `time`: the only connection is the timing, or a node that did not fail. */
export type Connection = Factor & { readonly kind: 'own' | 'connected' | 'time' }

/**
 * Factors for suspects that are connected only by their timing: in the same namespace, in another namespace, and in another
 * cluster.
 */
const NEAR = 0.95
const FAR = 0.7
const FOREIGN = 0.5
/** The factor for a workload that failed after its node, or after the workload of which it complains. */
const CONSEQUENCE = 0.2
const NODE = 'node/'
const NAMESPACE = 'namespace/'
const REGISTRY = 'registry/'
const PLACES = [NODE, NAMESPACE, REGISTRY]
/** Names shorter than this, such as `app`, are too common to search for. */
const SHORTEST_NAME = 4

/** The service of the incident and its component, which is the service itself or its node. */
type Own = { readonly id: string; readonly name: string; readonly component: string; readonly service: SuspectService }

/**
 * Returns the first known connection between a component and the service of the incident. `isChange`: whether the
 * suspect is a change of the component, which does not reach other services through a node that they share.
 */
export function connectionOf(
  facts: SuspectFacts,
  components: Components,
  symptoms: readonly Symptom[],
  component: string,
  isChange = false,
): Connection {
  const service = components.byId.get(facts.incident.service)
  if (!service) return known('unknown_service', 'the service of the incident is unknown')
  const { id, name } = service
  const own = { id, name, service, component: isNodeService(service) ? name : id }
  if (component === own.component) return known('same_service', 'this is the service itself')
  const other = components.byId.get(component)
  // A review app and production have no more in common than the time.
  if (other && !isNodeService(other) && !isNodeService(service) && !shareEnvironment(other, service))
    return byTime(own, other, component)
  return (
    byLabels(facts, components, own, symptoms, component) ??
    byNode(facts, own, symptoms, { component, isChange }) ??
    byMessage(facts, components, own, symptoms, component) ??
    byImage(facts, own, component) ??
    byPlace(own, symptoms, component) ??
    byTime(own, other, component)
  )
}

function known(code: string, text: string): Connection {
  return { code, value: 1, text, kind: code === 'same_service' ? 'own' : 'connected' }
}

/** The labels of an alert, or the host in a message, accuse the callee. */
function byLabels(
  facts: SuspectFacts,
  components: Components,
  own: Own,
  symptoms: readonly Symptom[],
  component: string,
): Connection | null {
  // A failing pod is evidence against its failed node, and a failing workload is evidence against its namespace.
  if ([component, own.component].some((one) => PLACES.some((place) => one.startsWith(place)))) return null
  const [names, isNamed] = [shows(symptoms, component, own.component), shows(symptoms, own.component, component)]
  if (!names && !isNamed) return null
  const message = byMessage(facts, components, own, symptoms, component)
  if (message) return message
  if (names) return known('named_in_labels', `an alert of ${own.name} names it`)
  return complaint(own, symptoms, component, 'named_in_labels', `one of its alerts names ${own.name}`)
}

/** A workload that failed after the one of which it complains is a consequence of it. */
function complaint(own: Own, symptoms: readonly Symptom[], component: string, code: string, text: string): Connection {
  const isLater = sinceOf(symptoms, component) > sinceOf(symptoms, own.component)
  return isLater ? consequence(code, `${text}, which failed first`) : known(code, text)
}

/** A suspect that failed because of something else. */
function consequence(code: string, text: string): Connection {
  return { code, value: CONSEQUENCE, text, kind: 'connected' }
}

function byNode(
  { assigned }: SuspectFacts,
  own: Own,
  symptoms: readonly Symptom[],
  { component, isChange }: { readonly component: string; readonly isChange: boolean },
): Connection | null {
  if (assigned.some(({ node }) => component === `${NODE}${node}`))
    return known('same_node', `pods of ${own.name} run on this node`)
  const [mine, its] = [nodesOf(own.component, symptoms), nodesOf(component, symptoms)]
  const shared = [...its].find((node) => mine.has(node))
  if (shared === undefined) return null
  if (component.startsWith(NODE)) return known('same_node', `pods of ${own.name} run on this node`)
  const isOnNode = own.component.startsWith(NODE)
  if (isOnNode && isChange) return known('same_node', `has pods on ${own.name}`)
  if (isOnNode) return onNode(own, symptoms, component)
  if (isChange) return null
  const text = `has pods on ${shared}, like ${own.name}`
  return isVictim(symptoms, component, shared)
    ? consequence('same_node', `${text}, and fails because of the node`)
    : { code: 'shared_node', value: NEAR, text, kind: 'time' }
}

/** Returns whether a workload failed with or after its node, whose own sign comes up to a minute late. */
function isVictim(symptoms: readonly Symptom[], component: string, node: string): boolean {
  const own = (symptomsByComponent(symptoms).get(node) ?? []).filter(({ witnesses }) => witnesses.length === 0)
  return own.some(({ startsAt }) => startsAt <= sinceOf(symptoms, component) + MINUTE)
}

/** A workload whose problem began after that of its node is a consequence of it, however severe its alerts are. */
function onNode({ name, component: node }: Own, symptoms: readonly Symptom[], component: string): Connection {
  const isLater = sinceOf(symptoms, component) >= sinceOf(symptoms, node)
  return isLater
    ? consequence('same_node', `has pods on ${name}, which failed first`)
    : known('same_node', `has pods on ${name}`)
}

function sinceOf(symptoms: readonly Symptom[], component: string): number {
  return Math.min(...(symptomsByComponent(symptoms).get(component) ?? []).map(({ startsAt }) => startsAt))
}

/** Returns a component's nodes as `node/<name>`: the node itself, or the nodes of its pods with symptoms. */
function nodesOf(component: string, symptoms: readonly Symptom[]): ReadonlySet<string> {
  if (component.startsWith(NODE)) return new Set([component])
  const own = symptomsByComponent(symptoms).get(component) ?? []
  return new Set(own.flatMap(({ node }) => (node === null ? [] : `${NODE}${node}`)))
}

/** Returns whether a component has a symptom that another one shows. */
function shows(symptoms: readonly Symptom[], component: string, witness: string): boolean {
  return (
    symptomsByComponent(symptoms)
      .get(component)
      ?.some(({ witnesses }) => witnesses.includes(witness)) ?? false
  )
}

/** A storm has many suspects, and each asks for its symptoms and texts. */
const symptomsByComponent = cacheLast((symptoms: readonly Symptom[]) =>
  Map.groupBy(symptoms, ({ component }) => component),
)

/**
 * Often a dependency is named only in an error message: `dial tcp: lookup redis-cart on 10.96.0.10:53: no such host`.
 */
function byMessage(
  facts: SuspectFacts,
  components: Components,
  own: Own,
  symptoms: readonly Symptom[],
  component: string,
): Connection | null {
  const other =
    components.byId.get(component)?.name ?? (component.startsWith(NODE) ? component.slice(NODE.length) : null)
  // The name of a service says nothing about its namesake in another namespace.
  if (other === null || other === own.name) return null
  if (textsOf(facts, own.id).some((text) => names(text, other)))
    return known('named_in_message', `an alert or event of ${own.name} names it`)
  return textsOf(facts, component).some((text) => names(text, own.name))
    ? complaint(own, symptoms, component, 'named_in_message', `one of its alerts or events names ${own.name}`)
    : null
}

function textsOf(facts: SuspectFacts, service: string): readonly string[] {
  return textsByService(facts).get(service) ?? []
}

const textsByService = cacheLast(({ alerts, events }: SuspectFacts): ReadonlyMap<string, readonly string[]> => {
  const texts = new Map<string, Set<string>>()
  const add = (service: string | null, text: string) => {
    if (service === null) return
    const known = texts.get(service)
    if (known) known.add(text)
    else texts.set(service, new Set([text]))
  }
  for (const { service, words } of alerts) add(service, words)
  for (const { service, text } of events) add(service, text)
  return new Map([...texts].map(([service, own]) => [service, [...own]]))
})

function names(text: string, name: string): boolean {
  if (name.length < SHORTEST_NAME || !text.includes(name)) return false
  return new RegExp(`(?<![\\w.-])${name.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`).test(text)
}

/**
 * Compares the service's own image, which is the image shared by the fewest services. More widely shared images are
 * sidecars, such as the `istio/proxyv2` that a mesh adds to every pod.
 */
function byImage({ images }: SuspectFacts, { id, name }: Own, component: string): Connection | null {
  if (images.length === 0) return null
  const byPath = Map.groupBy(images, ({ path }) => path)
  const shared = [...byPath].filter(([, of]) => of.some(({ service }) => service === id))
  const least = Math.min(...shared.map(([, { length }]) => length))
  const found = shared.find(([, of]) => of.length === least && of.some(({ service }) => service === component))
  return found ? known('same_image', `runs the same image as ${name}, ${found[0]}`) : null
}

/** A problem of a namespace or a registry is connected to the workloads that show it. */
function byPlace({ component: own, name }: Own, symptoms: readonly Symptom[], component: string) {
  if (!shows(symptoms, component, own)) return null
  if (component.startsWith(NAMESPACE)) return known('own_namespace', `pods of ${name} have this problem`)
  return component.startsWith(REGISTRY)
    ? known('same_registry', `pods of ${name} pull their image from this registry`)
    : null
}

function byTime({ name, service: own }: Own, other: SuspectService | undefined, component: string): Connection {
  const only = `only the time connects it to ${name}`
  const namespace = other?.namespace ?? (component.startsWith(NAMESPACE) ? component.slice(NAMESPACE.length) : null)
  if (other && areApart(other.cluster, own.cluster))
    return { code: 'only_time', value: FOREIGN, text: `${only}, and the two are in different clusters`, kind: 'time' }
  const isNear = namespace === null || namespace === own.namespace || own.namespace === ''
  return isNear
    ? { code: 'only_time', value: NEAR, text: only, kind: 'time' }
    : { code: 'only_time', value: FAR, text: `${only}, and the two are in different namespaces`, kind: 'time' }
}
