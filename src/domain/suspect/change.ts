/** Ranks changes as suspects, based on later problems in the changed service and its dependents. */
import { type Change, type Emptied, type Outcome, outcomeOf } from '../correlation/change.ts'
import { lagText } from '../correlation/correlation.ts'
import { secondsBetween } from '../text.ts'
import { type Components, componentAt } from './component.ts'
import { connectionOf } from './connection.ts'
import { combinedWeight } from './explanation.ts'
import { caveatFirst, MAX_EVIDENCE, MAX_REASONS, MAX_SYMPTOMS, reasonOf, reasonOfFactor, rounded } from './object.ts'
import type { RankedSuspect, SuspectFacts } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/**
 * The probability that a change was actually deployed. A pipeline whose jobs are unknown may have deployed something.
 */
const REACHED: Readonly<Record<Outcome, number>> = {
  'deploy failed': 1,
  deployed: 0.95,
  deploying: 0.95,
  'success, jobs unknown': 0.8,
  'failed, jobs unknown': 0.7,
  'under way': 0.7,
  'success without a deploy': 0.2,
  'failed before a deploy': 0.1,
  'CI system failure': 0.15,
}
const OUTCOME_TEXTS: Readonly<Record<Outcome, string>> = {
  'deploy failed': 'the deploy job failed',
  deployed: 'the pipeline deployed',
  deploying: 'the deploy had begun, and no end of it is recorded',
  'success, jobs unknown': 'the pipeline succeeded; it is unknown whether it deployed',
  'failed, jobs unknown': 'the pipeline failed; the failed job is unknown',
  'under way': 'the pipeline is still running',
  'success without a deploy': 'the pipeline deployed nothing',
  'failed before a deploy': 'the pipeline failed before it deployed anything',
  'CI system failure': 'the CI system itself failed',
}
/** A pipeline whose deploy jobs are known and have not started. */
const UNDEPLOYED = 0.1
const ROLLOUT = 0.9
const ROLLED_OUT: Readonly<Record<Emptied | 'new template' | 'earlier template', Pick<Factor, 'code' | 'text'>>> = {
  'new template': { code: 'new_replicaset', text: 'a new pod template was rolled out' },
  'earlier template': { code: 'new_replicaset', text: 'an earlier pod template was rolled out' },
  'scaled to zero': { code: 'scaled_to_zero', text: 'the workload was scaled to zero' },
  'endpoints removed': { code: 'endpoints_removed', text: 'the service lost its selector or endpoints' },
}
const MERGE_REQUEST = 0.1
/** New pods start serving at the end of a deploy. An alert takes another scrape and evaluation to fire. */
const DETECTION = 30_000
/** The clocks of the CI system, the cluster and the monitoring can differ by this much. */
const SKEW = 15_000
/** In the changed service, the probability that a symptom is an effect of the change fades over this time. */
const FADES_OVER = 15 * 60_000
/** In another service, a symptom this far from the expected time is half as likely to be an effect of the change. */
const OTHER_TOLERANCE = 2 * 60_000
/**
 * The weight of a problem in a service without a known dependency, and a further factor if that service was changed
 * itself.
 */
const UNKNOWN_DEPENDENCY = 0.4
const EXPLAINED_ELSEWHERE = 0.3
/**
 * Weights for a condition that began before the change, and for a condition that recurred after a pause of at least
 * `APART`.
 */
const BEFORE = 0.05
const AGAIN = 0.5
const APART = 10 * 60_000
/** The weight of a change whose only connection is that it came shortly before the incident. */
const MERE_TIME = 0.05

type Effect = { readonly symptom: Symptom; readonly weight: number; readonly factor: Factor }

/** Returns one suspect per change, except for fixes. The score is close to 0 if no problem began after the change. */
export function changeSuspects(
  facts: SuspectFacts,
  components: Components,
  symptoms: readonly Symptom[],
  fixes: ReadonlySet<Change>,
): RankedSuspect[] {
  const changed = facts.changes.flatMap((change) => {
    const component = componentAt(components, change.service)
    return component === null || fixes.has(change) ? [] : [{ change, component }]
  })
  const first = firstChanges(changed)
  return changed.map(({ change, component }) => {
    const own = symptoms.filter((one) => one.component === component).map((one) => ownEffect(change, one))
    const others = symptoms
      .filter((one) => one.component !== component)
      .map((one) => otherEffect(change, one, (first.get(one.component) ?? Number.POSITIVE_INFINITY) <= one.startsAt))
    const effects = [...own, ...others]
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, MAX_SYMPTOMS)
    const reach = reachOf(change)
    const connection = connectionOf(facts, components, symptoms, component, true)
    return {
      kind: change.kind,
      ref: change.ref,
      serviceId: change.service,
      connection: connection.kind,
      score: rounded(
        reach.value *
          connection.value *
          combinedWeight([mereTime(facts, change), ...effects.map(({ weight }) => weight)]),
      ),
      reasons: caveatFirst([
        reasonOfFactor(reach),
        ...effects.slice(0, MAX_REASONS).map((one) => reasonOfEffect(one, facts, components)),
        reasonOfFactor(connection),
      ]),
      evidence: [{ eventId: change.eventId }, ...effects.flatMap(({ symptom }) => symptom.evidence)].slice(
        0,
        MAX_EVIDENCE,
      ),
    }
  })
}

