/** Names what happened before and beside an incident: earlier alerts, other incidents, and the workloads on its node. */
import { firstSymptom } from '../alert/first-symptom.ts'
import { distinct, ordered } from '../order.ts'
import { subjectName } from '../sender/sender-name.ts'
import { isNodeService, nodeNameOf } from '../service/node.ts'
import { isOnlyTime } from '../suspect/likely-cause.ts'
import {
  countOf,
  formatCount,
  formatDay,
  formatTime,
  formatTimes,
  incidentName,
  joinNames,
  LISTED,
  numberText,
} from '../text.ts'
import { DAY, MINUTE } from '../units.ts'
import { endOf } from './critical.ts'
import type { Postmortem, Sentence } from './document.ts'
import { alertRefs, type GroupedFacts, incidentRef, mergedInto, namesOf } from './groups.ts'

/** How many services that failed because of an incident are named. */
const MAX_FOLLOWED = 50

/** How long before the first symptom an earlier report is mentioned, in ms. */
const EARLIER = 15 * MINUTE

/**
 * Returns what was reported about the same services shortly before the first symptom, but belongs to no alert of this
 * incident: the first report of each name, earliest first.
 */
export function earlierReports(facts: GroupedFacts): readonly GroupedFacts['events'][number][] {
  const until = firstSymptom(facts.alerts)?.startsAt
  if (until === undefined) return []
  const before = foreignReports(facts).filter(({ at }) => at < until && at >= until - EARLIER)
  return [...Map.groupBy(before, ({ name }) => name).values()].flatMap(([one]) => one ?? [])
}

/** Returns what was reported about the same services, but belongs to no alert of this incident. */
function foreignReports({ events, alerts }: GroupedFacts): GroupedFacts['events'] {
  const own = new Set(alerts.map(({ uuid }) => uuid))
  return events.filter((one) => {
    return one.kind === 'firing' && one.source !== 'ci' && one.alertId !== null && !own.has(one.alertId)
  })
}

/** Names the alerts about the same services that began during the incident, but belong to no incident. */
export function besideSentences(facts: GroupedFacts): readonly Sentence[] {
  const from = firstSymptom(facts.alerts)?.startsAt ?? Number.POSITIVE_INFINITY
  const until = endOf(facts) ?? Number.POSITIVE_INFINITY
  const found = foreignReports(facts).filter(({ at, incident }) => !incident && at >= from && at <= until)
  const alerts = [...new Map(found.map((one) => [one.alertId, one])).values()]
  if (alerts.length === 0) return []
  const text = `Also reported about these services, but not part of this incident: ${namesOf(alerts)}.`
  return [{ text, refs: alerts.slice(0, LISTED).map(({ alertId }) => `alert/${alertId}`) }]
}

/** Names what was reported before the first alert of the incident. */
export function earlierSentences(facts: GroupedFacts): readonly Sentence[] {
  const firsts = earlierReports(facts)
  if (firsts.length === 0) return []
  const names = joinNames(firsts.map(({ name, at }) => `${name} (${formatTime(at)})`))
  const [was, are] = firsts.length === 1 ? ['was', 'it is'] : ['were', 'they are']
  const about = facts.services.length === 0 ? subjectName(facts.incident.service) : 'the same services'
  const text = `${names} ${was} reported earlier about ${about}, but ${are} not part of this incident.`
  return [{ text, refs: firsts.slice(0, LISTED).map(({ alertId }) => `alert/${alertId}`) }]
}

/** Names the other incidents that opened during this one, or shortly before. A common cause is not implied. */
export function meanwhileSentences(facts: GroupedFacts): readonly Sentence[] {
  const followed = new Set(onFailedNode(facts).map(({ ref }) => ref))
  const others = (facts.meanwhile ?? []).filter(({ ref }) => !followed.has(ref))
  const isBefore = (one: (typeof others)[number]) => one.createdAt < facts.incident.createdAt
  return [
    ['shortly before', others.filter(isBefore)] as const,
    ['during', others.filter((one) => !isBefore(one))] as const,
  ].flatMap(([when, these]) => {
    const text = `Other incidents that opened ${when} this one: ${joinNames(these.map(incidentName))}.`
    return these.length === 0 ? [] : [{ text, refs: these.slice(0, LISTED).map(({ ref }) => ref) }]
  })
}

