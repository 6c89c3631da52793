/** Renders a postmortem as Markdown. */

import type { Graph, GraphRecord } from '../graph/graph.ts'
import { faultText, formatValue, scopeText, seriesTexts } from '../graph/words.ts'
import { actorOf, detailsText, type TimelineRowText } from '../incident/timeline-rows.ts'
import { isOnlyTime, likelihoodOf } from '../suspect/likely-cause.ts'
import { formatCount, formatDay, formatScore, formatTime, formatUtcClock } from '../text.ts'
import type { Action, Contribution, Postmortem, Sentence } from './document.ts'
import { link, plain, prose, rich, table } from './escape.ts'
import { METRIC_NAMES } from './metrics.ts'

/** The number of each record in the evidence section. */
type Numbers = ReadonlyMap<string, number>

const SCORES = 'The score, from 0 to 1, says how likely it is that the change caused the incident.'
const UNWRITTEN = { draft: '*To be filled in manually.*', final: '*Nothing was written.*' } as const

/**
 * Returns GitHub-flavored Markdown without HTML: times in UTC, durations in words, evidence as numbers (E1, E2…).
 * Untrusted text is escaped, and only http(s) links are kept. `graph`: the graph of the incident, if there is one.
 */
export function markdown(postmortem: Postmortem, graph: OwnGraph | null = null): string {
  const numbers: Numbers = new Map(postmortem.evidence.records.map(({ ref }, index) => [ref, index + 1]))
  const { summary, detection, resolution, recurrence, rootCause, lessons } = postmortem
  const written = (text: string | null) => (text ? prose(text) : UNWRITTEN[postmortem.header.state])
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['Summary', [told(summary.sentences, numbers), ...(summary.addition ? [prose(summary.addition)] : [])]],
    ...(graph === null ? [] : [['Graph', graphLines(graph)] as const]),
    ['Impact', impactOf(postmortem, numbers)],
    ['Detection', [items(detection.sentences, numbers)]],
    ['Timeline', [timelineOf(postmortem.timeline, numbers)]],
    ['Contributing factors', contributingOf(postmortem, numbers)],
    ['Root cause', [written(rootCause.text), ...hintsOf(rootCause.hints, numbers)]],
    ['Recovery', [items(resolution.sentences, numbers)]],
    ['Figures', [metricsOf(postmortem.metrics, numbers)]],
    ['What went well', [written(lessons.wentWell)]],
    ['What went badly', [written(lessons.wentBadly)]],
    ['Where we were lucky', [written(lessons.lucky)]],
    ['Action items', [actionsOf(postmortem.actions, numbers)]],
    ['Recurrence', [told(recurrence.sentences, numbers)]],
    ['Evidence', evidenceOf(postmortem, numbers)],
  ]
  const body = sections.map(([title, parts]) => [`## ${title}`, ...parts].join('\n\n'))
  return `${[headerOf(postmortem, numbers), ...body].join('\n\n')}\n`
}

function headerOf(postmortem: Postmortem, numbers: Numbers): string {
  const { header, summary } = postmortem
  const added = hasAdditions(postmortem) ? '; what people wrote can be newer' : ''
  const facts = [
    ...(summary.facts ?? []).map((fact) => `**${fact.label}:** ${marked(fact, numbers)}`),
    ...(header.number === undefined ? [] : [`Incident: ${header.number}`]),
    `Severity: ${header.severity}`,
    `Services: ${plain(header.services.join(', '))}`,
    `State: ${header.state}, revision ${header.revision}`,
    `Generated: ${formatTime(Date.parse(header.generatedAt))}${added}`,
  ]
  return `# Postmortem: ${plain(header.title)}\n\n${facts.map((fact) => `- ${fact}`).join('\n')}`
}

/** Returns whether people wrote parts of the document. */
function hasAdditions({ summary, impact, rootCause, lessons, actions }: Postmortem): boolean {
  const texts = [summary.addition, impact.customers, rootCause.text, ...Object.values(lessons)]
  return texts.some(Boolean) || actions.some(({ because }) => because === null)
}

function impactOf({ impact, header }: Postmortem, numbers: Numbers): readonly string[] {
  return [
    items(impact.sentences, numbers),
    `**Customers:** ${impact.customers ? '' : UNWRITTEN[header.state]}`.trim(),
    ...(impact.customers ? [prose(impact.customers)] : []),
  ]
}

function timelineOf(rows: readonly TimelineRowText[], numbers: Numbers): string {
  if (rows.length === 0) return 'Nothing was recorded.'
  const cells = rows.map((row) => [
    zonelessTime(Date.parse(row.at)),
    `${(row.kind === 'note' ? rich : plain)(row.text)}${detailsText(row, (at) => shortTime(at, Date.parse(row.at)))}`,
    plain(actorOf(row)),
    cited([row.ref], numbers),
  ])
  return table(['Time (UTC)', 'What happened', 'By', 'Evidence'], cells)
}

function contributingOf({ contributing }: Postmortem, numbers: Numbers): readonly string[] {
  const { changes, sentences } = contributing
  const ranked = changes.map((change) => contributionOf(change, numbers)).join('\n')
  return [...(changes.length > 0 ? [SCORES, ranked] : []), ...(sentences.length > 0 ? [told(sentences, numbers)] : [])]
}

