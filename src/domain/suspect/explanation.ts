/** Explanation: which symptoms are the effect of another place's trouble, and so speak little against their own. */
import type { Factor, Symptom } from './symptom.ts'

/** What remains of a caller's trouble once it names what it calls. */
const CALLEE_EXPLAINS = 0.4
/** What remains of a pod's trouble on a node that is itself in trouble, and what of it speaks against the node. */
const NODE_EXPLAINS = 0.25
const NODE_GAINS = 0.5
/** From here on a node counts as in trouble. */
const NODE_TROUBLE = 0.3

/** The symptoms with what another one explains made lighter; what a node explains is also held against the node. */
export function explain(symptoms: readonly Symptom[]): Symptom[] {
  const accusers = accusersOf(symptoms)
  const nodes = nodesInTrouble(symptoms)
  return symptoms.flatMap((symptom) => {
    const node = symptom.node === null ? null : `node/${symptom.node}`
    if (node !== null && node !== symptom.place && nodes.has(node)) return onNode(symptom, node)
    const callee = accusers.get(symptom.place)
    if (!callee || symptom.witnesses.includes(callee)) return [symptom]
    const text = 'it names a service that it calls'
    return [lighter(symptom, { code: 'callee_explains', value: CALLEE_EXPLAINS, text })]
  })
}

/** What the factors say together: the chance that at least one of independent witnesses is right. */
export function together(weights: readonly number[]): number {
  return 1 - weights.reduce((doubt, weight) => doubt * (1 - weight), 1)
}

/** Each place that shows trouble in what it calls, with the place that it accuses most. */
function accusersOf(symptoms: readonly Symptom[]): Map<string, string> {
  const accused = new Map<string, string>()
  for (const { witnesses, place } of symptoms) {
    if (place.startsWith('namespace/')) continue
    for (const witness of witnesses) if (!accused.has(witness)) accused.set(witness, place)
  }
  return accused
}

function nodesInTrouble(symptoms: readonly Symptom[]): Set<string> {
  const ofNodes = symptoms.filter(({ place }) => place.startsWith('node/'))
  const nodes = new Set(ofNodes.map(({ place }) => place))
  const trouble = (node: string) => together(ofNodes.filter(({ place }) => place === node).map(({ weight }) => weight))
  return new Set([...nodes].filter((node) => trouble(node) >= NODE_TROUBLE))
}

function onNode(symptom: Symptom, node: string): Symptom[] {
  const rest = lighter(symptom, { code: 'node_explains', value: NODE_EXPLAINS, text: `${node} is in trouble itself` })
  const gain = lighter(symptom, { code: 'on_node', value: NODE_GAINS, text: 'it runs there' })
  return [rest, { ...gain, place: node, witnesses: [symptom.place] }]
}

function lighter(symptom: Symptom, factor: Factor): Symptom {
  return { ...symptom, factors: [...symptom.factors, factor], weight: symptom.weight * factor.value }
}
