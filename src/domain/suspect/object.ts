/** Ranks workloads, nodes and namespaces as suspects, based on symptoms that nothing else explains. */

import { ordered } from '../order.ts'
import { nameInCluster } from '../sender/sender-name.ts'
import { serviceName } from '../text.ts'
import type { Components } from './component.ts'
import { connectionOf } from './connection.ts'
import { combinedWeight } from './explanation.ts'
import { CLOCKS_DIFFER } from './likely-cause.ts'
import type { RankedSuspect, Suspect, SuspectFacts, SuspectService } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/** Only the strongest symptoms count, so that many weak ones do not add up. */
export const MAX_SYMPTOMS = 6
/** Limits on the reasons and evidence records in a suspect. */
export const MAX_REASONS = 4
export const MAX_EVIDENCE = 10
/** The share of an object's symptoms that a change explains if the change certainly caused them. */
const CHANGE_EXPLAINS = 0.5
/** Changes that explain a smaller share than this are not mentioned. */
const MENTIONED = 0.1
/** What began after the incident is no cause of it. */
const BEGAN_LATER: Factor = { code: 'began_later', value: 0.5, text: 'began later than the incident' }

/** Names the clusters of objects that have the same name: `shop/cart in cluster eu-1`. */
export function inClusters(suspects: readonly Suspect[], { byId }: Components): readonly Suspect[] {
  const named = Map.groupBy(suspects, ({ kind, ref }) => `${kind} ${ref}`)
  return suspects.map((one) => {
    const service = byId.get(one.serviceId ?? '')
    const isAlike = one.kind === 'object' && (named.get(`object ${one.ref}`)?.length ?? 0) > 1
    return isAlike && service ? { ...one, ref: nameInCluster(service) } : one
  })
}

/** Returns one suspect per component with symptoms. A preceding change explains part of the score. */
export function objectSuspects(
  facts: SuspectFacts,
  components: Components,
  symptoms: readonly Symptom[],
  changes: readonly RankedSuspect[],
): RankedSuspect[] {
  const byComponent = Map.groupBy(symptoms, ({ component }) => component)
  return [...byComponent].map(([component, own]) => {
    const service = components.byId.get(component) ?? nodeService(components, component)
    const strongest = own.sort((a, b) => b.weight - a.weight).slice(0, MAX_SYMPTOMS)
    const connection = connectionOf(facts, components, symptoms, component)
    const explained = service ? explanation(changes, service) : null
    const since = Math.min(...own.map(({ startsAt }) => startsAt))
    const isLate = connection.kind !== 'own' && since > facts.incident.startedAt + CLOCKS_DIFFER
    const late = isLate ? [BEGAN_LATER] : []
    const factors = [...(explained ? [explained] : []), ...late, connection]
    const mentioned = explained && explained.value <= 1 - MENTIONED ? factors : [...late, connection]
    return {
      kind: component.startsWith('node/') ? ('node' as const) : ('object' as const),
      ref: components.byId.has(component) && service ? serviceName(service) : component,
      serviceId: service?.id ?? null,
      connection: connection.kind,
      score: rounded(
        factors.reduce((score, { value }) => score * value, combinedWeight(strongest.map(({ weight }) => weight))),
      ),
      reasons: caveatFirst([
        ...strongest.slice(0, MAX_REASONS).map((one) => reasonOf(one)),
        ...mentioned.map(reasonOfFactor),
      ]),
      since,
      callers: callersOf(facts, components, own, component),
      evidence: strongest.flatMap(({ evidence }) => evidence).slice(0, MAX_EVIDENCE),
    }
  })
}

/** Returns the services whose alerts accuse a component, by id, each since its first such alert. */
function callersOf({ alerts }: SuspectFacts, { byId }: Components, symptoms: readonly Symptom[], component: string) {
  const ids = new Set(
    symptoms
      .filter(({ witnesses }) => witnesses.length > 0)
      .flatMap(({ evidence }) => evidence.map(({ alertId }) => alertId)),
  )
  if (ids.size === 0) return []
  const accusing = alerts.filter(({ id, service }) => ids.has(id) && service !== component)
  const callers = [...Map.groupBy(accusing, ({ service }) => service)].flatMap(([service, of]) => {
    const found = byId.get(service)
    const since = Math.min(...of.map(({ startsAt }) => startsAt))
    return found ? [{ id: found.id, namespace: found.namespace, name: found.name, since }] : []
  })
  return ordered(callers, ({ id }) => [id])
}

function nodeService({ byName }: Components, component: string): SuspectService | undefined {
  return [...(byName.get(component) ?? [])].sort((a, b) => (a.id < b.id ? -1 : 1))[0]
}

function explanation(changes: readonly RankedSuspect[], { id }: SuspectService): Factor | null {
  const own = changes.filter(({ serviceId, score }) => serviceId === id && score > 0)
  const [found] = own.sort((a, b) => b.score - a.score || (a.ref < b.ref ? -1 : 1))
  if (!found) return null
  const change = `${found.kind} ${found.ref}`
  const value = 1 - CHANGE_EXPLAINS * found.score
  return { code: 'change_explains', value, text: `${change} may explain this problem`, change }
}

/** How many other reasons a suspect has that only the time connects. */
const AFTER_CAVEAT = 2

/** Moves the reason `only_time` to the front. It qualifies all others, so only the first of them are kept, in brief. */
export function caveatFirst(reasons: Suspect['reasons']): Suspect['reasons'] {
  const caveat = reasons.find(({ code }) => code === 'only_time')
  if (!caveat) return reasons
  const others = reasons.filter((one) => one !== caveat).slice(0, AFTER_CAVEAT)
  return [caveat, ...others.map((one) => ({ ...one, text: briefly(one) }))]
}

function briefly({ text, condition, short }: Suspect['reasons'][number]): string {
  return condition !== undefined && short !== undefined ? `${condition} ${short}` : text
}

/**
 * Formats a symptom as a reason: what was observed, and the factors in its weight. `where`: text such as ` in checkout`
 * if the symptom belongs to a service other than the suspect.
 */
export function reasonOf({ condition, text, factors }: Symptom, where = ''): Suspect['reasons'][number] {
  const code = factors.find(({ code }) => !['failure', 'severity'].includes(code))?.code ?? 'symptom'
  const short = factors.flatMap((factor) => factor.text || []).join('; ')
  const said = text === '' ? '' : ` ${text}`
  return { code, text: `${condition}${where}:${said} (${short})`, condition: `${condition}${where}:`, short }
}

/** Formats a factor as a reason. */
export function reasonOfFactor({ code, text, change }: Factor): Suspect['reasons'][number] {
  return { code, text, ...(change === undefined ? {} : { change }) }
}

/** Clamps a score to 0–1 and rounds it to four decimals. */
export function rounded(score: number): number {
  return Math.round(Math.min(1, Math.max(0, score)) * 1e4) / 1e4
}
