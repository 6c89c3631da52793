/** Writes the message about several incidents with a common cause. */
import type { LiveIncident } from '../incident/live-incident.ts'
import { formatCount, joinNames, serviceName } from '../text.ts'
import { momentText, othersText, problemText } from './alert-texts.ts'
import { MAX_SAID } from './digest-order.ts'
import { REMINDERS } from './kind.ts'
import { namedUpTo, placedName, shortened } from './names.ts'
import { subjectOf } from './sentences.ts'
import type { MessageContext, MessageItem } from './words.ts'

/** An incident of a group, at the time of sending. Times are Unix times in milliseconds. */
export type GroupMember = Pick<
  LiveIncident,
  'id' | 'title' | 'severity' | 'status' | 'startedAt' | 'acknowledgedBy'
> & {
  readonly number: number
  readonly problem: 'on' | 'off'
  /** Whether a condition fires at the time of sending. In the minute after the last end, the problem is still on. */
  readonly isFiring: boolean
  /** Whether silences cover all that goes on. */
  readonly isSilenced?: boolean
  readonly service: MessageItem['service']
  /** What of it has gone on for longest, and since when; absent if that is its service since its start. */
  readonly first?: { readonly service: MessageItem['service']; readonly since: number }
  /** The services whose conditions go on, if the incident has conditions of several; otherwise absent. */
  readonly burning?: readonly MessageItem['service'][]
}

export type MessageGroup = {
  readonly leader: GroupMember
  /** The name of the cause, such as `postgres`. */
  readonly cause: string
  /** All incidents of the group, the leader included. */
  readonly incidents: readonly GroupMember[]
}

/**
 * Returns what a message is about. A reminder of incidents with the same cause is about the one that leads them, and names
 * the others.
 */
export function spokenOf(items: readonly MessageItem[]): readonly MessageItem[] {
  const [first] = items
  const group = first && REMINDERS.has(first.kind) ? first.group : null
  if (!group || items.some((one) => one.group !== group || one.kind !== first?.kind)) return items
  const leading = items.find(({ incident }) => incident.id === group.leader.id) ?? first
  const others = items.filter(({ incident }) => incident.id !== leading?.incident.id)
  return leading ? [{ ...leading, alike: [...new Set(others.map(subjectOf))] }] : []
}

/** Returns the lines of the message. `items`: the incidents that are new to the channel. */
export function groupLinesOf(group: MessageGroup, items: readonly MessageItem[], context: MessageContext) {
  const firstOf = (one: GroupMember) => one.first ?? { service: one.service, since: one.startedAt }
  const earliest = group.incidents.reduce((a, b) => (firstOf(b).since < firstOf(a).since ? b : a), group.leader)
  const first = firstOf(earliest)
  return {
    title: groupTitleOf(group),
    body: [
      ...newTexts(items),
      knownText(burningOf(group), items),
      `First: ${nameOf(first)} since ${momentText(first.since, context)}${nowText(earliest)}.`,
      context.cause,
      onItText(group),
      `Incidents ${numbersOf(burningOf(group))}.`,
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
  }
}

/** Returns `5 services are critical, probably because of postgres.` A single service is named. */
export function groupTitleOf(group: MessageGroup): string {
  const [first, ...others] = servicesOf(burningOf(group))
  const are =
    first && others.length === 0 ? `${placedName(first)} is` : `${formatCount(others.length + 1)} services are`
  const isCause = others.length === 0 && first?.name === group.cause
  return `${are} critical${isCause ? '' : `, probably because of ${shortened(group.cause)}`}.`
}

/** Returns the services of incidents whose conditions go on, each once. */
function servicesOf(members: readonly GroupMember[]): readonly MessageItem['service'][] {
  const all = members.flatMap(({ service, burning = [service] }) => burning)
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

/** Returns `Still critical, probably because of postgres: cart and search.`; '' if nothing of the group is critical. */
export function burningText(group: MessageGroup): string {
  const names = new Set(servicesOf(burningOf(group)).map((service) => placedName(service)))
  const cause = shortened(group.cause)
  const why = names.has(cause) ? '' : `, probably because of ${cause}`
  const named = [...names].map((name) => (name === cause ? `${name} (the probable cause)` : name))
  return names.size === 0 ? '' : `Still critical${why}: ${namedUpTo(named, MAX_SAID)}.`
}

function burningOf({ incidents }: MessageGroup): readonly GroupMember[] {
  return incidents.filter(({ isFiring }) => isFiring)
}

function nameOf({ service }: Pick<GroupMember, 'service'>): string {
  return placedName(service, serviceName(service))
}

function nowText({ isFiring, isSilenced = false }: GroupMember): string {
  return isSilenced ? ', under a silence now' : isFiring ? '' : ', not critical now'
}

function newTexts(items: readonly MessageItem[]): string[] {
  const shown = items
    .slice(0, MAX_SAID)
    .flatMap((item) => [`${subjectOf(item)}: ${problemText(item)}.`, othersText(item)])
  const rest = items.length - MAX_SAID
  return rest > 0 ? [...shown, `${formatCount(rest)} more.`] : shown
}

/** Names the services that an earlier message has named. */
function knownText(burning: readonly GroupMember[], items: readonly MessageItem[]): string {
  const fresh = new Set(items.map(({ incident }) => incident.id))
  const names = new Set(servicesOf(burning.filter(({ id }) => !fresh.has(id))).map((service) => placedName(service)))
  return names.size === 0 ? '' : `Also critical: ${namedUpTo([...names], MAX_SAID)}.`
}

function onItText(group: MessageGroup): string {
  const burning = burningOf(group)
  const owned = burning.filter(({ acknowledgedBy }) => acknowledgedBy !== null)
  const people = [...new Set(owned.flatMap(({ acknowledgedBy }) => acknowledgedBy ?? []))]
  if (people.length === 0) return 'Nobody is on it.'
  const what = owned.length === burning.length ? 'it' : `${owned.length} of ${burning.length} incidents`
  return `${joinNames(people)} ${people.length === 1 ? 'is' : 'are'} on ${what}.`
}

function numbersOf(incidents: readonly GroupMember[]): string {
  return joinNames(
    incidents
      .map(({ number }) => number)
      .toSorted((a, b) => a - b)
      .map((number) => `#${number}`),
  )
}
