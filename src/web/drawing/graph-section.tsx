/** The section with the graph of an alert, or why there is none. */
import type { FC } from 'hono/jsx'
import type { Graph, GraphRecord, Series } from '../../domain/graph/graph.ts'
import { faultText, formatValue, scopeText } from '../../domain/graph/words.ts'
import { formatClock, formatWhen, type Reader } from '../../domain/shown-time.ts'
import { formatCount } from '../../domain/text.ts'
import { getFrame } from '../kit/frame.ts'
import { position, rounded, timeTicks } from './scale.ts'

type Props = { readonly found: GraphRecord | null; readonly startsAt: number }

/** Shows nothing if no alert has an expression, or if no Prometheus is configured. */
export const GraphSection: FC<Props> = ({ found, startsAt }) =>
  found === null ? null : (
    <section aria-labelledby="graph">
      <div class="head">
        <h2 id="graph">Graph</h2>
        <span class="second">{secondText(found, getFrame())}</span>
      </div>
      <div class="card picture">
        {found.graph === null ? null : (
          <>
            <p class="break">
              <code>{found.graph.rule}</code>
            </p>
            {found.graph.series.length === 0 ? (
              <p class="empty">Prometheus has no data for this expression.</p>
            ) : (
              <GraphPicture graph={found.graph} startsAt={startsAt} zone={getFrame().zone} />
            )}
          </>
        )}
        {found.fault === null ? null : <p class="empty">{faultText(found)}</p>}
      </div>
    </section>
  )

function secondText({ fetchedAt, graph }: GraphRecord, reader: Reader): string {
  return graph === null || fetchedAt === null ? '' : `from Prometheus, ${formatWhen(fetchedAt, reader)}`
}

const HEIGHT = 172
const TOP = 12
const BOTTOM = 148
/** The width of the coordinate system of the lines. The picture stretches it to its own width. */
const WIDTH = 1000

/** The range of the values, with the threshold, and never empty. */
type Range = { readonly least: number; readonly most: number }

export const GraphPicture: FC<{ graph: Graph; startsAt: number; zone: string }> = ({ graph, startsAt, zone }) => {
  const range = rangeOf(graph)
  const { threshold, series } = graph
  const startX = `${position(startsAt, graph)}%`
  return (
    <figure class="graph" aria-label={graphText(graph, zone)}>
      <svg width="100%" height={HEIGHT} class="lanes-plot">
        {[range.most, range.least].map((value) => (
          <>
            <line class="lanes-grid" x1="0" x2="100%" y1={heightOf(value, range)} y2={heightOf(value, range)} />
            <text class="histogram-count" x="0" y={heightOf(value, range) - 3}>
              {formatValue(value)}
            </text>
          </>
        ))}
        <line class="graph-start" x1={startX} x2={startX} y1={TOP} y2={BOTTOM} />
        {threshold === null ? null : (
          <line
            class="graph-threshold"
            x1="0"
            x2="100%"
            y1={heightOf(threshold.value, range)}
            y2={heightOf(threshold.value, range)}
          />
        )}
        <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} width="100%" height={HEIGHT} preserveAspectRatio="none">
          {series.map((one, index) => (
            <path class={`graph-line graph-line-${index}`} d={pathOf(one, graph, range)} />
          ))}
        </svg>
        {timeTicks(graph, 840, zone).map(({ x, label }, index) => (
          <text class={`lanes-tick ${index % 2 === 1 ? 'only-wide' : ''}`} x={`${x}%`} y={BOTTOM + 17}>
            {label}
          </text>
        ))}
      </svg>
      <Legend graph={graph} />
      {scopeText(graph) === null ? null : <p class="second">{scopeText(graph)}</p>}
    </figure>
  )
}

const Legend: FC<{ graph: Graph }> = ({ graph: { series, more, threshold } }) => (
  <ul class="graph-legend second">
    {series.map(({ name, points }, index) => (
      <li class="break">
        <svg class="graph-key" width="16" height="8" aria-hidden="true">
          <path class={`graph-line graph-line-${index}`} d="M0 4H16" />
        </svg>{' '}
        <code>{name}</code> {points.length === 0 ? 'no points' : formatValue(points.at(-1)?.[1] ?? 0)}
      </li>
    ))}
    {more > 0 ? <li>and {formatCount(more)} more series</li> : null}
    {threshold === null ? null : (
      <li>
        <svg class="graph-key" width="16" height="8" aria-hidden="true">
          <line class="graph-threshold" x1="0" x2="16" y1="4" y2="4" />
        </svg>{' '}
        fires if {threshold.operator} {formatValue(threshold.value)}
      </li>
    )}
  </ul>
)

function rangeOf({ series, threshold }: Graph): Range {
  const values = series.flatMap(({ points }) => points.map(([, value]) => value))
  const all = threshold === null ? values : [...values, threshold.value]
  const least = all.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
  const most = all.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY)
  if (!(most >= least)) return { least: 0, most: 1 }
  if (most === least) return aroundOf(most)
  return { least: least > 0 && least < most / 2 ? 0 : least, most }
}

/** Near the largest numbers, adding 1 changes nothing. */
function aroundOf(value: number): Range {
  const margin = Math.max(1, Math.abs(value) / 1e6)
  return { least: value - margin, most: value + margin }
}

/** Compares numbers from -1 to 1, because the difference of two very large ones can be infinite. */
function heightOf(value: number, { least, most }: Range): number {
  const scale = Math.max(Math.abs(least), Math.abs(most))
  const share = (value / scale - least / scale) / (most / scale - least / scale)
  return rounded(BOTTOM - Math.min(1, Math.max(0, share)) * (BOTTOM - TOP))
}

/** Draws a line through the points. A missing point interrupts the line. */
function pathOf({ points }: Series, graph: Graph, range: Range): string {
  const steps = points.map(([at, value], index) => {
    const before = points[index - 1]
    const isNew = !before || at - before[0] > graph.stepMs * 1.5
    const isAlone = isNew && (points[index + 1]?.[0] ?? Number.POSITIVE_INFINITY) - at > graph.stepMs * 1.5
    const x = rounded((position(at, graph) / 100) * WIDTH)
    return `${isNew ? 'M' : 'L'}${x} ${heightOf(value, range)}${isAlone ? 'h2' : ''}`
  })
  return steps.join('')
}

/** Describes the graph in words. */
function graphText({ expression, series, from, to }: Graph, zone: string): string {
  const period = `from ${formatClock(from, zone)} to ${formatClock(to, zone)}`
  return `${expression}, ${period}: ${formatCount(series.length)} series`
}
