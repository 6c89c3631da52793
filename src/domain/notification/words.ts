/** Writes the text of messages: two lines that make sense to anyone on a lock screen. */
import { firingText } from '../incident/incident.ts'
import { rank, SEVERITIES, type Severity, STATES } from '../severity.ts'
import { formatDuration, formatMoment } from '../shown-time.ts'
import type { LiveIncident, LiveService } from '../state/live.ts'
import type { Suspect } from '../suspect/suspect.ts'
import { countOf, formatCount, joinNames } from '../text.ts'
import { MINUTE } from '../units.ts'
import type { MessageKind } from './kind.ts'
import { isSender, shortened, shownName } from './names.ts'

/** A notification, with the state of its incident at the time of sending. Times are Unix times in milliseconds. */
export type MessageItem = {
  readonly kind: MessageKind
  /** When the incident changed. */
  readonly at: number
  readonly actor: string | null
  /** The severity before it was raised. */
  readonly severityBefore: Severity | null
  readonly incident: Pick<
    LiveIncident,
    'id' | 'title' | 'severity' | 'status' | 'startedAt' | 'resolvedAt' | 'alertCount'
  > & {
    /** The incident number that users refer to. Numbers increase within an organization. */
    readonly number: number
    /** How many of the incident's alerts are still firing. */
    readonly firingAlerts: number
    readonly hasPostmortem: boolean
  }
  readonly service: Pick<LiveService, 'name' | 'namespace' | 'cluster'>
}

export type MessageContext = {
  readonly now: number
  readonly timeZone: string
  /** A sentence such as `Likely cause: deploy shop/checkout#4711, started 3 min earlier.`; '' if unknown. */
  readonly cause: string
  /** The most probable causes, in machine-readable form. */
  readonly suspects: readonly Pick<Suspect, 'kind' | 'ref' | 'serviceId' | 'score'>[]
  /** The URL of the incident page, or of the incident list; null if no public URL is configured. */
  readonly url: string | null
  /** The URL of the page with the **Acknowledge** button; null if there is nothing to acknowledge. */
  readonly acknowledgeUrl: string | null
}

export type Tone = Severity | 'acknowledged' | 'resolved' | 'neutral'

/** The text of a message, before it is formatted for a channel. */
export type MessageText = {
  readonly tone: Tone
  /** A symbol for the tone. The text conveys the same information. */
  readonly symbol: string
  /** The subject is the same for all messages about an incident, so that mail programs group the messages. */
  readonly subject: string
  /** One line: the problem and when it started. */
  readonly title: string
  /** One line: the problem, its likely cause and the number of alerts; '' if there is nothing to add. */
  readonly body: string
  /** Links to acknowledge and view the incident, most urgent first. Empty if no public URL is configured. */
  readonly links: readonly { readonly text: string; readonly url: string }[]
}

const SYMBOLS: Readonly<Record<Tone, string>> = {
  critical: '🔴',
  error: '🟠',
  warning: '🟡',
  info: '🔵',
  acknowledged: '🔵',
  resolved: '🟢',
  neutral: '⚪',
}
const MAX_SUBJECT = 150

/** Returns the text for a single notification. */
export function messageTextOf(item: MessageItem, context: MessageContext): MessageText {
  const { incident, kind } = item
  const tone = toneOf(item)
  const subject =
    kind === 'test' ? 'Test message' : `[incmon #${incident.number}] ${shortened(incident.title, MAX_SUBJECT)}`
  const lines = { title: titleOf(item, context), body: bodyOf(item, context) }
  const isOver = kind === 'resolved' && incident.hasPostmortem
  const open = kind === 'test' ? 'Open incmon' : isOver ? 'Read the postmortem' : `Open incident #${incident.number}`
  return { tone, symbol: SYMBOLS[tone], subject, ...lines, links: linksOf(context, open, isOver ? '/postmortem' : '') }
}

/** A user's action is never urgent, even while alerts are firing. */
function toneOf({ kind, incident }: MessageItem): Tone {
  if (kind === 'test') return 'neutral'
  if (kind === 'acknowledged') return 'acknowledged'
  const isOver = kind === 'resolved' || kind === 'monitoring'
  if (isOver && incident.firingAlerts === 0) return 'resolved'
  return kind === 'resolved' && rank(incident.severity) > rank('warning') ? 'warning' : incident.severity
}

function linksOf({ url, acknowledgeUrl }: MessageContext, open: string, path = ''): MessageText['links'] {
  return [
    ...(acknowledgeUrl === null ? [] : [{ text: 'Acknowledge', url: acknowledgeUrl }]),
    ...(url === null ? [] : [{ text: open, url: `${url}${path}` }]),
  ]
}

/**
 * Returns the text for several notifications. If all notifications are about one incident, the newest notification
 * determines the text.
 */
export function digestTextOf(items: readonly MessageItem[], context: MessageContext): MessageText {
  const last = items.at(-1)
  if (!last) throw new TypeError('a message without notifications')
  const incidents = new Map(items.map((item) => [item.incident.id, item]))
  return incidents.size === 1 ? messageTextOf(last, context) : digestOf([...incidents.values()], context)
}

