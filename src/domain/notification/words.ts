/** Writes the text of messages: two lines that make sense to anyone on a lock screen. */
import type { Resolution, Signal } from '../alert/alert.ts'
import { severityNow } from '../incident/lasted.ts'
import type { LiveIncident } from '../incident/live-incident.ts'
import type { Severity } from '../severity.ts'
import type { Suspect } from '../suspect/suspect.ts'
import { type Delivery, namedAlerts } from './alert-texts.ts'
import { linkAddress } from './escape.ts'
import type { Tone } from './format.ts'
import { burningText, groupTitleOf, type MessageGroup } from './group-words.ts'
import { type MessageKind, REMINDERS } from './kind.ts'
import { clusterText, type PlacedService, shortened } from './names.ts'
import { endedBy } from './recovery-texts.ts'
import { bodyOf, hasReadyPostmortem, titleOf } from './sentences.ts'

/** An alert that a message names. */
export type MessageAlert = Pick<
  Signal,
  'source' | 'name' | 'severity' | 'summary' | 'labels' | 'annotations' | 'startsAt' | 'endsAt'
> & {
  readonly id: string
  /** Of an alert that was less severe when it ended: its last text while it was critical; null if it is not known. */
  readonly criticalSummary?: string | null
  /** The name of the condition in the incident. It includes the service if the incident is about another service. */
  readonly condition: string
  /** How its end is known; null while it fires. */
  readonly resolution: Resolution | null
  /** Who resolved the alert; absent if nobody did, or if it is not known who. */
  readonly resolvedBy?: string | undefined
  /** When the alert was last received. */
  readonly receivedAt: number
  /** When it was last reported, as its sender says. Default: when it was received. */
  readonly lastSeenAt?: number
  readonly delivery: Delivery
}

/** A notification, with the state of its incident at the time of sending. Times are Unix times in milliseconds. */
export type MessageItem = {
  readonly kind: MessageKind
  /** When the incident changed. */
  readonly at: number
  readonly actor: string | null
  /** The severity before it was raised. */
  readonly severityBefore: Severity | null
  /** The critical conditions that the message is about. After a merge: those that fire in the other incident. */
  readonly names: readonly string[]
  /** The UUIDs of the alerts that are news, such as that of another shard; absent or none if all of the conditions are. */
  readonly others?: readonly string[]
  /** Whether an all-clear was disproved. */
  readonly wasWrong: boolean
  /** Of `reopened`: whether a user only took an acknowledgement back. */
  readonly isTakenBack?: boolean
  /** The title of the incident into which this one was merged. */
  readonly mergedInto: string | null
  /** Whether the message is the digest of a flapping incident. */
  readonly isDigest: boolean
  readonly incident: Pick<
    LiveIncident,
    | 'id'
    | 'title'
    | 'severity'
    | 'status'
    | 'origin'
    | 'startedAt'
    | 'resolvedAt'
    | 'acknowledgedAt'
    | 'acknowledgedBy'
    | 'touchedAt'
    | 'alertCount'
    | 'problem'
    | 'previous'
  > & {
    /** The incident number that users refer to. Numbers increase within an organization. */
    readonly number: number
    /** How many of the incident's alerts are still firing. */
    readonly firingAlerts: number
    readonly hasPostmortem: boolean
    /** Who declared the incident; null or absent if nobody did, or if it is not known who. */
    readonly declaredBy?: string | null
  }
  readonly service: PlacedService
  /** If only conditions of other services go on: the service of the first of them, and since when. */
  readonly elsewhere?: { readonly service: PlacedService; readonly since: number }
  /** At most 20 alerts of the incident: firing ones first. */
  readonly alerts: readonly MessageAlert[]
  /** The incidents with the same cause; null if there is no such group. */
  readonly group: MessageGroup | null
  /** The titles of other incidents about the same service that go on although the problem of this one is over. */
  readonly goesOn?: readonly string[]
  /** Of a reminder: the other services with the same cause whose incidents nobody has acknowledged. */
  readonly alike?: readonly string[]
}

export type MessageContext = {
  readonly now: number
  readonly timeZone: string
  /** Whether a text leaves out how long the problem has gone on. */
  readonly hidesAge?: true
  /** How long after its recovery an untouched incident is resolved, in milliseconds; null for never. */
  readonly resolveAfter: number | null
  /** How many incidents go on, if the channel was told of so many at once that it was not told of all; otherwise null. */
  readonly inAll?: number | null
  /** A sentence such as `Likely cause: deploy shop/checkout#4711, started 3 min before the incident.`; '' if unknown. */
  readonly cause: string
  /** The most probable causes, in machine-readable form. */
  readonly suspects: readonly Pick<Suspect, 'kind' | 'ref' | 'serviceId' | 'score'>[]
  /** The URL of the incident page, or of the incident list; null if no public URL is configured. */
  readonly url: string | null
  /** The URL of the page with the **Acknowledge** button; null if there is nothing to acknowledge. */
  readonly acknowledgeUrl: string | null
  /** For a message about several incidents: the URLs for those that are open, by the incident's UUID. */
  readonly acknowledgeUrls: Readonly<Record<string, string>>
}