/**
 * A leak fills the memory slowly. The first time that pods of the newest template run out of memory, the template is
 * the suspect, however long ago it was rolled out.
 */
const FIRST_OOM = 0.9

/** Returns whether pods of a rollout's template ran out of memory for the first time. */
export function isFirstOom(change: Change, { isMemory, templates, factors, startsAt }: Symptom): boolean {
  if (change.kind !== 'rollout' || change.emptied !== undefined || startsAt < change.startsAt) return false
  return isMemory && templates.includes(change.hash) && factors.some(({ code }) => code === 'new')
}

/**
 * A condition that was present when the change started has another cause. If the condition had ended well before the
 * change, its recurrence may be an effect of the change.
 */
function ownEffect(change: Change, symptom: Symptom): Effect {
  const from = change.startsAt - SKEW
  const at = Math.min(...symptom.spans.flatMap(([start]) => (start >= from ? start : [])))
  const earlier = symptom.spans.filter(([start]) => start < from).map(([, end]) => end)
  if (at === Number.POSITIVE_INFINITY || Math.max(...earlier) >= from - APART)
    return effect(symptom, began(BEFORE, 'before', 'began before the change'))
  const late = Math.max(0, at - change.endsAt - DETECTION)
  const again = earlier.length > 0
  if (late > FADES_OVER && isFirstOom(change, symptom)) {
    const text = `pods of this template ran out of memory for the first time ${after(at, change)}`
    return effect(symptom, { code: 'first_oom', value: FIRST_OOM, text })
  }
  const value = Math.exp(-late / FADES_OVER) * (again ? AGAIN : 1)
  return effect(symptom, began(value, 'after_change', `began ${again ? 'again ' : ''}${after(at, change)}`))
}

function otherEffect(change: Change, symptom: Symptom, explained: boolean): Effect {
  const share = UNKNOWN_DEPENDENCY * (explained ? EXPLAINED_ELSEWHERE : 1)
  const value = symptom.startsAt < change.startsAt - SKEW ? 0 : share * expected(symptom.startsAt, change)
  const where = explained ? 'in a service that had its own change' : 'in a service that had no change'
  return effect(symptom, began(value, 'elsewhere', `began ${after(symptom.startsAt, change)}, ${where}`))
}

/** `short`: when the condition began, without the words `the problem`. */
function began(value: number, code: string, short: string): Factor {
  return { code, value, text: `the problem ${short}`, short }
}

function effect(symptom: Symptom, factor: Factor): Effect {
  return { symptom, factor, weight: symptom.weight * factor.value }
}

/**
 * Returns when each component was first changed, minus a tolerance. Later problems of the component may be due to that
 * change.
 */
function firstChanges(changed: readonly { change: Change; component: string }[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { change, component } of changed)
    first.set(component, Math.min(first.get(component) ?? Number.POSITIVE_INFINITY, change.startsAt - SKEW))
  return first
}

/** Any change before the incident gets a small score. */
function mereTime({ incident }: SuspectFacts, change: Change): number {
  return incident.startedAt < change.startsAt - SKEW ? 0 : MERE_TIME * expected(incident.startedAt, change)
}

/**
 * Rates how well a time matches the change. The best match is shortly after the change, when an alert has had time to
 * fire.
 */
function expected(at: number, change: Change): number {
  return 1 / (1 + Math.abs(at - change.endsAt - DETECTION) / OTHER_TOLERANCE)
}

function after(at: number, change: Change): string {
  return lagText(Math.max(0, secondsBetween(change.startsAt, at)))
}

function reachOf(change: Change): Factor {
  if (change.kind === 'rollout')
    return {
      value: ROLLOUT,
      ...ROLLED_OUT[change.emptied ?? (change.isRollback ? 'earlier template' : 'new template')],
    }
  const outcome = outcomeOf(change.facts)
  if (outcome === 'under way' && change.facts.jobs.length > 0)
    return { code: 'under_way', value: UNDEPLOYED, text: 'the pipeline is still running and has deployed nothing yet' }
  if (change.facts.mergeRequest)
    return { code: 'merge_request', value: MERGE_REQUEST, text: 'the pipeline ran for a merge request' }
  return {
    code: outcome.replaceAll(/[ ,]+/g, '_').toLowerCase(),
    value: REACHED[outcome],
    text: OUTCOME_TEXTS[outcome],
  }
}

function nameIn({ byId }: Components, id: string): string {
  return byId.get(id)?.name ?? id
}

/** Formats an effect as a reason, with the service that showed it unless that is the service of the incident. */
function reasonOfEffect(
  { symptom, factor }: Effect,
  { incident }: SuspectFacts,
  components: Components,
): RankedSuspect['reasons'][number] {
  const { component, witnesses } = symptom
  const own = componentAt(components, incident.service)
  const isOwn = own === null || witnesses.includes(own)
  const callers = components.byId.has(component) ? witnesses : []
  const [seenBy = component] = callers
  const name = callers.length > 1 ? `${callers.length} callers` : nameIn(components, seenBy)
  const where = isOwn || seenBy === own ? '' : ` in ${name}`
  const { text } = reasonOf(symptom, where)
  const condition = `${symptom.condition}${where}`
  const short = factor.short ?? factor.text
  return {
    code: factor.code,
    text: `${text}: ${factor.text}`,
    condition: factor.short ? condition : `${condition}:`,
    short,
  }
}
