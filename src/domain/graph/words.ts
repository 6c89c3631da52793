/** A graph in words and characters, for texts without pictures. */
import type { Graph, GraphRecord, Series } from './graph.ts'

/** Formats a value with three digits: `0.0123`, `98.5`, `1.2 M`. */
export function formatValue(value: number): string {
  const [, divisor, unit] = UNITS.find(([least]) => Math.abs(value) >= least) ?? [0, 1, '']
  return `${Number((value / divisor).toPrecision(3))}${unit}`
}

/** Says that a graph of several series can show other services. Null for a single series. */
export function scopeText({ series, more }: Pick<Graph, 'series' | 'more'>): string | null {
  return series.length + more > 1 ? 'The expression selects these series. They can belong to other services.' : null
}

const UNITS = [
  [1e12, 1e12, ' T'],
  [1e9, 1e9, ' G'],
  [1e6, 1e6, ' M'],
  [1e4, 1e3, ' k'],
] as const

/** Says why the graph is missing or old. */
export function faultText({ graph, fault }: Pick<GraphRecord, 'graph' | 'fault'>): string {
  const what = graph === null ? 'There is no graph.' : 'The graph could not be updated.'
  return `${what} incmon could not get it from Prometheus: ${fault}.`
}

/** The values of a series. `course`: a bar for each of 40 equal periods, and a dot for a period without points. */
type SeriesText = { readonly name: string; readonly course: string } & Readonly<
  Record<'atStart' | 'least' | 'most' | 'last', string>
>

const PERIODS = 40
const BARS = '▁▂▃▄▅▆▇█'

/** Describes each series with points. `startedAt`: the start of the incident, in ms UTC. */
export function seriesTexts(graph: Graph, startedAt: number): readonly SeriesText[] {
  return graph.series.map((series) => {
    const values = series.points.map(([, value]) => value)
    const range = { least: Math.min(...values), most: Math.max(...values) }
    const before = series.points.findLast(([at]) => at <= startedAt) ?? series.points[0]
    const text = (value: number | undefined) => (value === undefined ? '' : formatValue(value))
    return {
      name: series.name,
      course: courseOf(series, graph, range),
      atStart: text(before?.[1]),
      least: text(values.length === 0 ? undefined : range.least),
      most: text(values.length === 0 ? undefined : range.most),
      last: text(values.at(-1)),
    }
  })
}

/** A period shows its largest value, or its smallest if the alert fires below a number. */
function courseOf({ points }: Series, { from, to, threshold }: Graph, range: { least: number; most: number }): string {
  const worst = threshold?.operator.startsWith('<') ? Math.min : Math.max
  const periods = new Map<number, number>()
  for (const [at, value] of points) {
    const period = Math.min(PERIODS - 1, Math.max(0, Math.floor(((at - from) / (to - from)) * PERIODS)))
    periods.set(period, worst(periods.get(period) ?? value, value))
  }
  return Array.from({ length: PERIODS }, (_, period) => barOf(periods.get(period), range)).join('')
}

/** Compares numbers from -1 to 1, because the difference of two very large ones can be infinite. */
function barOf(value: number | undefined, { least, most }: { least: number; most: number }): string {
  if (value === undefined) return '·'
  if (least === most) return BARS[0] ?? ''
  const scale = Math.max(Math.abs(least), Math.abs(most))
  const share = (value / scale - least / scale) / (most / scale - least / scale)
  return BARS[Math.round(share * (BARS.length - 1))] ?? ''
}
