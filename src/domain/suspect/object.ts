/** Objects: workloads, nodes and namespaces as suspects, by the symptoms that nothing else explains. */

import { together } from './explanation.ts'
import type { Places } from './place.ts'
import type { Facts, Suspect, SuspectService } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/** So many symptoms decide; more of them only repeat it, and a hundred hiccups are no proof. */
export const HEARD = 6
/** How many of them are given as reasons, and how many records as evidence. */
export const SHOWN = 4
export const EVIDENCE = 10
/** How much of an object's trouble a change explains that is surely its cause. */
const CHANGE_EXPLAINS = 0.5
/** What a change explains less than this is not worth a sentence. */
const MENTIONED = 0.1
/** How near the suspect is to the service of the incident. */
const NEAR = 0.95
const FAR = 0.7
const FOREIGN = 0.5

/**
 * One suspect for each place that symptoms accuse. A change after which its trouble began explains it, as far as the
 * change is itself suspected.
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

/** A symptom as a sentence: what was seen, and the factors that decided its weight. */
export function reasonOf({ condition, text, factors }: Symptom): Suspect['reasons'][number] {
  const code = factors.find(({ code }) => !['failure', 'severity'].includes(code))?.code ?? 'symptom'
  return { code, text: `${condition}: ${text} (${factors.map((factor) => factor.text).join('; ')})` }
}

/** A factor as a reason. */
export function said({ code, text }: Factor): Suspect['reasons'][number] {
  return { code, text }
}

/** A score within 0..1, to four digits. */
export function rounded(score: number): number {
  return Math.round(Math.min(1, Math.max(0, score)) * 1e4) / 1e4
}

/** Trouble of the incident's own service, or of one that an alert links to it, is likelier its cause than a stranger's. */
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
