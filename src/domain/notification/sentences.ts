/** Writes the sentences of a message about one incident. */
import { firingText } from '../incident/incident.ts'
import { criticalMsOf, phaseOf } from '../incident/problem.ts'
import { isSender } from '../sender/sender-name.ts'
import { STATES } from '../severity.ts'
import { formatDuration, formatMoment } from '../shown-time.ts'
import { formatCount, joinNames } from '../text.ts'
import { DAY, HOUR, MINUTE, SECOND } from '../units.ts'
import { shortened, shownName } from './names.ts'
import type { MessageAlert, MessageContext, MessageItem } from './words.ts'

/**
 * How an alert is delivered. `interval`: the learned delivery interval in milliseconds; null if unknown. `isRepeated`:
 * whether its sender repeats what fires.
 */
export type Delivery = {
  readonly interval: number | null
  readonly reportsEnds: boolean
  readonly isRepeated: boolean
}

/** After this time without a repeat, messages say since when nothing was received. */
const UNHEARD_FOR = 15 * MINUTE
/** Kubernetes repeats most conditions within this time. */
const UNREPORTED_FOR = 5 * MINUTE
const MISSED = 3
const NAMED = 3
const MAX_SUMMARY = 300

/** Returns what the message is about: the service, the sender, or the alert that names no service. */
export function subjectOf({ service, incident }: Pick<MessageItem, 'service' | 'incident'>): string {
  return shortened(incident.problem.about ?? shownName(service.name))
}

/** Returns the first line: the problem and since when. */
export function titleOf(item: MessageItem, context: MessageContext): string {
  const { kind, actor, severityBefore, incident, service, names } = item
  const name = subjectOf(item)
  const lasting = lastingText(item, context)
  const state = `${name} ${STATES[incident.severity].is}`
  switch (kind) {
    case 'test':
      return 'This is a test message from incmon. The channel works.'
    case 'opened':
    case 'group':
    case 'sender-silent':
      return `${lasting}.`
    case 'worse':
      return `${name} got worse: ${namedText(names)}.`
    case 'severity':
      return `${state} now${severityBefore ? ` (previously ${severityBefore})` : ''}: ${lasting}.`
    case 'acknowledged':
      return `${actor ?? incident.acknowledgedBy ?? 'A user'} is working on it: ${lasting}.`
    case 'recovered':
      return `${name} has recovered: it ${pastText(item, context)}.`
    case 'again':
      return item.wasWrong ? `The all-clear was wrong: ${lasting}.` : `${name} is critical again: ${lasting}.`
    case 'flapping':
      return flappingText(item, name, context)
    case 'reopened':
      return `${actor ?? 'A user'} reopened the incident: ${lasting}.`
    case 'resolved':
      return resolvedText(item, name, context)
    case 'still-firing':
      return `${name}: ${firingText(incident.firingAlerts)}, even though the incident was resolved ${whenText(incident.resolvedAt ?? context.now, context)}.`
    case 'reminder':
      return `Nobody is working on this yet: ${lasting}.`
    case 'escalation':
      return `Nobody has acknowledged this incident: ${lasting}.`
  }
  return isSender(service.name) ? name : state
}

/** Formats a time: `at 14:02 UTC`. A channel with its own time zone needs no name of the zone. */
export function whenText(at: number, { now, timeZone }: MessageContext): string {
  const clock = formatMoment(at, { now, zone: timeZone })
  return `${/^\d\d:/.test(clock) ? 'at' : 'on'} ${clock}${timeZone === 'UTC' ? ' UTC' : ''}`
}

/** Returns `cart has been critical since 14:02 UTC (4 min)`, or what was the case if the problem is over. */
function lastingText(item: MessageItem, context: MessageContext): string {
  const { incident, service } = item
  const { now } = context
  const { problem } = incident
  const name = subjectOf(item)
  const since = problem.since ?? incident.startedAt
  const sinceText = whenText(since, context).replace(/^(at|on) /, 'since ')
  if (isSender(service.name)) return `${name} has sent nothing ${sinceText} (${ageText(now - since)})`
  if (phaseOf(problem, now) !== 'on') return `${name} ${pastText(item, context)}`
  const whole = criticalMsOf(problem, now)
  const sum = problem.criticalMs === 0 ? '' : `, ${formatDuration(whole)} in all`
  return `${name} ${STATES[incident.severity].hasBeen} ${sinceText} (${ageText(now - since)}${sum})`
}

