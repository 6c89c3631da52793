/** The graph of an incident from Prometheus: when it is fetched, by which query, and how the response is read. */

import { rank, type Severity } from '../severity.ts'
import { DAY, MINUTE } from '../units.ts'

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

/**
 * The graph of an incident. `alertId` is the alert's UUID. Times are in ms UTC. At least one of `graph` and `fault` is
 * set.
 */
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

/** A comparison of an expression with a number, such as `> 0.5`. */
type Threshold = { readonly operator: string; readonly value: number }

/** Times are in ms UTC. `stepMs` is the distance between two points. */
export type Query = {
  /** The expression of the rule. */
  readonly rule: string
  /** The expression without its comparison with a number. The graph then also shows values that do not fire. */
  readonly expression: string
  readonly threshold: Threshold | null
  readonly from: number
  readonly to: number
  readonly stepMs: number
}

export const MAX_POINTS = 200
const MAX_SERIES = 10
const MAX_EXPRESSION = 10_000
/** How long before the start of the incident the graph begins. */
const LEAD = 30 * MINUTE
const LEAST_STEP = 15_000

/** Returns the expression of a rule from the URL that Prometheus sends with its alerts, or null. */
export function expressionIn(generatorUrl: string): string | null {
  const expression = URL.parse(generatorUrl)?.searchParams.get('g0.expr')?.trim() ?? ''
  return expression === '' || expression.length > MAX_EXPRESSION ? null : expression
}

type DrawableAlert = { readonly severity: Severity; readonly startsAt: number; readonly generator: string }

/** Returns the most severe alert with an expression, and of equally severe alerts the first. */
export function alertToDraw<Alert extends DrawableAlert>(alerts: readonly Alert[]): Alert | null {
  const drawable = alerts.filter(({ generator }) => expressionIn(generator) !== null)
  return drawable.reduce<Alert | null>((best, one) => {
    if (!best) return one
    const worse = rank(one.severity) - rank(best.severity)
    return worse > 0 || (worse === 0 && one.startsAt < best.startsAt) ? one : best
  }, null)
}

/** Returns the query for a rule, from half an hour before the start until the end, with at most 200 points. */
export function queryOf(rule: string, startsAt: number, until: number): Query {
  const from = startsAt - LEAD
  const to = Math.max(until, startsAt + MINUTE)
  const stepMs = Math.max(LEAST_STEP, Math.ceil((to - from) / (MAX_POINTS - 1) / 1000) * 1000)
  return { rule, ...splitThreshold(rule), from, to, stepMs }
}

const COMPARISON = /^([\s\S]*?[^\s<>=!~])\s*(==|!=|>=|<=|>|<)\s*(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)$/i

/** Splits `rate(x[5m]) > 0.5` into `rate(x[5m])` and the threshold. Expressions with `and`, `or`, `unless` stay whole. */
function splitThreshold(rule: string): Pick<Query, 'expression' | 'threshold'> {
  const whole = { expression: rule, threshold: null }
  const [, expression = '', operator = '', value = ''] = COMPARISON.exec(rule) ?? []
  if (expression === '' || !isSimple(expression) || !Number.isFinite(Number(value))) return whole
  return { expression, threshold: { operator, value: Number(value) } }
}

/** Returns whether all brackets are closed and no operator binds less than a comparison. */
function isSimple(expression: string): boolean {
  const code = expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g, '')
  if (/["'`#]/.test(code) || /\b(?:and|or|unless|bool)\b/i.test(code)) return false
  const depth = (open: string, close: string) => code.split(open).length - code.split(close).length
  return depth('(', ')') === 0 && depth('[', ']') === 0 && depth('{', '}') === 0
}

/** Times are in ms UTC. `tries`: the number of failed requests since the last success. */
export type GraphState = {
  readonly createdAt: number
  readonly resolvedAt: number | null
  readonly askedAt: number | null
  readonly tries: number
}

/** Older incidents get no graph, because an installation can have thousands of them. */
export const MAX_AGE = DAY
const AGAIN = 5 * MINUTE
const RETRY_AFTER = [MINUTE, 5 * MINUTE, 15 * MINUTE] as const
/** How long after the end the last graph is fetched, so that the graph shows the recovery. */
const TAIL = 2 * MINUTE

export function isGraphDue({ createdAt, resolvedAt, askedAt, tries }: GraphState, now: number): boolean {
  if (askedAt === null) return now - createdAt < MAX_AGE
  if (tries > 0) {
    const wait = RETRY_AFTER[tries - 1]
    return wait !== undefined && now - askedAt >= wait
  }
  if (resolvedAt !== null) return askedAt < resolvedAt + TAIL && now >= resolvedAt + TAIL
  return now - createdAt < MAX_AGE && now - askedAt >= AGAIN
}

/** Returns the end of the period that the graph shows. */
export function graphEnd({ resolvedAt }: Pick<GraphState, 'resolvedAt'>, now: number): number {
  return resolvedAt === null ? now : Math.min(now, resolvedAt + TAIL)
}