/** The text of a message, before it is formatted for a channel. */
export type MessageText = {
  readonly tone: Tone
  /** A symbol for the tone. The text conveys the same information. */
  readonly symbol: string
  /** The subject is the same for all messages about an incident, so that mail programs group the messages. */
  readonly subject: string
  /** One line: the problem and when it started. */
  readonly title: string
  /** The title without the age of the problem, if it has one. */
  readonly titleWithoutAge?: string | undefined
  /** One line: the problem, its likely cause and the number of alerts; '' if there is nothing to add. */
  readonly body: string
  /** Links to acknowledge and view the incident, most urgent first. Empty if no public URL is configured. */
  readonly links: readonly { readonly text: string; readonly url: string }[]
}

export const SYMBOLS: Readonly<Record<Tone, string>> = {
  critical: '🔴',
  error: '🟠',
  warning: '🟡',
  info: '🔵',
  acknowledged: '🔵',
  resolved: '🟢',
  neutral: '⚪',
}
export const MAX_SUBJECT = 150
export const MAX_RUNBOOKS = 3

/** Returns the text for a single notification. */
export function messageTextOf(item: MessageItem, context: MessageContext): MessageText {
  const { incident, kind } = item
  const tone = toneOf(item)
  const subject =
    kind === 'test'
      ? 'Test message'
      : `[incmon #${incident.number}] ${shortened(incident.title, MAX_SUBJECT)}${clusterText(item.service)}`
  const body = [leftText([item]), bodyOf(item, context)].filter((text) => text !== '').join(' ')
  const titleIn = (own: MessageContext) => reminderOf(item) ?? titleOf(item, own)
  const lines = { title: titleIn(context), titleWithoutAge: titleIn({ ...context, hidesAge: true }), body }
  const isReady = hasReadyPostmortem(item)
  const open = kind === 'test' ? 'Open incmon' : isReady ? 'Read the postmortem' : `Open incident #${incident.number}`
  const own = linksOf(context, open, isReady ? '/postmortem' : '')
  // The last link is the one that a tap on the message opens.
  const links = [...own.slice(0, -1), ...runbooksOf(item), ...own.slice(-1)]
  return { tone, symbol: SYMBOLS[tone], subject, ...lines, links }
}

/** A reminder about one incident of a group stands for all, if nobody is working on any of them. */
function reminderOf({ kind, group }: MessageItem): string | null {
  if (!group || !REMINDERS.has(kind)) return null
  const isFree = group.incidents.every(({ status, problem }) => problem === 'off' || status === 'open')
  return isFree ? `Nobody has acknowledged this yet: ${groupTitleOf(group)}` : null
}

/** Returns links to the runbooks of the alerts that the message names. */
export function runbooksOf(item: MessageItem): MessageText['links'] {
  if (item.kind === 'resolved' || item.kind === 'recovered') return []
  const firing = namedAlerts(item).filter(({ endsAt }) => endsAt === null)
  const urls = new Map(
    firing.flatMap(({ name, annotations }) => {
      const url = linkAddress(annotations.runbook_url ?? '')
      return url === null ? [] : [[url, name] as const]
    }),
  )
  return [...urls].slice(0, MAX_RUNBOOKS).map(([url, name]) => ({ text: `Runbook: ${shortened(name)}`, url }))
}

/** A user's action is never urgent, even while alerts are firing. */
function toneOf(item: MessageItem): Tone {
  const { kind, incident } = item
  if (kind === 'test') return 'neutral'
  if (kind === 'acknowledged') return 'acknowledged'
  // While a flapping service is well, its digest wakes nobody.
  if (kind === 'flapping' && incident.problem.since === null) return 'warning'
  if (kind === 'resolved' || kind === 'recovered')
    return isAllClear(item) && !endedBy(item)?.because ? 'resolved' : 'warning'
  return severityNow(incident)
}

/** Returns whether nothing of an incident that is over fires or goes on elsewhere, and nothing with the same cause burns. */
export function isAllClear({ kind, incident, names, mergedInto, goesOn = [], group }: MessageItem): boolean {
  const elsewhere = goesOn.length + (kind === 'recovered' || mergedInto !== null ? names.length : 0)
  const burns = incident.problem.since !== null || (kind === 'recovered' && group !== null && burningText(group) !== '')
  return incident.firingAlerts + elsewhere === 0 && !burns
}

export function linksOf({ url, acknowledgeUrl }: MessageContext, open: string, path = ''): MessageText['links'] {
  return [
    ...(acknowledgeUrl === null ? [] : [{ text: 'Acknowledge', url: acknowledgeUrl }]),
    ...(url === null ? [] : [{ text: open, url: `${url}${path}` }]),
  ]
}

/** Says which incidents with the same cause go on. */
export function leftText(items: readonly MessageItem[]): string {
  const groups = new Set(items.flatMap(({ kind, group }) => (kind === 'recovered' && group ? [group] : [])))
  return [...groups].map((group) => burningText(group)).join(' ')
}
