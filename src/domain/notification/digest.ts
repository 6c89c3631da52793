/** Writes the text of a message about several notifications. */
import { firingText } from '../incident/incident.ts'
import { severeOf, severityNow } from '../incident/lasted.ts'
import { SEVERITIES } from '../severity.ts'
import { formatLasted } from '../shown-time.ts'
import { countOf, formatCount, joinNames, uncapitalized } from '../text.ts'
import { SECOND } from '../units.ts'
import { overdueText, whenText } from './alert-texts.ts'
import { alikeOf, commonOf, listedOf, MAX_SAID, nameOf, namesOf, sorted } from './digest-order.ts'
import { groupLinesOf, type MessageGroup } from './group-words.ts'
import { REMINDERS } from './kind.ts'
import { clusterText, namedUpTo, shortened } from './names.ts'
import { endedBy, firesText, goesOnText, isInferred, NO_END, newNames, recoveryText } from './recovery-texts.ts'
import { lengthOf, pastText, subjectOf } from './sentences.ts'
import {
  isAllClear,
  leftText,
  linksOf,
  MAX_RUNBOOKS,
  MAX_SUBJECT,
  type MessageContext,
  type MessageItem,
  type MessageText,
  messageTextOf,
  runbooksOf,
  SYMBOLS,
} from './words.ts'

/** The maximum number of links to acknowledge an incident. ntfy shows three links. */
const MAX_ACKNOWLEDGED = 2

/**
 * Returns the text for several notifications. If all notifications are about one incident, the newest notification
 * determines the text.
 */
export function digestTextOf(items: readonly MessageItem[], context: MessageContext): MessageText {
  // What is new says more than that nobody has acknowledged it.
  const last = items.findLast(({ kind }) => !REMINDERS.has(kind)) ?? items.at(-1)
  if (!last) throw new TypeError('a message without notifications')
  if (last.kind === 'group' && last.group) return groupTextOf(last.group, items, context)
  const incidents = new Map(items.map((item) => [item.incident.id, item]))
  if (incidents.size === 1 && items.some(({ isDigest }) => isDigest)) {
    return messageTextOf({ ...last, kind: 'flapping', isDigest: true }, context)
  }
  return incidents.size === 1 ? messageTextOf(wholeOf(items, last), context) : digestOf(items, context)
}

/** Returns a notification that says what all notifications about one incident say about new conditions. */
function wholeOf(items: readonly MessageItem[], last: MessageItem): MessageItem {
  if (last.kind !== 'worse') return last
  // Who works on it was told before what else goes on.
  const names = [...new Set(items.flatMap((item) => (item.kind === 'worse' ? item.names : [])))]
  const first = items.find(({ kind }) => kind === 'opened' || kind === 'group' || kind === 'again')
  const others = items.flatMap((item) => item.others ?? [])
  return first
    ? { ...last, kind: first.kind, wasWrong: first.wasWrong, names, others: first.others ?? [] }
    : { ...last, names, others }
}

function groupTextOf(group: MessageGroup, items: readonly MessageItem[], context: MessageContext): MessageText {
  const { leader } = group
  const subject = `[incmon #${leader.number}] ${shortened(leader.title, MAX_SUBJECT)}${clusterText(leader.service)}`
  const own = linksOf(context, `Open incident #${leader.number}`)
  const runbooks = [...new Map(items.flatMap(runbooksOf).map((link) => [link.url, link])).values()]
  const links = [...own.slice(0, -1), ...runbooks.slice(0, MAX_RUNBOOKS), ...own.slice(-1)]
  const lines = groupLinesOf(group, items, context)
  return { tone: 'critical', symbol: SYMBOLS.critical, subject, ...lines, links }
}

