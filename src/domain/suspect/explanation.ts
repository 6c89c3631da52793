/** Reduces the weight of symptoms that are caused by a problem in another component, or that many components have. */
import { templatesOf } from '../service/pod-name.ts'
import { MINUTE } from '../units.ts'
import { START } from './searched.ts'
import type { SuspectFacts } from './suspect.ts'
import type { Alike, Factor, Symptom, SymptomEvent } from './symptom.ts'

/** The factor for a caller's symptom if it names the called service. */
const CALLEE_EXPLAINS = 0.4
/**
 * `NODE_EXPLAINS`: the factor for a pod's symptom if the pod's node failed. `NODE_GAINS`: the share of the symptom's
 * weight that counts against the node.
 */
const NODE_EXPLAINS = 0.25
const NODE_GAINS = 0.5
/** A node with at least this score is treated as failed. */
const NODE_TROUBLE = 0.3
/** How strongly the number of affected services reduces the weight, as an exponent. */
const SHARED = 0.75
/** How far apart events of two services may be that show one problem. */
const APART = 10 * 60_000

/** What follows from the loss of a node is reported within this time. The node's own sign comes up to a minute late. */
const FOLLOWS = 10 * MINUTE

/** Reduces the weight of explained symptoms. Symptoms explained by a node also count against the node. */
export function explain(symptoms: readonly Symptom[], facts: SuspectFacts): Symptom[] {
  const accusers = accusersOf(symptoms)
  const nodes = nodesInTrouble(symptoms)
  const lost = [...nodes].flatMap((node) => {
    const own = symptoms.filter(
      (one) => one.component === node && one.witnesses.length === 0 && one.condition !== START,
    )
    const since = Math.min(...own.map(({ startsAt }) => startsAt))
    return carriedMost(facts, node, since) ? [{ node, since }] : []
  })
  const carrier = (symptom: Symptom) =>
    lost.find(({ since }) => {
      const after = symptom.startsAt - since
      return isOfWhole(symptom, facts) && after >= -MINUTE && after <= FOLLOWS
    })?.node ?? null
  return symptoms.flatMap((symptom) => {
    const node = symptom.node === null ? carrier(symptom) : `node/${symptom.node}`
    if (node !== null && node !== symptom.component && nodes.has(node)) return onNode(symptom, node)
    const callee = accusers.get(symptom.component)
    if (!callee || symptom.witnesses.includes(callee)) return [symptom]
    const text = 'another alert names a failing service that this service calls'
    return [lighter(symptom, { code: 'callee_explains', value: CALLEE_EXPLAINS, text })]
  })
}

/** Returns whether a symptom is about the incident's service as a whole: no single pod, and nothing that it calls. */
function isOfWhole(symptom: Symptom, { incident }: SuspectFacts): boolean {
  const { component, witnesses, isMemory, condition } = symptom
  const isOwn = component === incident.service && witnesses.length === 0 && !isMemory
  return isOwn && (isAlert(symptom) || condition === 'WorkloadUnavailable')
}

/** Returns whether most of the known pods of the incident's service were on a node when it failed. */
function carriedMost({ assigned, events, alerts, incident }: SuspectFacts, node: string, since: number): boolean {
  const before = assigned.filter(({ at }) => at <= since)
  const [newest] = templatesOf(before.slice(-1).map(({ pod }) => pod))
  const current = before.filter(({ pod }) => templatesOf([pod])[0] === newest)
  const onNode = new Set(alerts.flatMap((alert) => (`node/${alert.node}` === node ? alert.id : [])))
  const lost = events.filter(({ service, name, alertId }) => {
    return service === incident.service && name === 'NodeNotReady' && alertId !== null && onNode.has(alertId)
  })
  const places = new Map([
    ...lost.map(({ object }) => [object.replace(/^Pod\//, ''), node] as const),
    ...current.map((one) => [one.pod, `node/${one.node}`] as const),
  ])
  return [...places.values()].filter((place) => place === node).length * 2 > places.size
}

/** Treats the weights as independent probabilities, and returns the probability that at least one of them is right. */
export function combinedWeight(weights: readonly number[]): number {
  return 1 - weights.reduce((doubt, weight) => doubt * (1 - weight), 1)
}

/** For each caller with problems, returns the called component with the heaviest symptom. */
function accusersOf(symptoms: readonly Symptom[]): Map<string, string> {
  const accused = new Map<string, string>()
  for (const { witnesses, component } of symptoms) {
    if (component.startsWith('namespace/') || component.startsWith('registry/')) continue
    for (const witness of witnesses) if (!accused.has(witness)) accused.set(witness, component)
  }
  return accused
}

function nodesInTrouble(symptoms: readonly Symptom[]): Set<string> {
  const ofNodes = symptoms.filter(({ component }) => component.startsWith('node/'))
  const nodes = new Set(ofNodes.map(({ component }) => component))
  const trouble = (node: string) =>
    combinedWeight(ofNodes.filter(({ component }) => component === node).map(({ weight }) => weight))
  return new Set([...nodes].filter((node) => trouble(node) >= NODE_TROUBLE))
}

function onNode(symptom: Symptom, node: string): Symptom[] {
  const rest = lighter(symptom, { code: 'node_explains', value: NODE_EXPLAINS, text: `${node} itself has a problem` })
  const where = symptom.node === null ? 'most known pods of its service ran on this node' : 'the pod runs on this node'
  const gain = lighter(symptom, { code: 'on_node', value: NODE_GAINS, text: where })
  return [rest, { ...gain, component: node, witnesses: [symptom.component] }]
}

function lighter(symptom: Symptom, factor: Factor): Symptom {
  return { ...symptom, factors: [...symptom.factors, factor], weight: symptom.weight * factor.value }
}

/**
 * When many services have the same problem at the same time, the cause is elsewhere. An alert lasts from its start to its
 * end. Events show a condition only at some moments, so those of two services can be minutes apart.
 */
export function rarity(symptom: SymptomEvent, alike: Alike): Factor {
  const together = (apart: number) =>
    alike.length === 1 ? 1 : alike.filter((of) => of.some((one) => areTogether(one, symptom, apart))).length
  const overlapping = together(0)
  const components = isAlert(symptom) ? overlapping : together(APART)
  if (components <= 1) return { code: 'only_here', value: 1, text: '' }
  const when = components === overlapping ? 'at the same time' : 'within 10 min'
  return {
    code: 'shared',
    value: components ** -SHARED,
    text: `${components} services have the same problem ${when}`,
  }
}

function areTogether(one: SymptomEvent, other: SymptomEvent, apart: number): boolean {
  return one.startsAt <= endOf(other) + apart && endOf(one) >= other.startsAt - apart
}

/** An alert that has not ended goes on, even if its sender repeats it rarely. */
function endOf(symptom: SymptomEvent): number {
  return symptom.isFiring && isAlert(symptom) ? Number.POSITIVE_INFINITY : symptom.lastAt
}

/** Returns whether a symptom comes from an alert and not from events. */
export function isAlert({ evidence }: Pick<SymptomEvent, 'evidence'>): boolean {
  return evidence.some(({ alertId }) => alertId !== undefined)
}