function contributionOf({ sentence, score, verdict, reasons }: Contribution, numbers: Numbers): string {
  const likelihood = likelihoodOf({ score, onlyTime: isOnlyTime(reasons) })
  const judged = verdict === 'confirmed' ? 'confirmed as the cause' : `score ${formatScore(score)}, ${likelihood}`
  const lines = reasons.map(({ text }) => `  - ${plain(text)}`)
  return [`- **${judged}:** ${marked(sentence, numbers)}`, ...lines].join('\n')
}

function hintsOf(hints: readonly Sentence[], numbers: Numbers): readonly string[] {
  return hints.length === 0 ? [] : ['Usual meaning:', items(hints, numbers)]
}

function metricsOf(metrics: Postmortem['metrics'], numbers: Numbers): string {
  const rows = (['ttd', 'tta', 'ttr'] as const).map((name) => {
    const { definition, sentence } = metrics[name]
    return [name.toUpperCase(), marked(sentence, numbers), plain(`${METRIC_NAMES[name]}: ${definition}`)]
  })
  return table(['Figure', 'Value', 'Definition'], rows)
}

function actionsOf(actions: readonly Action[], numbers: Numbers): string {
  if (actions.length === 0) return 'No action items were suggested.'
  const rows = actions.map(({ text, because, owner, due, state }) => [
    plain(text),
    because ? marked(because, numbers) : '',
    owner ? plain(owner) : '',
    due ? plain(due) : '',
    state,
  ])
  return table(['Action', 'Because', 'Owner', 'Due', 'State'], rows)
}

function evidenceOf({ evidence }: Postmortem, numbers: Numbers): readonly string[] {
  const records = evidence.records.map(({ ref, text, labels, links }) => {
    const pairs = Object.entries(labels).map(([name, value]) => plain(`${name}=${value}`))
    const found = Object.entries(links).map(([name, address]) => link(name, address))
    const what = [text === null ? [] : plain(text), pairs.join(', ') || [], found.join(', ') || []].flat().join('; ')
    return `- ${cited([ref], numbers)}: ${what === '' ? '' : `${what}; `}\`${ref.replace(/[^\w/-]/g, '')}\``
  })
  return [records.join('\n'), ...(evidence.sentences.length > 0 ? [told(evidence.sentences, numbers)] : [])]
}

function items(sentences: readonly Sentence[], numbers: Numbers): string {
  return sentences.map((sentence) => `- ${marked(sentence, numbers)}`).join('\n')
}

function told(sentences: readonly Sentence[], numbers: Numbers): string {
  return sentences.map((sentence) => marked(sentence, numbers)).join(' ')
}

/** Returns the sentence with references to its evidence before the final period. */
function marked({ text, refs }: Sentence, numbers: Numbers): string {
  const numbered = cited(refs, numbers)
  if (numbered === '') return plain(text)
  return text.endsWith('.') ? `${plain(text.slice(0, -1))} (${numbered}).` : `${plain(text)} (${numbered})`
}

/** Formats references as `E1` or `E2, E5–E8`. */
function cited(refs: readonly string[], numbers: Numbers): string {
  const cited = [...new Set(refs)].flatMap((ref) => numbers.get(ref) ?? []).sort((a, b) => a - b)
  const runs: { from: number; to: number }[] = []
  for (const number of cited) {
    const run = runs.at(-1)
    if (run && number === run.to + 1) run.to = number
    else runs.push({ from: number, to: number })
  }
  return runs
    .map(({ from, to }) => (from === to ? `E${from}` : to === from + 1 ? `E${from}, E${to}` : `E${from}–E${to}`))
    .join(', ')
}

function zonelessTime(at: number): string {
  return `${formatDay(at)} ${formatUtcClock(at)}`
}

/** Formats the time of day. Adds the date if it differs from the date of `first`. */
function shortTime(at: number, first: number): string {
  return formatDay(at) === formatDay(first) ? formatUtcClock(at) : zonelessTime(at)
}

// The graph of the alert as Markdown: a row with the course and the values of each series.

/** The stored graph of an incident. `startedAt`: when the incident started, in ms UTC. */
type OwnGraph = { readonly found: GraphRecord; readonly startedAt: number }

export function graphLines({ found, startedAt }: OwnGraph): readonly string[] {
  const { graph, fault, fetchedAt } = found
  return [
    ...(graph === null ? [] : pictureOf(graph, startedAt, fetchedAt)),
    ...(fault === null ? [] : [plain(faultText({ graph, fault }))]),
  ]
}

/** The values end when they were read, even if the period of the graph ends later. */
function pictureOf(graph: Graph, startedAt: number, fetchedAt: number | null): readonly string[] {
  const { rule, threshold, series, more, from, to } = graph
  const fires =
    threshold === null
      ? ''
      : ` The alert fires if the value is ${plain(`x ${threshold.operator}`).slice(2)} ${formatValue(threshold.value)}.`
  const read = fetchedAt === null ? '' : `, read at ${formatTime(fetchedAt)}`
  const until = formatTime(Math.min(to, fetchedAt ?? to))
  const period = `The values of ${plain(rule)} in Prometheus, ${formatTime(from)} to ${until}${read}.${fires}`
  if (series.length === 0) return [period, 'Prometheus has no data for this expression.']
  const rows = seriesTexts(graph, startedAt).map((one) => [
    plain(one.name),
    `\`${one.course}\``,
    ...[one.atStart, one.least, one.most, one.last],
  ])
  const head = ['Series', 'Course', 'At the start', 'Least', 'Most', 'Last']
  const scope = scopeText(graph)
  return [
    period,
    table(head, rows),
    ...(more > 0 ? [`There are ${formatCount(more)} more series.`] : []),
    ...(scope === null ? [] : [scope]),
  ]
}