/** Returns the text about several incidents. What is new comes first. */
function digestOf(all: readonly MessageItem[], context: MessageContext): MessageText {
  const { news, unowned, known, attended, ending, well, ended } = sorted(all, context.now)
  const shown = [...news.flatMap(({ of }) => of), ...unowned, ...known]
  const [first] = shown
  const told = [
    ...news.map(({ of, isBack }) => countedText(of, isBack ? 'incident' : 'new incident', isBack ? 'came back ' : '')),
    unowned.length > 0 ? `Nobody has acknowledged this yet: ${countedText(unowned, 'incident')}` : '',
    countedText(known, shown.length > known.length ? 'earlier incident' : 'incident'),
    ...changedTexts([...unowned, ...known, ...attended], all),
    uncoveredText([...known, ...attended], all),
    attendedText(attended),
  ]
  const quiet = well.filter((item) => endedBy(item) === null && goesOnText(item) === '')
  const opened = new Set(all.flatMap(({ kind, incident }) => (kind === 'opened' ? [incident.id] : [])))
  const past = quiet.filter(({ incident }) => opened.has(incident.id)).slice(0, MAX_SAID)
  const texts = [
    ...told,
    ending.length > 0 ? `${namesOf(ending)}: the last alert has just ended` : '',
    ...past.map(
      (item) => `${nameOf(item)} ${pastText(item, context)}${isInferred(item) ? NO_END : ', and has recovered'}`,
    ),
    ...recoveredTexts(
      quiet.filter((item) => !past.includes(item)),
      context,
    ),
    ...well.filter((item) => goesOnText(item) !== '').map((item) => recoveryText(item, subjectOf(item))),
    ...endedByTexts(well.filter((item) => goesOnText(item) === '')),
    endedText(ended, context),
    ...ended.flatMap(mergedText),
  ]
  const [title = '', ...others] = texts.filter((text) => text !== '').map((text) => `${text}.`)
  const [worst = '', ...more] = worstTexts(shown)
  const because = leftText(all) || (told.some((text) => text !== '') ? '' : becauseText(all))
  const unheard = unheardTexts(shown, context)
  const { inAll = null } = context
  const rest = inAll === null || inAll <= shown.length ? '' : `In all, ${countOf(inAll, 'incident')} go on.`
  const body = [worst, rest, first ? context.cause : '', ...more, ...unheard, ...others, because]
  const isClear = ending.length === 0 && [...well, ...ended].every(isAllClear)
  const calm = attended.length > 0 ? 'acknowledged' : isClear ? 'resolved' : 'warning'
  const tone = first ? severityNow(first.incident) : calm
  const lines = { subject: title, title, body: body.filter((part) => part !== '').join(' ') }
  const links = [...acknowledgeLinks(shown, context), ...linksOf(context, 'View all incidents')]
  return { tone, symbol: SYMBOLS[tone], ...lines, links }
}

/** Names the cause that all incidents have in common; '' if there is none. */
function becauseText(items: readonly MessageItem[]): string {
  const [group, other] = [...new Set(items.map((item) => item.group))]
  return group && other === undefined ? `Probable cause: ${shortened(group.cause)}.` : ''
}

/**
 * Returns `cart and web have recovered after at most 4 min`. If nobody reported the ends, they may have gone on for longer.
 */
function recoveredTexts(all: readonly MessageItem[], context: MessageContext): string[] {
  const { true: guessed = [], false: sure = [] } = Object.groupBy(all, (item) => `${isInferred(item)}`)
  const lengths = (of: readonly MessageItem[]) => of.map(({ incident }) => severeOf(incident, context.now).ms)
  const after = (ms: number, limit: string) => (ms < SECOND ? '' : ` after ${limit}${formatLasted(ms)}`)
  const was = (of: readonly MessageItem[], one: string, several: string) =>
    `${namesOf(of)} ${of.length === 1 ? one : several}`
  const lastAt = guessed.flatMap(({ incident }) => incident.problem.endedAt ?? [])
  const reported = `, last reported ${whenText(Math.max(...lastAt), context)}${guessed.length > 1 ? ' or before' : ''}`
  return [
    sure.length === 0
      ? ''
      : `${was(sure, 'has', 'have')} recovered${after(Math.max(...lengths(sure)), sure.length > 1 ? 'at most ' : '')}`,
    guessed.length === 0
      ? ''
      : `${was(guessed, 'is', 'are')} no longer reported${after(Math.min(...lengths(guessed)), 'at least ')}${reported}${NO_END}`,
  ]
}

/** Returns `A user resolved the alerts of cart and web`. */
function endedByTexts(items: readonly MessageItem[]): string[] {
  return [...Map.groupBy(items, (item) => JSON.stringify(endedBy(item))).values()].flatMap((of) => {
    const by = of[0] ? endedBy(of[0]) : null
    return by ? [`${by.who} the alerts of ${namesOf(of)}${by.because}`] : []
  })
}

/** Returns `2 new incidents (1 critical, 1 error): cart and web`; '' if there are none. */
function countedText(items: readonly MessageItem[], noun: string, verb = ''): string {
  const counts = SEVERITIES.flatMap((severity) => {
    const count = items.filter(({ incident }) => severityNow(incident) === severity).length
    return count === 0 ? [] : [`${formatCount(count)} ${severity}`]
  })
  if (items.length === 0) return ''
  const { cause, count } = commonOf(items)
  const some = count < items.length ? `${formatCount(count)} of them ` : ''
  const because = count === 0 ? '' : `, ${some}probably because of ${shortened(cause)}`
  return `${countOf(items.length, noun)} ${verb}(${counts.join(', ')})${because}: ${namesOf(items)}`
}

/** Returns `ann is working on 2 incidents (2 critical): cart and web`; '' if there are none. */
function attendedText(items: readonly MessageItem[]): string {
  const people = [...new Set(items.flatMap(({ incident }) => incident.acknowledgedBy ?? []))]
  const who = people.length === 0 ? 'A user' : joinNames(people)
  const are = people.length > 1 ? 'are' : 'is'
  return items.length === 0 ? '' : `${who} ${are} working on ${countedText(items, 'incident')}`
}

