/** The regular expressions of users, in RE2 syntax. Their cost is known before they are compiled. */
import { RE2JS } from 're2js'
import { BUDGETS } from '../budgets.ts'

/** The most that the expressions of a list of matchers, or of all rules, can cost. */
export const MAX_COST = BUDGETS.expressions.value

/** Compiling so much takes about 10 ms. Alternatives and repetitions can compile to less than they cost. */
const MOST = 4 * BUDGETS['expression-size'].value
/** A longer text is not read at all. In characters. */
const MOST_TEXT = 2_000
/** What a Unicode class such as `\pL` costs, because of its tables. It costs more if case does not matter. */
const CLASS = 25
const FOLDED = 200
/** What a range of other letters than ASCII costs if case does not matter, because RE2 looks at every letter. */
const FOLDED_RANGE = 3_000
/** An escape, a set, a repetition, or one character. */
const TOKEN =
  /\\[pPx]\{[^}]*\}|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*\]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g

/** Returns about how many instructions an expression compiles to, without compiling it. */
export function costOf(value: string): number {
  if (value.length > MOST_TEXT) return Number.POSITIVE_INFINITY
  const isFolded = /\(\?\w*i/.test(value)
  const sums = [0]
  let last = 0
  const add = (cost: number) => {
    last = cost
    sums.push((sums.pop() ?? 0) + cost)
  }
  for (const [token, least, most] of value.matchAll(TOKEN)) {
    if (token === '(') sums.push(0)
    else if (token === ')' && sums.length > 1) add(1 + (sums.pop() ?? 0))
    else if (least === undefined) add(1 + tablesOf(token, isFolded))
    else {
      const repeated = last * Math.max(Number(least), Number(most ?? 0))
      add(repeated - last)
      last = repeated
    }
  }
  return sums.reduce((all, sum) => all + sum, 0)
}

function tablesOf(token: string, isFolded: boolean): number {
  const classes = token.match(/\\p|\[:/gi)?.length ?? 0
  const isWide = isFolded && token.startsWith('[') && /[^ -~]|\\x/.test(token)
  return classes * (isFolded ? FOLDED : CLASS) + (isWide ? FOLDED_RANGE * (token.split('-').length - 1) : 0)
}

/** The expressions that were compiled last. `cost`: what they cost together. */
const known = { compiled: new Map<string, RE2JS>(), cost: 0 }
const MOST_KNOWN = 3 * MAX_COST

/** Compiles an expression, or returns null if that would take too long. @throws if its syntax is wrong */
export function compiled(value: string): RE2JS | null {
  const found = known.compiled.get(value)
  if (found) return found
  const cost = costOf(value)
  if (cost > MOST) return null
  const expression = RE2JS.compile(value, RE2JS.DOTALL)
  if (known.cost + cost > MOST_KNOWN) {
    known.compiled.clear()
    known.cost = 0
  }
  known.compiled.set(value, expression)
  known.cost += cost
  return expression
}