function ageText(age: number): string {
  return age < SECOND ? 'just now' : formatDuration(age)
}

/**
 * Returns `was critical for 4 min, until 14:06 UTC`. The duration is the time during which the problem was on. If the
 * end was inferred, the text says when the problem was last reported.
 */
function pastText({ incident }: MessageItem, context: MessageContext): string {
  const { problem, severity } = incident
  const { endedAt, isGuess } = problem
  const ended = endedAt === null ? '' : whenText(endedAt, context)
  const until = ended === '' ? '' : isGuess ? `, last reported ${ended}` : `, until ${ended.replace(/^(at|on) /, '')}`
  return `${STATES[severity].was}${lengthText(criticalMsOf(problem, context.now))}${until}`
}

/** Returns ` for 4 min`; '' for a problem that was reported only once. */
function lengthText(ms: number): string {
  return ms < SECOND ? '' : ` for ${formatDuration(ms)}`
}

function namedText(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).map((name) => shortened(name))
  const rest = names.length - shown.length
  const all = rest > 0 ? [...shown, `${formatCount(rest)} more`] : shown
  return `${joinNames(all)} ${names.length === 1 ? 'is' : 'are'} critical, too`
}

function flappingText({ incident, isDigest }: MessageItem, name: string, context: MessageContext): string {
  const { problem } = incident
  const times = problem.returns.filter((at) => context.now - at < HOUR).length
  const often = `it came back ${times === 1 ? 'once' : `${times} times`} within the last hour`
  if (!isDigest) return `${name} is flapping: ${often}.`
  const state = phaseOf(problem, context.now) === 'on' ? 'It is critical now' : 'It is well now'
  return `${name} is still flapping: ${often}. ${state}.`
}

function resolvedText(
  { actor, incident, service, mergedInto }: MessageItem,
  name: string,
  { now }: MessageContext,
): string {
  const ms = criticalMsOf(incident.problem, incident.resolvedAt ?? now)
  if (isSender(service.name)) return `${name} is sending again after ${formatDuration(ms)}.`
  if (mergedInto !== null) {
    const merged = actor === null ? 'the incident was merged' : `${actor} merged the incident`
    return `${name}: ${merged} into “${shortened(mergedInto)}”.`
  }
  const by = actor === null ? 'the incident is resolved' : `${actor} resolved the incident`
  const firing = incident.firingAlerts > 0 && actor !== null ? `, but ${firingText(incident.firingAlerts)}` : ''
  return `${name}: ${by}${firing}. It ${STATES[incident.severity].was}${lengthText(ms)}.`
}

/** Returns the second line: what fires, the likely cause, who is on it, and what happens next. */
export function bodyOf(item: MessageItem, context: MessageContext): string {
  const { kind, incident, service } = item
  if (kind === 'test') return 'Notifications about your services will arrive here.'
  const places = [
    service.namespace === '' ? '' : `namespace ${shortened(service.namespace)}`,
    service.cluster === '' ? '' : `cluster ${shortened(service.cluster)}`,
  ].filter((place) => place !== '')
  const place = [`Incident #${incident.number}`, ...places].join(', ')
  return [...sentencesOf(item, context), `${place}.`].filter((sentence) => sentence !== '').join(' ')
}

/** The most important words come first, because a lock screen truncates the text. */
function sentencesOf(item: MessageItem, context: MessageContext): string[] {
  const { kind, incident, service, alerts } = item
  const isOver = kind === 'resolved' || kind === 'recovered'
  if (isSender(service.name))
    return isOver ? [] : ['Problems with your services may go unnoticed until the sender reports again.']
  const count = incident.alertCount > 1 ? `${formatCount(incident.alertCount)} alerts.` : ''
  const burns = phaseOf(incident.problem, context.now) === 'on' && !isOver
  return [
    `${problemText(item)}.`,
    burns && kind !== 'acknowledged' ? context.cause : '',
    burns ? unheardText(alerts, context) : '',
    burns || kind === 'recovered' ? onItText(item) : '',
    isOver ? '' : count,
    incident.problem.about === null || isOver ? '' : NAMELESS,
    kind === 'opened' && incident.previous !== null ? 'The service had another incident recently.' : '',
    kind === 'recovered' ? nextText(item, context) : '',
    kind === 'resolved' && incident.hasPostmortem ? 'The postmortem is ready.' : '',
  ]
}