/** Returns `cart and web got worse: DiskFull is firing` or `web was reopened`, of incidents that the channel knows. */
function changedTexts(items: readonly MessageItem[], all: readonly MessageItem[]): string[] {
  const newsOf = Map.groupBy(all, ({ incident }) => incident.id)
  const worseText = ({ incident: { id, problem }, alerts }: MessageItem) => {
    const worse = newsOf.get(id)?.filter(({ kind }) => kind === 'worse') ?? []
    const names = [...new Set(worse.flatMap((one) => one.names))].filter((name) => problem.firing.includes(name))
    const others = worse.flatMap((one) => one.others ?? [])
    return names.length === 0 ? '' : firesText(newNames({ names, others, alerts }), MAX_SAID)
  }
  const { said, rest } = alikeOf(items, worseText)
  const calm = items.filter((item) => worseText(item) === '')
  const { true: taken = [], false: reopened = [] } = Object.groupBy(calm, ({ incident }) => {
    const last = newsOf.get(incident.id)?.findLast(({ kind }) => kind === 'reopened')
    return last ? `${last.isTakenBack === true}` : ''
  })
  return [
    ...said.map(({ text, of }) => `${namesOf(of)} got worse: ${text}`),
    rest.length === 0 ? '' : `${namesOf(rest)} got worse, too`,
    reopened.length === 0 ? '' : `${namesOf(reopened)} ${reopened.length === 1 ? 'was' : 'were'} reopened`,
    taken.length === 0 ? '' : `Nobody is working on ${namesOf(taken)} any more`,
  ]
}

/** Returns `A silence has ended that covered cart and web`; '' if there are none. */
function uncoveredText(items: readonly MessageItem[], all: readonly MessageItem[]): string {
  const back = new Set(all.flatMap(({ kind, incident }) => (kind === 'again' ? incident.id : [])))
  const of = items.filter(({ incident }) => incident.problem.covered !== null && back.has(incident.id))
  return of.length === 0 ? '' : `A silence has ended that covered ${namesOf(of)}`
}

/** Returns how many alerts fire although a user resolved their incidents. */
function stillFiring(ended: readonly MessageItem[]): number {
  return ended.reduce((sum, { actor, incident }) => sum + (actor === null ? 0 : incident.firingAlerts), 0)
}

/**
 * Returns `1 incident resolved, but 2 alerts are still firing: cart (has been critical for 4 min)`; '' if there are none. A
 * channel may not know a resolved incident, so the text says what it was.
 */
function endedText(all: readonly MessageItem[], context: MessageContext): string {
  const ended = all.filter(({ mergedInto }) => mergedInto === null)
  const firing = stillFiring(ended)
  const names = ended.map((item) => `${nameOf(item)} (${lengthOf(item, context)})`)
  const named = names.length > 3 ? namesOf(ended) : joinNames(names)
  const but = firing > 0 ? `, but ${firingText(firing)}` : ''
  return ended.length === 0 ? '' : `${countOf(ended.length, 'incident')} resolved${but}: ${named}`
}

/** Returns `pay was merged into “cart: Down”`; nothing for an incident that was not merged. */
function mergedText(item: MessageItem): string[] {
  return item.mergedInto === null ? [] : [`${nameOf(item)} was merged into “${shortened(item.mergedInto)}”`]
}

/** Returns links to acknowledge the first incidents that are open. */
function acknowledgeLinks(items: readonly MessageItem[], { acknowledgeUrls }: MessageContext): MessageText['links'] {
  const found = items.flatMap((item) => {
    const url = acknowledgeUrls[item.incident.id]
    return url === undefined ? [] : [{ text: `Acknowledge #${item.incident.number} ${subjectOf(item)}`, url }]
  })
  return found.slice(0, MAX_ACKNOWLEDGED)
}

/** Names what fires. A title may name what is over. */
function worstTexts(items: readonly MessageItem[]): string[] {
  const { worst, said, rest } = listedOf(items)
  if (!worst) return []
  const { title, problem } = worst.incident
  const isTitled = problem.firing.length === 0 || problem.about !== null
  const text = isTitled ? `“${shortened(title)}”` : `${subjectOf(worst)}: ${namedUpTo(problem.firing, MAX_SAID)}`
  const others = said.map((one) => `${namesOf(one.of)}: ${one.text}.`)
  return [`Worst: ${text}.`, ...others, ...(rest.length === 0 ? [] : [`${namesOf(rest)}: several alerts.`])]
}

/** Returns `cart: not heard since 14:02 UTC.` about what its sender does not repeat; nothing if it does. */
function unheardTexts(items: readonly MessageItem[], context: MessageContext): string[] {
  const { said, rest } = alikeOf(items, (item) => uncapitalized(overdueText(item, context)))
  const texts = said.map(({ text, of }) => `${namesOf(of)}: ${text}`)
  return rest.length === 0 ? texts : [...texts, `${namesOf(rest)}: not reported lately either.`]
}
