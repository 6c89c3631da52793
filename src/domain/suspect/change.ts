/** Changes as suspects, judged by the problems that started after them in the changed service and in its dependents. */
import { type Change, type Outcome, outcomeOf } from '../correlation/change.ts'
import { together } from './explanation.ts'
import { EVIDENCE, HEARD, nearness, reasonOf, rounded, SHOWN, said } from './object.ts'
import { type Places, placeAt } from './place.ts'
import type { Facts, Suspect } from './suspect.ts'
import type { Factor, Symptom } from './symptom.ts'

/** How surely a change touched the running system. A pipeline without known jobs may have deployed. */
const TOUCHED: Readonly<Record<Outcome, number>> = {
  'deploy failed': 1,
  deployed: 0.95,
  'success, jobs unknown': 0.8,
  'failed, jobs unknown': 0.7,
  'under way': 0.7,
  'success without a deploy': 0.2,
  'failed before a deploy': 0.1,
  'CI system failure': 0.15,
}
const ROLLOUT = 0.9
const MERGE_REQUEST = 0.1
/** New pods serve at the end of a deploy. An alert then needs another scrape and evaluation. */
const DETECTION = 30_000
/** The clocks of CI, cluster and monitoring may differ by this much. */
const SKEW = 15_000
/**
 * At this distance from the expected time, a symptom of the changed service, or of another one, is half as likely an
 * effect.
 */
const OWN_TOLERANCE = 10 * 60_000
const OTHER_TOLERANCE = 2 * 60_000
/** The weight of a problem in another service: without a known dependency, and if its own change explains it. */
const UNKNOWN_DEPENDENCY = 0.4
const EXPLAINED_ELSEWHERE = 0.3
/** The weight of a condition that started before the change, and of one that had ended long before it. */
const BEFORE = 0.05
const AGAIN = 0.5
const APART = 10 * 60_000
/** The weight of time alone. */
const MERE_TIME = 0.05

type Effect = { readonly symptom: Symptom; readonly weight: number; readonly factor: Factor }

/** Returns one suspect per change. The score is 0 or close to 0 if nothing started after the change. */
export function changeSuspects(facts: Facts, places: Places, symptoms: readonly Symptom[]): Suspect[] {
  const changed = facts.changes.flatMap((change) => {
    const place = placeAt(places, change.service)
    return place === null ? [] : [{ change, place }]
  })
  const first = firstChanges(changed)
  return changed.map(({ change, place }) => {
    const own = symptoms.filter((one) => one.place === place).map((one) => ownEffect(change, one))
    const others = symptoms
      .filter((one) => one.place !== place)
      .map((one) => otherEffect(change, one, (first.get(one.place) ?? Number.POSITIVE_INFINITY) <= one.startsAt))
    const effects = [...own, ...others]
      .filter(({ weight }) => weight > 0)
      .sort((a, b) => b.weight - a.weight)
      .slice(0, HEARD)
    const touched = touchedBy(change)
    const near = nearness(facts, places, symptoms, place)
    return {
      kind: change.kind,
      ref: change.ref,
      serviceId: change.service,
      score: rounded(
        touched.value * near.value * together([mereTime(facts, change), ...effects.map(({ weight }) => weight)]),
      ),
      reasons: [said(touched), ...effects.slice(0, SHOWN).map(reasonOfEffect), said(near)],
      evidence: [{ eventId: change.eventId }, ...effects.flatMap(({ symptom }) => symptom.evidence)].slice(0, EVIDENCE),
    }
  })
}

/**
 * A condition that was going on when the change started has another cause. One that had ended may have been caused by
 * the change.
 */
function ownEffect(change: Change, symptom: Symptom): Effect {
  const from = change.startsAt - SKEW
  const began = Math.min(...symptom.spans.flatMap(([start]) => (start >= from ? start : [])))
  const earlier = symptom.spans.filter(([start]) => start < from).map(([, end]) => end)
  if (began === Number.POSITIVE_INFINITY || Math.max(...earlier) >= from - APART)
    return effect(symptom, { code: 'before', value: BEFORE, text: 'it was there before the change' })
  const late = Math.max(0, began - change.endsAt - DETECTION)
  const again = earlier.length > 0
  const value = nearby(late, OWN_TOLERANCE) * (again ? AGAIN : 1)
  return effect(symptom, {
    code: 'after_change',
    value,
    text: `it began ${again ? 'again ' : ''}${after(began, change)}`,
  })
}

function otherEffect(change: Change, symptom: Symptom, explained: boolean): Effect {
  const share = UNKNOWN_DEPENDENCY * (explained ? EXPLAINED_ELSEWHERE : 1)
  const value = symptom.startsAt < change.startsAt - SKEW ? 0 : share * expected(symptom.startsAt, change)
  const what = explained ? 'elsewhere, beside a change of its own' : 'elsewhere, where nothing changed'
  return effect(symptom, { code: 'elsewhere', value, text: `it began ${what}, ${after(symptom.startsAt, change)}` })
}

function effect(symptom: Symptom, factor: Factor): Effect {
  return { symptom, factor, weight: symptom.weight * factor.value }
}

/** Returns when each place was first changed, with some tolerance. Later problems there have their own explanation. */
function firstChanges(changed: readonly { change: Change; place: string }[]): Map<string, number> {
  const first = new Map<string, number>()
  for (const { change, place } of changed)
    first.set(place, Math.min(first.get(place) ?? Number.POSITIVE_INFINITY, change.startsAt - SKEW))
  return first
}

/** A change before the incident always keeps a small score. */
function mereTime({ incident }: Facts, change: Change): number {
  return incident.startedAt < change.startsAt - SKEW ? 0 : MERE_TIME * expected(incident.startedAt, change)
}

/**
 * Returns how well a time fits. It is highest when the change was done and an alert had time to notice, and decreases
 * on both sides.
 */
function expected(at: number, change: Change): number {
  return nearby(Math.abs(at - change.endsAt - DETECTION), OTHER_TOLERANCE)
}

function nearby(distance: number, tolerance: number): number {
  return 1 / (1 + distance / tolerance)
}

function after(at: number, change: Change): string {
  const seconds = Math.max(0, Math.round((at - change.startsAt) / 1000))
  return `${seconds < 120 ? `${seconds} s` : `${Math.round(seconds / 60)} min`} after the start of the change`
}

function touchedBy(change: Change): Factor {
  if (change.kind === 'rollout')
    return { code: 'new_replicaset', value: ROLLOUT, text: 'a new pod template was rolled out' }
  const outcome = outcomeOf(change.facts)
  if (change.facts.mergeRequest)
    return { code: 'merge_request', value: MERGE_REQUEST, text: 'it ran for a merge request' }
  return {
    code: outcome.replaceAll(/[ ,]+/g, '_').toLowerCase(),
    value: TOUCHED[outcome],
    text: `its outcome: ${outcome}`,
  }
}

function reasonOfEffect({ symptom, factor }: Effect): Suspect['reasons'][number] {
  return { code: factor.code, text: `${reasonOf(symptom).text}: ${factor.text}` }
}
