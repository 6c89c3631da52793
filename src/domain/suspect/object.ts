/** Workloads, nodes and namespaces as suspects, by symptoms without another explanation. */

import { together } from './explanation.ts'
import type { Places } from './place.ts'
import type { Facts, Suspect, SuspectService } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/** Only the strongest symptoms count, so that a hundred weak ones are not a proof. */
export const HEARD = 6
/** The maximum number of reasons, and of records as evidence. */
export const SHOWN = 4
export const EVIDENCE = 10
/** The part of an object's symptoms that a change explains if it surely is their cause. */
const CHANGE_EXPLAINS = 0.5
/** A change that explains less than this is not mentioned. */
const MENTIONED = 0.1
/** Weights for the distance of the suspect from the service of the incident. */
const NEAR = 0.95
const FAR = 0.7
const FOREIGN = 0.5

/**
 * Returns one suspect for each place with symptoms. If a change came before its problem, the change explains part of
 * it.
 */
export function objectSuspects(
  facts: Facts,
  places: Places,
  symptoms: readonly Symptom[],
  changes: readonly Suspect[],
): Suspect[] {
  const byPlace = Map.groupBy(symptoms, ({ place }) => place)
  return [...byPlace].map(([place, own]) => {
    const service = places.byId.get(place) ?? nodeService(places, place)
    const heard = own.sort((a, b) => b.weight - a.weight).slice(0, HEARD)
    const near = nearness(facts, places, symptoms, place)
    const explained = service ? explanation(changes, service) : null
    const factors = explained ? [explained, near] : [near]
    const mentioned = explained && explained.value <= 1 - MENTIONED ? factors : [near]
    return {
      kind: place.startsWith('node/') ? ('node' as const) : ('object' as const),
      ref: places.byId.has(place) && service ? `${service.namespace}/${service.name}` : place,
      serviceId: service?.id ?? null,
      score: rounded(factors.reduce((score, { value }) => score * value, together(heard.map(({ weight }) => weight)))),
      reasons: [...heard.slice(0, SHOWN).map(reasonOf), ...mentioned.map(said)],
      evidence: heard.flatMap(({ evidence }) => evidence).slice(0, EVIDENCE),
    }
  })
}

function nodeService({ byName }: Places, place: string): SuspectService | undefined {
  return [...(byName.get(place) ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))[0]
}

function explanation(changes: readonly Suspect[], { id }: SuspectService): Factor | null {
  const own = changes.filter(({ serviceId, score }) => serviceId === id && score > 0)
  const [change] = own.sort((a, b) => b.score - a.score || (a.ref < b.ref ? -1 : 1))
  if (!change) return null
  return {
    code: 'change_explains',
    value: 1 - CHANGE_EXPLAINS * change.score,
    text: `${change.kind} ${change.ref} may explain it`,
  }
}

/** Returns a symptom as a reason: what was seen, and the factors of its weight. */
export function reasonOf({ condition, text, factors }: Symptom): Suspect['reasons'][number] {
  const code = factors.find(({ code }) => !['failure', 'severity'].includes(code))?.code ?? 'symptom'
  return { code, text: `${condition}: ${text} (${factors.map((factor) => factor.text).join('; ')})` }
}

/** Returns a factor as a reason. */
export function said({ code, text }: Factor): Suspect['reasons'][number] {
  return { code, text }
}

/** Returns a score between 0 and 1 with four digits. */
export function rounded(score: number): number {
  return Math.round(Math.min(1, Math.max(0, score)) * 1e4) / 1e4
}

/**
 * Returns a weight: a problem of the incident's own service, or of one that an alert connects with it, is a more likely
 * cause.
 */
export function nearness(facts: Facts, places: Places, symptoms: readonly Symptom[], place: string): Factor {
  const own = places.byId.get(facts.incident.service)
  if (!own) return { code: 'unknown_service', value: 1, text: 'the service of the incident is not known' }
  if (place === own.id || place === own.name)
    return { code: 'same_service', value: 1, text: 'it is the service of the incident' }
  const linked = symptoms.some(
    ({ witnesses, place: accused }) =>
      (witnesses.includes(own.id) && accused === place) || (witnesses.includes(place) && accused === own.id),
  )
  if (linked) return { code: 'linked', value: 1, text: 'alerts link it to the service of the incident' }
  return distance(own, places.byId.get(place), place)
}

function distance(own: SuspectService, other: SuspectService | undefined, place: string): Factor {
  const namespace = other?.namespace ?? (place.startsWith('namespace/') ? place.slice('namespace/'.length) : null)
  if (other && other.cluster !== own.cluster) return { code: 'other_cluster', value: FOREIGN, text: 'another cluster' }
  if (namespace === null || namespace === own.namespace || own.namespace === '')
    return { code: 'same_namespace', value: NEAR, text: 'it is beside the service of the incident' }
  return { code: 'other_namespace', value: FAR, text: 'it is in another namespace than the service of the incident' }
}
