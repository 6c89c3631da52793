/** Which graph belongs to an incident: the expression of the alert that explains it best, and the period. */
import { rank, type Severity } from '../severity.ts'
import { MINUTE } from '../units.ts'

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
export const MAX_SERIES = 10
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
  if (expression === '' || !isSimple(expression)) return whole
  return { expression, threshold: { operator, value: Number(value) } }
}

/** Returns whether all brackets are closed and no operator binds less than a comparison. */
function isSimple(expression: string): boolean {
  const code = expression.replace(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`[^`]*`/g, '')
  if (/["'`#]/.test(code) || /\b(?:and|or|unless|bool)\b/i.test(code)) return false
  const depth = (open: string, close: string) => code.split(open).length - code.split(close).length
  return depth('(', ')') === 0 && depth('[', ']') === 0 && depth('{', '}') === 0
}
