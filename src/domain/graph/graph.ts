/** Reads the response of Prometheus to a `query_range` request. */
import { MAX_POINTS, MAX_SERIES, type Query } from './query.ts'

/** A point: the time in ms UTC and the value. */
type Point = readonly [at: number, value: number]

export type Series = { readonly name: string; readonly points: readonly Point[] }

export type Graph = Query & {
  readonly series: readonly Series[]
  /** How many more series Prometheus returned. */
  readonly more: number
}

/** Why there is no graph. `detail` is in the words of Prometheus, or null. */
export type GraphFault = { readonly code: 'refused' | 'unreadable'; readonly detail: string | null }

/** The graph of an incident. `alertId` is the alert's UUID. Times are in ms UTC. At least one of `graph` and `fault` is set. */
export type GraphRecord = {
  readonly alertId: string
  readonly graph: Graph | null
  /** When the points were fetched. */
  readonly fetchedAt: number | null
  /** Why the last request failed. Null if the last request succeeded. */
  readonly fault: string | null
}

const MAX_NAME = 200
const MAX_DETAIL = 300

/** Reads a response. Never throws, because the response comes from another program. */
export function readGraph(query: Query, response: unknown): Graph | GraphFault {
  const { status, error, data } = recordOf(response)
  if (status !== 'success')
    return { code: 'refused', detail: typeof error === 'string' ? cut(error, MAX_DETAIL) : null }
  const { result, resultType } = recordOf(data)
  if (resultType !== 'matrix' || !Array.isArray(result)) return { code: 'unreadable', detail: null }
  const shown = result.slice(0, MAX_SERIES).map(recordOf)
  const common = commonLabels(shown.map(({ metric }) => textsOf(metric)))
  const series = shown.map(({ metric, values }) => ({
    name: nameOf(textsOf(metric), common),
    points: pointsOf(values),
  }))
  return { ...query, series, more: result.length - shown.length }
}

export function isFault(read: Graph | GraphFault): read is GraphFault {
  return 'code' in read
}

function pointsOf(values: unknown): Point[] {
  if (!Array.isArray(values)) return []
  return values.slice(0, MAX_POINTS).flatMap((pair: unknown): Point[] => {
    if (!Array.isArray(pair)) return []
    const [at, value] = [Number(pair[0]) * 1000, Number(pair[1])]
    return Number.isFinite(at) && Number.isFinite(value) ? [[at, value]] : []
  })
}

/** The labels that all series have with equal values. They would only make the names of the series longer. */
function commonLabels(all: readonly ReadonlyMap<string, string>[]): ReadonlySet<string> {
  const [first = new Map<string, string>(), ...others] = all
  if (others.length === 0) return new Set()
  return new Set([...first.keys()].filter((name) => others.every((labels) => labels.get(name) === first.get(name))))
}

function nameOf(labels: ReadonlyMap<string, string>, common: ReadonlySet<string>): string {
  const own = [...labels]
    .filter(([name]) => name !== '__name__' && !common.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const metric = common.has('__name__') ? '' : (labels.get('__name__') ?? '')
  const text = own.length === 0 ? metric : `${metric}{${own.map(([name, value]) => `${name}="${value}"`).join(', ')}}`
  return cut(text === '' ? 'value' : text, MAX_NAME)
}

function textsOf(value: unknown): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(recordOf(value)).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  )
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}…`
}
