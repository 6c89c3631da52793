/**
 * Reads a generated postmortem back. Every time, duration, number and name in a sentence must occur in the records that
 * the sentence cites, or follow from them, and no two parts of the document may contradict each other.
 */
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import type { Postmortem, Sentence } from '../../src/domain/postmortem/document.ts'
import { groupFacts, senderOf } from '../../src/domain/postmortem/groups.ts'
import {
  formatCount,
  formatScore,
  formatSeconds,
  formatTime,
  secondsBetween,
  serviceName,
} from '../../src/domain/text.ts'

/** `2026-03-14 02:11:09 UTC`, or the time alone at the end of a period. */
const TIME = /(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d(?: UTC)?/g
const DAY = /\b\d{4}-\d\d-\d\d\b/g
const DURATION = /\b\d+ (?:d|h|min|s)\b(?: \d+ (?:h|min|s)\b)*/g
const QUOTE = /“[^”]*”/g
const NUMBER = /(?<![\w.#@/-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w/-])/g
/** A name has a character that no word of a sentence has, or a capital letter inside. */
const NAME = /[\w.@#/:-]*(?:[/#@_]|\w-\w*\d|[a-z\d][A-Z])[\w.@#/:-]*\w/g
/** Numbers that belong to the wording. */
const FIXED = new Set(['100', '30', '90', '1', '0'])

/** Returns every sentence with something that its evidence does not show. */
export function unfoundedIn(facts: PostmortemFacts, document: Postmortem): string[] {
  const records = recordsOf(facts)
  const services = [facts.incident.service, ...facts.services].map(serviceName)
  const common = JSON.stringify([services, facts.rejectedEvidence])
  return sentencesOf(document).flatMap((sentence) => {
    const cited = sentence.refs.flatMap((ref) => records.get(ref) ?? [])
    const missing = sentence.refs.filter((ref) => !records.has(ref)).map((ref) => `no record ${ref}`)
    const known = evidenceOf(cited, facts, common)
    return [...missing, ...faultsOf(sentence.text, known)].map((fault) => `${fault}: ${sentence.text}`)
  })
}

type Known = ReturnType<typeof evidenceOf>

function faultsOf(text: string, known: Known): string[] {
  // Quoted text is what a sender wrote.
  const quotes = [...text.matchAll(QUOTE)].map(([quote]) => quote.slice(1, -1))
  let rest = text.replace(QUOTE, '“”')
  const faults = quotes.filter((quote) => !known.squeezed.includes(squeeze(quote))).map((quote) => `quote ${quote}`)
  for (const [time] of rest.matchAll(TIME)) {
    if (![...known.times].some((one) => formatTime(one).includes(time.replace(' UTC', '')))) faults.push(`time ${time}`)
  }
  rest = rest.replace(TIME, '')
  for (const [day] of rest.matchAll(DAY)) {
    if (![...known.times].some((one) => formatTime(one).startsWith(day))) faults.push(`day ${day}`)
  }
  rest = rest.replace(DAY, '')
  for (const [duration] of rest.matchAll(DURATION))
    if (!known.durations.has(duration)) faults.push(`duration ${duration}`)
  rest = rest.replace(DURATION, '')
  for (const [name] of rest.matchAll(NAME)) if (!known.text.includes(name)) faults.push(`name ${name}`)
  rest = rest.replace(NAME, '')
  for (const [number] of rest.matchAll(NUMBER)) {
    if (!FIXED.has(number) && !known.numbers.has(number) && !isIn(known.text, number)) faults.push(`number ${number}`)
  }
  return faults
}

function evidenceOf(cited: readonly unknown[], facts: PostmortemFacts, common: string) {
  const numbers = numbersIn([...cited, facts.searched, { since: facts.recordedSince }])
  const times = new Set(numbers.filter((one) => one > 1e11))
  const near = [...times].slice(0, 300)
  const spans = near.flatMap((from) => near.map((to) => Math.abs(secondsBetween(from, to))))
  const { critical, lastedMs = 0 } = facts.incident
  const { mutedMs = 0 } = critical
  const text = `${JSON.stringify(cited)}${common}`
  const objects = text.match(/"(?:Pod|Node)\/[^"]+"|"nodes":\[[^\]]*\]/g) ?? []
  const counts = Array.from(
    { length: cited.length + objects.length * 3 + facts.entries.length + 1 },
    (_, count) => count,
  )
  return {
    text,
    squeezed: squeeze(JSON.stringify(cited).replaceAll('\\"', '"')),
    times,
    durations: new Set(
      [...spans, ...[critical.ms, lastedMs, mutedMs, critical.ms + mutedMs].map((ms) => Math.floor(ms / 1000))].map(
        formatSeconds,
      ),
    ),
    numbers: new Set([
      ...[...numbers, ...counts, numbers.filter((one) => one < 1e6).reduce((sum, one) => sum + one, 0)].map(
        formatCount,
      ),
      ...numbers.filter((one) => one <= 1).map(formatScore),
      ...[facts.lowestScore ?? 0, facts.rejectedEvidence].map(String),
    ]),
  }
}

function isIn(text: string, number: string): boolean {
  return new RegExp(`(?<![\\w.-])${number}(?![\\w.-])`).test(text)
}

function squeeze(text: string): string {
  return text.replace(/\\[nrt]|\s+/g, ' ').replaceAll('  ', ' ')
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(numbersIn) : []
}

/** Returns what each reference stands for. A reference to an alert stands for its group. */
function recordsOf(facts: PostmortemFacts): ReadonlyMap<string, readonly unknown[]> {
  const records = new Map<string, unknown[]>()
  const add = (ref: string, record: unknown) => records.set(ref, [...(records.get(ref) ?? []), record])
  const { incident, entries, lowestScore, component, generatedAt } = facts
  add(`incident/${incident.uuid}`, { ...incident, entries, lowestScore, component, generatedAt })
  for (const alert of groupFacts(facts.alerts)) {
    add(alert.ref, { ...alert, sender: senderOf(alert) })
    if (alert.unheard) add(alert.unheard.ref, alert.unheard)
  }
  for (const event of facts.events) {
    add(`event/${event.uuid}`, event)
    if (event.alertId !== null) add(`alert/${event.alertId}`, event)
  }
  for (const change of [...facts.changes, ...facts.suspects.flatMap((suspect) => suspect.change ?? [])])
    add(`event/${change.eventId}`, { ...change, name: `${change.kind} ${change.ref}`, sha: change.sha?.slice(0, 8) })
  for (const link of facts.correlations) add(`correlation/${link.uuid}`, { ...link, suspects: facts.suspects })
  for (const one of [
    ...facts.onNode,
    ...facts.earlier,
    ...(facts.meanwhile ?? []),
    ...(facts.merged ?? []),
    ...[component?.incident ?? []].flat(),
  ])
    add(one.ref, one)
  return records
}

function sentencesOf(document: Postmortem): readonly Sentence[] {
  const { summary, impact, detection, contributing, resolution, metrics, actions, recurrence, rootCause } = document
  return [
    ...[summary, impact, detection, contributing, resolution, recurrence].flatMap((section) => section.sentences),
    ...(summary.facts ?? []),
    ...contributing.changes.map(({ sentence }) => sentence),
    ...rootCause.hints,
    ...[metrics.ttd, metrics.tta, metrics.ttr].map(({ sentence }) => sentence),
    ...actions.flatMap(({ because }) => because ?? []),
  ]
}

/** Returns the contradictions within a document. */
export function contradictionsIn(document: Postmortem): string[] {
  const { summary, impact, detection, contributing, metrics, actions, timeline } = document
  const text = sentencesOf(document)
    .map((sentence) => sentence.text)
    .join('\n')
  const fact = new Map((summary.facts ?? []).map((one) => [one.label, one.text]))
  const says = (pattern: RegExp) => pattern.test(text)
  const isAcknowledged = metrics.tta.seconds !== null
  const actedOn = timeline.some(({ code }) => code === 'acknowledged')
  const isCritical = says(/was critical (?:from|for(?! [^.]* of that time)|at)|had been critical| fired (?:from|for)/)
  const faults: [boolean, string][] = [
    [isCritical && says(/was not critical|The incident lasted/), 'critical and not critical'],
    [isCritical && /not critical/.test(fact.get('Critical for') ?? ''), 'the fact says not critical'],
    [
      isCritical &&
        (impact.seconds ?? 0) > 0 &&
        !fact
          .get('Critical for')
          ?.replace('at least ', '')
          .startsWith(formatSeconds(impact.seconds ?? 0)),
      'two durations of the critical state',
    ],
    [
      says(/Nobody acknowledged the incident before .{0,200} resolved it/) && (isAcknowledged || actedOn),
      'acknowledged and not acknowledged',
    ],
    [says(/merged the incident into/) && says(/resolved the incident at/), 'merged and resolved'],
    [
      says(/lapsed when the problem came back/) && !says(/The problem came back|reopened the incident/),
      'a lapse without a return',
    ],
    [says(/ silenced(?: by [^(]+)? \(/) && says(/was not critical/), 'silenced and not critical'],
    [says(/ acknowledged the incident at/) && says(/Nobody acknowledged the incident\b/), 'acknowledged or not'],
    [
      isAcknowledged && !detection.sentences.some((one) => /(?<!Nobody) acknowledged /.test(one.text)),
      'the time to acknowledge',
    ],
    [
      says(/No alert was recorded/) && says(/The first symptom was|before the first symptom/),
      'a symptom without an alert',
    ],
    [/^no/.test(fact.get('Fix') ?? 'no') && says(/Probable fix:/), 'a fix and none'],
    [/^probably/.test(fact.get('Fix') ?? '') && !says(/Probable fix:/), 'a fix that no sentence names'],
    [/^no change was found/.test(fact.get('Cause') ?? '') && contributing.changes.length > 0, 'a cause and none'],
    [
      says(/No (?:other )?change that could have caused the incident was found/) && contributing.changes.length > 0,
      'related changes and none',
    ],
    [says(/no later deploy or rollout began/) && hasLaterDeploy(timeline), 'a later deploy and none'],
    [says(/no end had been reported/) && says(/The last alert ended/), 'an end and none'],
    [
      / after the incident was resolved\)/.test(fact.get('Critical for') ?? '') !==
        says(/ of them after the incident was resolved/),
      'a problem that went on after the resolution, or not',
    ],
    [
      /no end had been reported by/.test(text) && says(/ of them after the incident was resolved/),
      'a later end and none',
    ],
    [
      / may name it$/.test(fact.get('Fix') ?? '') && says(/No change that could have caused the incident/),
      'a cause elsewhere and none',
    ],
    [says(/for at least/) && (impact.to !== null || says(/still critical/)), 'an end, or none, that nobody reported'],
    [says(/for at least/) !== (fact.get('Critical for') ?? '').startsWith('at least'), 'a length that is one in part'],
    [says(/problem had not come back/) && says(/still firing/), 'over and firing'],
    [says(/recorded time of the resolution/), 'two times of one resolution'],
    [says(/×\d/) && says(/for example/), 'a count beside its example'],
    [
      says(/for at least/) &&
        timeline.at(-1)?.kind !== 'ended' &&
        lastMonitoring(timeline) === 'monitoring: the problem is over',
      'an end that nobody reported, and one',
    ],
    [
      timeline.some(({ kind }) => kind === 'silence') && says(/ silenced/) && !says(/ set (?:the|a) silence/),
      'a silence without its author',
    ],
    [
      metrics.ttr.definition.includes('incmon resolved') !== says(/incmon resolved the incident at/) &&
        metrics.ttr.definition.includes('incmon resolved'),
      'a resolution by incmon, and none',
    ],
    [says(/ confirmed (?:pipeline|rollout) /) && says(/Nobody has confirmed it/), 'confirmed and not confirmed'],
    [actions.some(({ id }) => id === 'paging') && (metrics.tta.seconds ?? 901) <= 900, 'paging although answered'],
    [
      timeline.some((row, index) => row.text.startsWith('Killing: ') && hasRolloutBefore(timeline, index)),
      'a rollout and what it killed',
    ],
    [(metrics.ttr.seconds ?? 0) < 0 || (metrics.ttd.seconds ?? 0) < 0, 'a negative duration'],
  ]
  return faults.flatMap(([isWrong, fault]) => (isWrong ? [fault] : []))
}

function lastMonitoring(timeline: Postmortem['timeline']): string | undefined {
  return timeline.findLast(({ kind, code }) => kind === 'status' && code === 'monitoring')?.text
}

/** Returns whether a rollout of its workload began within 15 minutes before a killed container. */
function hasRolloutBefore(timeline: Postmortem['timeline'], index: number): boolean {
  const { at, text = '' } = timeline[index] ?? { at: '' }
  return timeline.some(({ kind, text: other, at: begun }) => {
    const workload = /\/([^/@]+)@/.exec(other)?.[1]
    const lag = Date.parse(at) - Date.parse(begun)
    return kind === 'rollout' && lag >= 0 && lag <= 15 * 60_000 && text.includes(`Pod/${workload}-`)
  })
}

function hasLaterDeploy(timeline: Postmortem['timeline']): boolean {
  const failed = timeline.findLast(
    ({ kind, text }) => kind === 'pipeline' && /: deploy failed|began; it failed/.test(text),
  )
  const isDeploy = ({ kind, text }: Postmortem['timeline'][number]) =>
    kind === 'rollout' || (kind === 'pipeline' && /: deployed|began; it succeeded/.test(text))
  return failed !== undefined && timeline.some((row) => row.at > failed.at && isDeploy(row))
}