/** Returns the incidents that opened while a node had failed, of services with alerts about pods on it. */
function onFailedNode({ incident, services, meanwhile = [] }: GroupedFacts): readonly Followed[] {
  if (!isNodeService(incident.service)) return []
  const known = new Map(services.map((one) => [one.uuid, one]))
  return meanwhile.flatMap(({ service = '', ...one }) => {
    const own = one.createdAt < incident.createdAt ? undefined : known.get(service)
    return own ? [{ ...one, service: own }] : []
  })
}

type Followed = Omit<NonNullable<GroupedFacts['group']>['others'][number], 'startedAt'>

/** Names the services whose incidents probably followed from this one. */
export function followedSentences(facts: GroupedFacts): readonly Sentence[] {
  const { incident, group } = facts
  const isLed = group && group.leader === incidentRef(incident)
  const others: readonly Followed[] = isLed ? group.others : onFailedNode(facts)
  if (others.length === 0) return []
  const names = distinct(others.map(({ service }) => subjectName(service)))
  const listed = names.slice(0, MAX_FOLLOWED).join(', ')
  const rest = names.length > MAX_FOLLOWED ? ` and ${formatCount(names.length - MAX_FOLLOWED)} more` : ''
  const text = `Services with an incident that probably followed from this one: ${formatCount(names.length)} (${listed}${rest}).`
  return [{ text, refs: others.map(({ ref }) => ref) }]
}

/** Counts the incidents that followed from this one, or names the incident that it followed. */
export function groupSentences(facts: GroupedFacts): readonly Sentence[] {
  const { incident, group } = facts
  const [first] = group?.others ?? []
  if (!group || !first) {
    const one = mergedInto(facts) ? undefined : causeElsewhere(facts)
    return one ? [{ text: followedText('This incident', one), refs: [one.ref] }] : ledSentences(facts)
  }
  const { cause, leader, others } = group
  if (leader === incidentRef(incident)) {
    const began = `the first was that of ${subjectName(first.service)}, which began at ${formatTime(first.startedAt)}`
    const count = countOf(others.length, 'other incident')
    return [{ text: `This incident probably led to ${count}; ${began}.`, refs: others.map(({ ref }) => ref) }]
  }
  const led = others.find(({ ref }) => ref === leader)
  const rest = others.filter((one) => one !== led)
  const names = joinNames(['This incident', ...(rest.length === 0 ? [] : [`${countOf(rest.length, 'other')}`])])
  const text = led ? followedText(names, led) : `${names} probably have the same cause: ${cause}.`
  return [{ text, refs: [...(led ? [led.ref] : [incidentRef(incident)]), ...rest.map(({ ref }) => ref)] }]
}

/** Says which incident this one, or it and `others`, followed. */
function followedText(what: string, one: Parameters<typeof incidentName>[0]): string {
  return `${what} probably followed from ${incidentName(one)}.`
}

/** Names the incidents that probably followed from the failure of a node. */
function ledSentences(facts: GroupedFacts): readonly Sentence[] {
  const others = onFailedNode(facts)
  if (others.length === 0) return []
  const names = joinNames(others.map(incidentName))
  const text = `This incident probably led to ${countOf(others.length, 'other incident')}: ${names}.`
  return [{ text, refs: others.map(({ ref }) => ref) }]
}

/** Returns the incident that may have the cause and the fix of this one: the one that it followed, or was merged into. */
export function causeElsewhere(facts: GroupedFacts): NonNullable<GroupedFacts['merged']>[number] | undefined {
  const { incident, group } = facts
  const into = mergedInto(facts)
  // A change that is a likely cause is the cause here.
  const isOwn = facts.suspects.some(({ reasons }) => !isOnlyTime(reasons))
  if (into || !group) return into ?? (isOwn ? undefined : facts.component?.incident)
  if (group.leader === incidentRef(incident)) return undefined
  return group.others.find(({ ref }) => ref === group.leader)
}

