/** Writes the sentences of a message about one incident. */
import { firingText } from '../incident/incident.ts'
import { lastBegunAt, lengthsOf, severeOf, severityNow, silencedText } from '../incident/lasted.ts'
import { mutedSinceOf, type Problem, phaseOf } from '../incident/problem.ts'
import { isSender } from '../sender/sender-name.ts'
import { STATES } from '../severity.ts'
import { formatDuration, formatLasted } from '../shown-time.ts'
import { SECOND } from '../units.ts'
import {
  countText,
  hasOwnTitle,
  lastReportText,
  momentText,
  namedAlerts,
  namespaceOf,
  onItText,
  othersText,
  overdueText,
  problemText,
  reportedText,
  whenText,
} from './alert-texts.ts'
import { namedUpTo, placedName, shortened, unsentText } from './names.ts'
import {
  againText,
  flappingText,
  goesOnText,
  isInferred,
  lastKnownAt,
  lengthText,
  NO_END,
  nextText,
  recoveryText,
  remindedText,
  restOf,
  severeText,
  withMerged,
  worseText,
} from './recovery-texts.ts'
import type { MessageContext, MessageItem } from './words.ts'

const [NAMED, MAX_TITLE] = [3, 200]

/** Returns what the message is about: the service that is critical, the sender, or the alert that names no service. */
export function subjectOf({ service, incident, elsewhere }: Subject): string {
  return elsewhere ? placedName(elsewhere.service) : placedName(service, incident.problem.about ?? undefined)
}

type Subject = Pick<MessageItem, 'service' | 'incident' | 'elsewhere'>

/** Returns the first line: the problem and since when. */
export function titleOf(item: MessageItem, context: MessageContext): string {
  const { kind, actor, severityBefore, incident, service, names } = item
  const { problem } = incident
  const ends = kind === 'recovered' || kind === 'resolved'
  const name = ends ? withMerged(item, subjectOf({ service, incident })) : subjectOf(item)
  const lasting = lastingText(item, context)
  const state = `${name} ${STATES[severityNow(incident)].is}`
  switch (kind) {
    case 'test':
      return 'This is a test message from incmon. The channel works.'
    case 'opened':
      return incident.origin === 'manual'
        ? `${actor ?? incident.declaredBy ?? 'A user'} declared an incident: ${lasting}.`
        : `${lasting}.`
    case 'group':
    case 'sender-silent':
      return `${lasting}.`
    case 'worse':
      return `${name} got worse: ${worseText(item)}.`
    case 'severity':
      return `${state} now${severityBefore ? ` (previously ${severityBefore}${actor === null ? '' : `; changed by ${actor}`})` : ''}: ${lasting}.`
    case 'acknowledged':
      return `${actor ?? incident.acknowledgedBy ?? 'A user'} is working on it: ${lasting}.`
    case 'recovered':
      return `${recoveryText(item, name)}: ${goesOnText(item) === '' ? 'it' : 'what is over'} ${pastText(item, context)}${isInferred(item) ? NO_END : ''}.`
    case 'again':
      if (actor !== null)
        return `${subjectOf({ service, incident })}: ${actor} merged an incident that goes on into this one: ${namedUpTo(names, NAMED)}.`
      if (problem.covered !== null) return `${lasting}.`
      if (!item.wasWrong) return `${state} again: ${againText(item) || lasting}.`
      // Either a repeat arrived, or the heartbeat of the sender ended with the alerts.
      return `The all-clear ${reportedText(item.alerts, problem.firing, context) === '' ? 'was wrong' : 'is uncertain'}: ${lasting}.`
    case 'flapping':
      return flappingText(item, name, context)
    case 'reopened':
      if (item.isTakenBack) return `Nobody is working on it any more: ${lasting}.`
      return `${actor ?? 'A user'} reopened the incident: ${lasting}.`
    case 'resolved':
      return resolvedText(item, name, context)
    case 'still-firing':
      return `${name}: ${firingText(incident.firingAlerts)}, even though the incident was resolved ${whenText(incident.resolvedAt ?? context.now, context)}.`
    case 'reminder':
      return `Nobody has acknowledged this yet: ${lasting}.`
    case 'escalation':
      return `Nobody has acknowledged this incident: ${lasting}.`
  }
  return isSender(service.name) ? name : state
}

