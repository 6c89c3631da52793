/** Writes what a message says about a problem that is over or comes back: who ended it, how often, and what else goes on. */
import { differenceOf } from '../alert/signal.ts'
import { firingText } from '../incident/incident.ts'
import { breaksText, severeOf, severityNow, worstSeverity } from '../incident/lasted.ts'
import { phaseOf, reportedAtOf } from '../incident/problem.ts'
import { STATES } from '../severity.ts'
import { formatLasted } from '../shown-time.ts'
import { declaredOf, joinNames, partOf } from '../text.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../units.ts'
import { hadNames, namedAlerts, whenText } from './alert-texts.ts'
import { REMINDERS } from './kind.ts'
import { namedUpTo, shortened } from './names.ts'
import type { MessageAlert, MessageContext, MessageItem } from './words.ts'

const NAMED = 3
/** How many alerts that still fire, or other services, a message names. */
const NAMED_BRIEFLY = 7

/** Why Grafana ends an alert although nothing has recovered, by its `grafana_state_reason`. */
const GRAFANA_ENDS: ReadonlyMap<string | undefined, string> = new Map([
  ['Paused', 'its rule was paused'],
  ['RuleDeleted', 'its rule was deleted'],
  ['Updated', 'its rule was changed'],
  ['MissingSeries', 'its query has no data of it any more'],
  ['NoData', 'its query has no data'],
  ['Error', 'its rule cannot be evaluated'],
])

/** What follows on when a problem was last reported. */
export const NO_END = '; no end was reported'

/** Returns who ended the alert with which the problem ended, and why; null if it has recovered. */
export function endedBy({ alerts, incident: { problem } }: MessageItem) {
  const last = alerts.filter(({ endsAt }) => endsAt !== null && endsAt === problem.endedAt)
  const byHand = last.filter(({ resolution }) => resolution === 'manual')
  const people = [...new Set(byHand.flatMap(({ resolvedBy }) => resolvedBy ?? []))]
  if (byHand.length > 0) return { who: `${people.length === 0 ? 'A user' : joinNames(people)} resolved`, because: '' }
  const [why] = last.flatMap(({ annotations }) => GRAFANA_ENDS.get(annotations.grafana_state_reason) ?? [])
  return why === undefined ? null : { who: 'Grafana ended', because: `, because ${why}` }
}

/** Returns whether nobody reported the end of the problem. */
export function isInferred(item: MessageItem): boolean {
  return item.incident.problem.isGuess && endedBy(item) === null
}

/**
 * Returns until when the problem of a resolved incident is known to have gone on if nothing that fires was reported since:
 * Kubernetes repeats what goes on, but seldom reports an end. Null if it goes on.
 */
export function lastKnownAt({ alerts, incident: { problem } }: MessageItem, { now }: MessageContext): number | null {
  const firing = alerts.filter(({ endsAt }) => endsAt === null)
  const isSilent = ({ source, receivedAt }: MessageAlert) => source === 'cluster' && receivedAt <= now - MINUTE
  if (firing.length === 0 || !firing.every(isSilent)) return null
  return Math.max(reportedAtOf(problem) ?? 0, ...firing.map(({ receivedAt, lastSeenAt }) => lastSeenAt ?? receivedAt))
}

/** Returns `cart has recovered`, who ended its alert, or what of it is over although another incident goes on. */
export function recoveryText(item: MessageItem, name: string): string {
  const by = endedBy(item)
  const had = hadNames(item)
  const but = goesOnText(item)
  const [is, over] = [had.length === 1 ? 'is' : 'are', isInferred(item) ? 'no longer reported' : 'over']
  const rated = worstSeverity(item.incident) === 'critical' ? ' as critical' : ''
  const well = isInferred(item) ? `is no longer reported${rated}` : 'has recovered'
  const what = but === '' ? `${name} ${well}` : `${namedUpTo(had, NAMED)} of ${name} ${is} ${over}`
  return `${by ? `${by.who} the alert of ${name}${by.because}` : what}${but}`
}

/** Adds the services whose incidents were merged into this one to its subject. The lengths are those of all together. */
export function withMerged({ alerts, incident }: MessageItem, subject: string): string {
  const isMerged = incident.problem.merged.length > 0
  const ofAlerts = alerts.flatMap(({ name, condition }) => (isMerged && partOf(condition, name)) || [])
  const others = [...ofAlerts, ...incident.problem.hadDeclared.flatMap((name) => declaredOf(name) ?? [])]
  return others.length === 0 ? subject : `${subject} (with ${namedUpTo([...new Set(others)], NAMED)})`
}

/** Returns `, but “No payments” goes on` if another incident about the service goes on; otherwise ''. */
export function goesOnText({ goesOn = [] }: Pick<MessageItem, 'goesOn'>): string {
  const titles = goesOn.map((title) => `“${shortened(title)}”`)
  return titles.length === 0 ? '' : `, but ${namedUpTo(titles, NAMED)} ${titles.length === 1 ? 'goes' : 'go'} on`
}

/** Says what still fired on a node when its recovery was found. */
function onNodeText({ names }: MessageItem): string {
  return names.length === 0 ? '' : `Still firing on its pods then: ${namedUpTo(names, NAMED)}.`
}

/** Names the alerts that still fire after a recovery and that the message does not name otherwise. */
function othersFiringText(item: MessageItem): string {
  const firing = item.alerts.filter(({ endsAt }) => endsAt === null)
  const named = namedAlerts(item).filter(({ endsAt }) => endsAt === null)
  if (item.incident.firingAlerts <= named.length) return ''
  const texts = firing.map(({ condition, severity }) => `${condition} (${severity})`)
  if (named.length > 0 || texts.length === 0) return `${firingText(item.incident.firingAlerts)}.`
  return `Still firing: ${namedUpTo([...new Set(texts)], NAMED_BRIEFLY)}.`
}