/** Names the incident that may have the cause. Once incidents are merged, one document tells of both. */
export function elsewhereSentence(facts: GroupedFacts): Sentence | undefined {
  const one = causeElsewhere(facts)
  if (!one) return undefined
  const what = facts.fixes.length > 0 ? 'cause' : 'cause and the fix'
  const merged = `The postmortem of ${incidentName(one)} may name the ${what}.`
  return { text: mergedInto(facts) ? merged : followedText('This incident', one), refs: [one.ref] }
}

/** Names what ran on the node of the incident. The node's own alerts do not name it. */
export function onNodeSentences({ incident, services: known, onNode }: GroupedFacts): readonly Sentence[] {
  const named = new Set(known.map(subjectName))
  const services = distinct(onNode.map(({ service }) => service))
  // The services of the incident are named already.
  if (services.every((service) => named.has(service))) return []
  const on = nodeNameOf(incident.service)
  const text = `Services with alerts about pods on ${on}: ${joinNames(services)}.`
  return [{ text, refs: onNode.map(({ ref }) => ref) }]
}

/** Names the other services of a node's incident. */
export function onNodeToo({ incident, services, alerts }: GroupedFacts): readonly Sentence[] {
  if (!isNodeService(incident.service) || services.length === 0) return []
  const text = `The incident includes alerts about ${joinNames(distinct(services.map(subjectName)))}.`
  const others = alerts.filter(({ serviceId }) => serviceId !== incident.service.uuid)
  return [{ text, refs: alertRefs(others.length === 0 ? alerts : others) }]
}

const NO_ALERTS = 'The incident has no alerts that could be compared with earlier ones.'

/** Returns how often the same conditions occurred before the incident. */
export function recurrenceOf({ incident, alerts, earlier, ...facts }: GroupedFacts): Postmortem['recurrence'] {
  // Imported records are older than the organization.
  const recordedSince = Math.min(
    facts.recordedSince,
    incident.startedAt,
    ...[...earlier, ...alerts.slice(0, 1)].map(({ startsAt }) => startsAt),
  )
  const isShort = recordedSince > incident.startedAt - 90 * DAY
  const own = earlier.filter(
    ({ startsAt }) => startsAt < incident.startedAt && startsAt >= incident.startedAt - 90 * DAY,
  )
  // The alerts of one incident are one occurrence.
  const inOrder = ordered(own, ({ startsAt, ref }) => [startsAt, ref])
  const before = [...new Map(inOrder.map((one) => [one.incident ?? one.ref, one])).values()]
  const lately = before.filter(({ startsAt }) => startsAt >= incident.startedAt - 30 * DAY)
  const last = before.at(-1)
  const period = isShort ? 'before this incident' : 'in the previous 90 days'
  const months =
    lately.length === before.length
      ? `${formatTimes(before.length)} in the previous 30 days${isShort ? '' : ' and not once in the 60 days before'}`
      : `${seenTimes(lately.length)} in the previous 30 days and ${seenTimes(before.length)} in the previous 90 days`
  const none = `No alert for the same conditions was recorded ${period}.`
  const sentences: Sentence[] = last
    ? [
        { text: `The same conditions occurred ${months}.`, refs: before.map(({ ref }) => ref) },
        {
          text: `Previous occurrence: ${last.name}, ${formatTime(last.startsAt)}${numberText(last.incident)}.`,
          refs: [last.ref],
        },
      ]
    : [{ text: alerts.length === 0 ? NO_ALERTS : none, refs: [incidentRef(incident)] }]
  const short = { text: `The record begins on ${formatDay(recordedSince)}.`, refs: [incidentRef(incident)] }
  const all = isShort && alerts.length > 0 ? [...sentences, short] : sentences
  return { days30: lately.length, days90: before.length, sentences: all }
}

const seenTimes = (count: number) => (count === 0 ? 'not once' : formatTimes(count))