/** Returns `cart has been critical since 14:02 UTC (4 min)`, or what was the case if the problem is over. */
function lastingText(item: MessageItem, context: MessageContext): string {
  const { incident, service, alerts } = item
  const { now } = context
  const { problem } = incident
  // What a user declared is said in the user's words.
  const subject = subjectOf(item)
  const declared = declaredAlone(problem)
  const name =
    declared.length > 0
      ? `${namedUpTo(
          declared.map((one) => one.name),
          NAMED,
        )}, merged into ${subject},`
      : hasOwnTitle(item)
        ? `“${shortened(incident.title, MAX_TITLE)}” (${subject})`
        : subject
  // What was declared had its own severity before the rest ended.
  const isRated = declared.length > 0 && declared.every(({ severity }) => severity !== undefined)
  const severe = severeOf(incident, now)
  const raisedAt = severe.since > lastBegunAt(incident) && !isRated ? severe.since : 0
  const declaredAt = declared.length > 0 ? Math.min(...declared.map((one) => one.since)) : 0
  const begunAt = Math.max(lastBegunAt(incident), declaredAt, raisedAt, item.elsewhere?.since ?? 0)
  // What got its severity after a silence was less severe when the silence ended.
  const covered = problem.covered !== null && raisedAt < problem.covered.until ? problem.covered : null
  const { since, until: coveredUntil } = covered ?? { since: begunAt, until: null }
  const sinceText = `since ${momentText(since, context)}`
  const ageText = (more = '') =>
    context.hidesAge ? '' : ` (${now - since < SECOND ? 'just now' : formatDuration(now - since)}${more})`
  if (isSender(service.name)) return `${name} has ${unsentText(problem)} ${sinceText}${ageText()}`
  const phase = phaseOf(problem, now)
  if (phase === 'muted') return `${name} ${mutedText(item, context)}`
  if (phase !== 'on') return `${name} ${pastText(item, context)}`
  const begun = `${name} ${STATES[severityNow(incident)].hasBeen} ${sinceText}`
  const reported = reportedText(alerts, problem.firing, context, since)
  const silence = coveredUntil === null ? '' : `; its silence ended ${whenText(coveredUntil, context)}`
  if (reported !== '') return `${begun}, ${reported}${silence}`
  if (silence !== '') return `${begun}${ageText(silence)}`
  const { ms } = severe
  const isWhole = declared.length > 0 || item.elsewhere || ms <= now - since + SECOND
  return `${begun}${ageText(isWhole ? '' : `, ${formatLasted(ms)} in all`)}`
}

/** Returns what users declared in incidents that were merged into this one, if nothing else of the incident goes on. */
function declaredAlone({ firing, declared }: Problem): Problem['declared'] {
  return firing.length > 0 && firing.every((name) => declared.some((one) => one.name === name)) ? declared : []
}

/**
 * Returns `was critical for 4 min, until 14:06 UTC`. The duration is the time during which the problem was on. If the
 * end was inferred, the text says when the problem was last reported.
 */
export function pastText(item: MessageItem, context: MessageContext): string {
  const { incident } = item
  const { endedAt } = incident.problem
  const least = isInferred(item)
  const ended = (at: number) =>
    least ? `, last reported ${whenText(at, context)}` : `, until ${momentText(at, context)}`
  const until = endedAt === null ? '' : ended(endedAt)
  const { mutedMs } = severeOf(incident, context.now)
  return `${severeText(item, context.now, least ? 'at least ' : '', until)}${silencedText(mutedMs)}`
}

/** Says that what fires is silenced: it has not ended. */
function mutedText({ incident }: MessageItem, context: MessageContext): string {
  const { severity, ms } = severeOf(incident, context.now)
  const since = mutedSinceOf(incident.problem) ?? context.now
  return `${STATES[severity].was}${lengthText(ms)} until a silence covered it ${whenText(since, context)}, and still fires`
}

/** Returns `was critical for 4 min`, `for at least` if nobody reported the end, and `has been` while it goes on. */
export function lengthOf(item: MessageItem, context: MessageContext): string {
  const { kind, incident } = item
  const isOn = phaseOf(incident.problem, context.now) === 'on'
  const reportedAt = isOn && kind === 'resolved' ? lastKnownAt(item, context) : null
  const { severity, ms, mutedMs } = severeOf(incident, reportedAt ?? context.now)
  if (isOn && reportedAt === null)
    return `${STATES[severity].hasBeen}${lengthText(ms, formatDuration)}${silencedText(mutedMs)}`
  const last = reportedAt === null ? '' : `, last reported ${whenText(reportedAt, context)}`
  const lasted = severeText(item, reportedAt ?? context.now, isOn || isInferred(item) ? 'at least ' : '', last)
  return `${lasted}${silencedText(mutedMs)}`
}