const NAMELESS = 'The alert names no service: add a label such as service or namespace and deployment, or an alias.'

/** Returns the alerts with their own summaries, or the title of the incident if no alert is known. */
export function problemText(item: MessageItem): string {
  const shown = namedAlerts(item)
  return shown.length === 0 ? titleText(item.incident.title, item.service.name) : shown.map(alertText).join('; ')
}

/** Returns the alerts that a message names, at most three and one of each name. */
export function namedAlerts({ kind, names, incident, alerts }: MessageItem): readonly MessageAlert[] {
  const firing = alerts.filter(({ endsAt }) => endsAt === null)
  const own = firing.length > 0 ? firing : alerts
  const about = kind === 'worse' ? own.filter(({ condition }) => names.includes(condition)) : own
  const severe = about.filter(({ condition }) => incident.problem.had.includes(condition))
  const byName = new Map((severe.length > 0 ? severe : about).toReversed().map((alert) => [alert.name, alert]))
  return [...byName.values()].toReversed().slice(0, NAMED)
}

function alertText({ name, summary }: MessageAlert): string {
  const text = shortened(summary.replace(/[.\s]+$/, ''), MAX_SUMMARY)
  return text === '' || text === name ? shortened(name) : `${shortened(name)}: ${text}`
}

/** Returns the title without the service name, which is already on the first line. */
function titleText(title: string, service: string): string {
  const rest = title.startsWith(`${service}: `) ? title.slice(service.length + 2) : title
  return shortened(rest.replace(/[.\s]+$/, ''))
}

/** Says since when the alerts were not repeated, if that is longer than their sender's repeats take. */
function unheardText(alerts: readonly MessageAlert[], context: MessageContext): string {
  const firing = alerts.filter(({ endsAt }) => endsAt === null)
  const last = firing.reduce<MessageAlert | null>((found, one) => {
    return found && found.receivedAt >= one.receivedAt ? found : one
  }, null)
  if (last?.source === 'cluster' && context.now - last.receivedAt >= UNREPORTED_FOR)
    return `Last reported ${whenText(last.receivedAt, context)}.`
  if (!last?.delivery.isRepeated) return ''
  const { interval, reportsEnds } = last.delivery
  const expectedWithin = interval === null ? UNHEARD_FOR : Math.max(MISSED * interval, reportsEnds ? HOUR : UNHEARD_FOR)
  if (context.now - last.receivedAt < expectedWithin) return ''
  const since = whenText(last.receivedAt, context).replace(/^(at|on) /, '')
  return `${reportsEnds && interval !== null ? 'Not repeated' : 'Not heard'} since ${since}.`
}

function onItText({ kind, incident }: MessageItem): string {
  const { acknowledgedBy, acknowledgedAt, status } = incident
  if (status === 'resolved' || kind === 'acknowledged') return ''
  if (acknowledgedAt !== null) return `${acknowledgedBy ?? 'A user'} is on it.`
  // The first line of other messages says so.
  return ['worse', 'again', 'flapping', 'severity', 'reopened'].includes(kind) ? 'Nobody is on it.' : ''
}

/** Says when a recovered incident is resolved by itself. */
function nextText({ incident }: MessageItem, context: MessageContext): string {
  const { knownAt } = incident.problem
  const { resolveAfter } = context
  if (incident.origin === 'manual' || knownAt === null) return ''
  if (resolveAfter === null) return 'It stays open until a user resolves it.'
  const at = knownAt + (incident.touchedAt === null ? resolveAfter : Math.max(resolveAfter, DAY))
  return `It resolves by itself ${whenText(at, context)} unless the problem comes back.`
}
