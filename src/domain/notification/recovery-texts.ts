/** Writes what a message says about a problem that is over or comes back: who ended it, how often, and what else goes on. */
import { firingText } from '../incident/incident.ts'
import { severityNow } from '../incident/lasted.ts'
import { phaseOf } from '../incident/problem.ts'
import { STATES } from '../severity.ts'
import { joinNames } from '../text.ts'
import { HOUR } from '../units.ts'
import { hadNames, namedAlerts } from './alert-texts.ts'
import { REMINDERS } from './kind.ts'
import { namedUpTo, shortened } from './names.ts'
import type { MessageContext, MessageItem } from './words.ts'

const NAMED = 3
/** How many alerts that still fire, or other services, a message names. */
const NAMED_BRIEFLY = 7

/** Why Grafana ends an alert although nothing has recovered, by its `grafana_state_reason`. */
const GRAFANA_ENDS: Readonly<Record<string, string>> = {
  Paused: 'its rule was paused',
  RuleDeleted: 'its rule was deleted',
  Updated: 'its rule was changed',
  MissingSeries: 'its query has no data of it any more',
  NoData: 'its query has no data',
  Error: 'its rule cannot be evaluated',
}

/** Returns who ended the alert with which the problem ended, and why; null if it has recovered. */
export function endedBy({ alerts, incident: { problem } }: MessageItem) {
  const last = alerts.filter(({ endsAt }) => endsAt !== null && endsAt === problem.endedAt)
  const byHand = last.filter(({ resolution }) => resolution === 'manual')
  const people = [...new Set(byHand.flatMap(({ resolvedBy }) => resolvedBy ?? []))]
  if (byHand.length > 0) return { who: `${people.length === 0 ? 'A user' : joinNames(people)} resolved`, because: '' }
  const [why] = last.flatMap(({ annotations }) => GRAFANA_ENDS[annotations.grafana_state_reason ?? ''] ?? [])
  return why === undefined ? null : { who: 'Grafana ended', because: `, because ${why}` }
}

/** Returns whether nobody reported the end of the problem. */
export function isInferred(item: MessageItem): boolean {
  return item.incident.problem.isGuess && endedBy(item) === null
}

/** Returns `cart has recovered`, who ended its alert, or what of it is over although another incident goes on. */
export function recoveryText(item: MessageItem, name: string): string {
  const by = endedBy(item)
  const had = hadNames(item)
  const but = goesOnText(item)
  const over = `${namedUpTo(had, NAMED)} of ${name} ${had.length === 1 ? 'is' : 'are'} over`
  const what = but === '' ? `${name} has recovered` : over
  return `${by ? `${by.who} the alert of ${name}${by.because}` : what}${but}`
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
export function firingTexts(item: MessageItem): readonly string[] {
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

/** Returns what a reminder adds: `Nobody is working on cart and web either.`, and who declared the incident. */
export function remindedText({ kind, alike = [], incident }: MessageItem): string {
  if (!REMINDERS.has(kind)) return ''
  const others = alike.length === 0 ? '' : `Nobody is working on ${namedUpTo(alike, NAMED_BRIEFLY)} either. `
  return `${others}${incident.origin === 'manual' ? `${incident.declaredBy ?? 'A user'} declared it.` : ''}`.trimEnd()
}