/** Says what still fires after a recovery: on the node, and of the incident. */
export function restOf(item: MessageItem): readonly string[] {
  return [onNodeText(item), othersFiringText(item)]
}

/** Says how often a problem came back, and whether it is on now. */
export function flappingText(item: MessageItem, name: string, context: MessageContext): string {
  const { incident, isDigest } = item
  const { problem } = incident
  const but = goesOnText(item)
  const times = problem.returns.filter((at) => context.now - at < HOUR).length
  const often = `it came back ${times === 1 ? 'once' : `${times} times`} within the last hour`
  if (!isDigest) return `${name} is flapping: ${often}.`
  const well = but === '' ? 'It is well now' : `That is over now${but}`
  const state = phaseOf(problem, context.now) === 'on' ? `It ${STATES[severityNow(incident)].is} now` : well
  return `${name} is still flapping: ${often}. ${state}.`
}

/** Returns what a reminder adds: `Not acknowledged either: cart and web.`, and who declared the incident. */
export function remindedText({ kind, alike = [], incident }: MessageItem): string {
  if (!REMINDERS.has(kind)) return ''
  const others = alike.length === 0 ? '' : `Not acknowledged either: ${namedUpTo(alike, NAMED_BRIEFLY)}. `
  return `${others}${incident.origin === 'manual' ? `${incident.declaredBy ?? 'A user'} declared it.` : ''}`.trimEnd()
}

/** Returns `Shard (shard 2) is firing, too`; without `too` if what fired before has ended. */
export function worseText(item: MessageItem): string {
  const { names, alerts, incident } = item
  const others = new Set(item.others)
  const isKnown = ({ condition, id, endsAt }: MessageAlert) =>
    endsAt === null && names.includes(condition) && !others.has(id)
  const isMore = incident.problem.firing.some((name) => !names.includes(name))
  const too = isMore || (others.size > 0 && alerts.some(isKnown)) ? ', too' : ''
  return `${firesText(newNames(item), NAMED)}${too}`
}

/** Returns what is new of a problem that is back although a user had left the rest of it on; '' if all of it is back. */
export function againText(item: MessageItem): string {
  const others = new Set(item.others)
  const fresh = item.alerts.filter(({ id }) => others.has(id)).map(({ condition }) => condition)
  return fresh.length === 0 ? '' : worseText({ ...item, names: [...new Set(fresh)] })
}

/** Returns `Disk and Shard (shard 2) are firing`. */
export function firesText(names: readonly string[], most: number): string {
  return `${namedUpTo(names, most)} ${names.length === 1 ? 'is' : 'are'} firing`
}

/** Names what is new: conditions, and in what further alerts of known conditions differ from those that fire or have ended. */
export function newNames({ names, others, alerts }: Pick<MessageItem, 'names' | 'others' | 'alerts'>): string[] {
  const news = new Set(others)
  const named = names.flatMap((name) => {
    const alike = alerts.filter(({ condition }) => condition === name)
    const known = alike.filter(({ id }) => !news.has(id))
    const firing = known.filter(({ endsAt }) => endsAt === null)
    const compared = (firing.length > 0 ? firing : known).map(({ labels }) => labels)
    const further = alike.filter(({ id, endsAt }) => news.has(id) && endsAt === null)
    const texts = further.map(({ labels }) => shortened(differenceOf(labels, compared)))
    return texts.length === 0 ? [name] : texts.map((text) => (text === '' ? name : `${name} (${text})`))
  })
  return [...new Set(named)]
}

/** Says when a recovered incident is resolved by itself. */
export function nextText({ incident }: MessageItem, context: MessageContext): string {
  const { knownAt } = incident.problem
  const { resolveAfter, now } = context
  if (incident.origin === 'manual' || incident.status === 'resolved' || knownAt === null) return ''
  if (resolveAfter === null) return 'It stays open until a user resolves it.'
  const at = knownAt + (incident.touchedAt === null ? resolveAfter : Math.max(resolveAfter, DAY))
  // A message that was late does not promise what should have happened by now.
  return at <= now ? '' : `It resolves by itself ${whenText(at, context)} unless the problem comes back.`
}

/** Returns ` for 4 min`; '' for a problem that was reported only once. */
export function lengthText(ms: number, format = formatLasted, least = ''): string {
  return ms < SECOND ? '' : ` for ${least}${format(ms)}`
}

/** Returns `was critical for 4 min in all`, and for how long with which severity if it did not have it all the time. */
export function severeText({ incident }: MessageItem, until: number, least: string, when: string): string {
  const { problem, origin } = incident
  const { severity, ms, onMs: whole } = severeOf(incident, until)
  const { was } = STATES[severity]
  const isOfAlerts = origin === 'automatic' && problem.hadDeclared.length === 0
  if (isOfAlerts ? whole - ms < SECOND : severity === severityNow(incident))
    return `${was}${lengthText(ms, formatLasted, least)}${ms < SECOND || breaksText(incident) === '' ? '' : ' in all'}${when}`
  if (isOfAlerts)
    return `${was}${lengthText(whole, formatLasted, least)} by its alerts${when}; the severity of the incident was ${severity}${lengthText(ms)} of that time`
  return `${was}${lengthText(ms)}, and went on${lengthText(whole, formatLasted, least)} in all${when}`
}