function resolvedText(item: MessageItem, name: string, context: MessageContext): string {
  const { actor, incident, service, mergedInto, names } = item
  const isOn = incident.problem.since !== null
  if (isSender(service.name) && isOn) return `${actor} resolved the incident, but ${lastingText(item, context)}.`
  if (isSender(service.name))
    return `${name} sends ${incident.problem.had.length > 0 ? 'all of its heartbeats' : 'its heartbeat'} again after ${formatLasted(lengthsOf(incident, context.now).onMs)}.`
  if (mergedInto !== null) {
    const merged = actor === null ? 'the incident was merged' : `${actor} merged the incident`
    const goesOn =
      names.length === 0 ? '' : `, where ${namedUpTo(names, NAMED)} ${names.length === 1 ? 'goes' : 'go'} on`
    return `${name}: ${merged} into “${shortened(mergedInto)}”${goesOn}.`
  }
  // After a merge of services, the service can burn in another incident.
  const which = incident.origin === 'automatic' && hasOwnTitle(item) ? ` “${shortened(incident.title)}”` : ''
  const by = actor === null ? `the incident${which} is resolved` : `${actor} resolved the incident${which}`
  const firing = incident.firingAlerts > 0 && actor !== null ? `, but ${firingText(incident.firingAlerts)}` : ''
  return `${name}: ${by}${firing}. It ${lengthOf(item, context)}.`
}

/** Returns the second line: what fires, the likely cause, who is on it, and what happens next. */
export function bodyOf(item: MessageItem, context: MessageContext): string {
  const { kind, incident, service } = item
  if (kind === 'test') return 'Notifications about your services will arrive here.'
  const namespace = namespaceOf(item)
  const places = [
    namespace === '' ? '' : `namespace ${shortened(namespace)}`,
    service.cluster === '' ? '' : `cluster ${shortened(service.cluster)}`,
  ].filter((place) => place !== '')
  const place = [`Incident #${incident.number}`, ...places].join(', ')
  return [...sentencesOf(item, context), `${place}.`].filter((sentence) => sentence !== '').join(' ')
}

/** An incident that was merged goes on in another one, and so does its story. */
export function hasReadyPostmortem({ kind, incident, mergedInto }: MessageItem): boolean {
  return kind === 'resolved' && incident.hasPostmortem && mergedInto === null
}

/** The most important words come first, because a lock screen truncates the text. */
function sentencesOf(item: MessageItem, context: MessageContext): string[] {
  const { kind, incident, service } = item
  const isOver = kind === 'resolved' || kind === 'recovered'
  if (isSender(service.name))
    return isOver && incident.problem.since === null
      ? []
      : ['Problems with your services may go unnoticed until the sender reports again.']
  const count = countText(incident)
  const burns = phaseOf(incident.problem, context.now) === 'on' && !isOver
  const isDeclared = incident.origin === 'manual' && namedAlerts(item).length === 0
  const isInTitle = burns && (isDeclared || declaredAlone(incident.problem).length > 0)
  return [
    isInTitle ? '' : `${problemText(item)}.`,
    burns && !isInTitle ? othersText(item) : '',
    burns && kind !== 'acknowledged' ? context.cause : '',
    burns ? overdueText(item, context) : '',
    burns || kind === 'recovered' ? onItText(item) : '',
    remindedText(item),
    isOver ? '' : count,
    ...(kind === 'recovered' ? restOf(item) : []),
    burns ? '' : lastReportText(item, context),
    incident.problem.about === null || isOver ? '' : NAMELESS,
    kind === 'opened' && incident.previous !== null ? 'The service had another incident recently.' : '',
    kind === 'recovered' ? nextText(item, context) : '',
    hasReadyPostmortem(item) ? 'The postmortem is ready.' : '',
  ]
}

const NAMELESS = 'The alert names no service: add a label such as service or namespace and deployment, or an alias.'