/** Returns the text about several incidents. `items`: the newest notification of each incident. */
function digestOf(items: readonly MessageItem[], context: MessageContext): MessageText {
  const open = items.filter(({ incident }) => incident.status !== 'resolved')
  const resolved = items.length - open.length
  const worst = [...open].sort((a, b) => rank(b.incident.severity) - rank(a.incident.severity))
  const tone = worst[0]?.incident.severity ?? 'resolved'
  const counts = SEVERITIES.flatMap((severity) => {
    const count = open.filter(({ incident }) => incident.severity === severity).length
    return count === 0 ? [] : [`${formatCount(count)} ${severity}`]
  })
  const title =
    open.length === 0
      ? `${countOf(resolved, 'incident')} ended: ${namesOf(items)}.`
      : `${countOf(open.length, 'incident')} (${counts.join(', ')}): ${namesOf(worst)}.`
  const [first] = worst
  const body = [
    first ? `Worst: ${shortened(first.incident.title)}.` : '',
    open.length > 0 && resolved > 0 ? `${countOf(resolved, 'other incident')} ended meanwhile.` : '',
  ]
    .filter((part) => part !== '')
    .join(' ')
  return { tone, symbol: SYMBOLS[tone], subject: title, title, body, links: linksOf(context, 'View all incidents') }
}

function namesOf(items: readonly MessageItem[]): string {
  const names = [...new Set(items.map(({ service }) => shownName(service.name)))]
  const rest = names.length - 3
  return rest > 1 ? `${names.slice(0, 3).join(', ')} and ${rest} other services` : joinNames(names)
}

function titleOf(item: MessageItem, context: MessageContext): string {
  const { kind, actor, severityBefore, incident, service } = item
  const { now, timeZone } = context
  const name = shownName(service.name)
  const clock = `${formatMoment(incident.startedAt, { now, zone: timeZone })}${timeZone === 'UTC' ? ' UTC' : ''}`
  const age = now - incident.startedAt
  const isNew = age < MINUTE
  const since = `since ${clock} (${isNew ? 'just now' : formatDuration(age)})`
  const began = `The problem began ${/^\d\d:/.test(clock) ? 'at' : 'on'} ${clock} (${isNew ? 'just now' : `${formatDuration(age)} ago`}).`
  const lasting = isSender(service.name)
    ? `${name} has sent nothing ${since}`
    : `${name} ${STATES[incident.severity].hasBeen} ${since}`
  const state = `${name} ${STATES[incident.severity].is}`
  switch (kind) {
    case 'test':
      return 'This is a test message from incmon. The channel works.'
    case 'opened':
    case 'sender-silent':
      return `${lasting}.`
    case 'severity':
      return `${state} now${severityBefore ? ` (previously ${severityBefore})` : ''}. ${began}`
    case 'acknowledged':
      return `${actor ?? 'Somebody'} is working on it: ${lasting}.`
    case 'monitoring':
      return `${name} has recovered and is being monitored. ${began}`
    case 'reopened':
      return `${state} again. ${began}`
    case 'resolved':
      return endText(item, name, now)
    case 'still-firing':
      return `${name}: ${firingText(incident.firingAlerts)}, even though the incident was resolved. ${began}`
    case 'reminder':
      return `Nobody is working on this yet: ${lasting}.`
    case 'escalation':
      return `Nobody has acknowledged this incident: ${lasting}.`
  }
}

function endText({ actor, incident, service }: MessageItem, name: string, now: number): string {
  const span = formatDuration((incident.resolvedAt ?? now) - incident.startedAt)
  return isSender(service.name)
    ? `${name} is sending again after ${span}.`
    : incident.firingAlerts > 0
      ? `${name}: ${actor ?? 'somebody'} resolved the incident after ${span}, but ${firingText(incident.firingAlerts)}.`
      : `${name}: the incident was resolved after ${span}.`
}

function bodyOf({ kind, incident, service }: MessageItem, { cause }: MessageContext): string {
  if (kind === 'test') return 'Notifications about your services will arrive here.'
  const namespace = service.namespace === '' ? '' : `, namespace ${shortened(service.namespace)}`
  const sentences = [...sentencesOf(kind, incident, service.name, cause), `Incident #${incident.number}${namespace}.`]
  return sentences.filter((sentence) => sentence !== '').join(' ')
}

/** The most important words come first, because a lock screen truncates the text. */
function sentencesOf(
  kind: MessageKind,
  { title, alertCount, hasPostmortem }: MessageItem['incident'],
  service: string,
  cause: string,
): string[] {
  const isOver = kind === 'resolved'
  if (isSender(service))
    return isOver ? [] : ['Problems with your services may go unnoticed until the sender reports again.']
  const problem = `${problemOf(title, service)}.`
  if (kind === 'monitoring')
    return [problem, 'If the service stays healthy, the incident will be resolved automatically.']
  const alerts = alertCount > 1 ? `${formatCount(alertCount)} alerts.` : ''
  return [
    problem,
    kind === 'acknowledged' ? '' : cause,
    alerts,
    isOver && hasPostmortem ? 'The postmortem is ready.' : '',
  ]
}

/** Returns the title without the service name, which is already on the first line. */
function problemOf(title: string, service: string): string {
  const rest = title.startsWith(`${service}: `) ? title.slice(service.length + 2) : title
  return shortened(rest.replace(/[.\s]+$/, ''))
}
