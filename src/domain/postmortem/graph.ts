/** The graph of the alert as Markdown: a row with the course and the values of each series. */
import type { Graph, GraphRecord } from '../graph/graph.ts'
import { faultText, formatValue, scopeText, seriesTexts } from '../graph/words.ts'
import { formatCount, formatTime } from '../text.ts'
import { plain, table } from './escape.ts'

/** The stored graph of an incident. `startedAt`: when the incident started, in ms UTC. */
export type OwnGraph = { readonly found: GraphRecord; readonly startedAt: number }

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
