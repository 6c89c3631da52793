/** Reads the query parameters of Alertmanager's API. */
import type { Context } from 'hono'
import { costOf, MAX_COST } from '../../domain/silence/expression.ts'
import { labelTest, type Matcher, matcherFault, type Operator } from '../../domain/silence/matcher.ts'
import { refusal } from './route.ts'

/** A name is quoted, or has no operators, quotes, commas, braces or spaces. */
const MATCHER = /^\s*("(?:[^"\\]|\\.)+"|[^\s=!~,"'`\\{}]+)\s*(=~|!=|!~|=)\s*([\s\S]*?)\s*$/

/**
 * Parses one matcher by the rules of Alertmanager's `labels.ParseMatcher`, such as `alertname=~"Kube.*"`.
 * @throws Refusal 400
 */
function parseMatcher(text: string): Matcher {
  const [, name, op, raw] = MATCHER.exec(text) ?? []
  if (name === undefined || op === undefined || raw === undefined) throw refusal(400, `bad matcher format: ${text}`)
  const matcher = {
    name: name.startsWith('"') ? unescaped(name.slice(1, -1)) : name,
    op: op as Operator,
    value: unquoted(raw),
  }
  const fault = matcherFault(matcher)
  if (fault !== null) throw refusal(400, `bad matcher ${text}: ${fault}`)
  return matcher
}

function unquoted(raw: string): string {
  const isQuoted = raw.startsWith('"')
  const text = isQuoted ? raw.slice(1) : raw
  const firstQuote = text.replace(/\\[\s\S]/g, '..').indexOf('"')
  if (firstQuote !== (isQuoted ? text.length - 1 : -1)) {
    throw refusal(400, `matcher value contains unescaped double quote: ${raw}`)
  }
  return unescaped(isQuoted ? text.slice(0, -1) : text)
}

/** Only `\n`, `\"` and `\\` are escapes. */
function unescaped(text: string): string {
  return text.replace(/\\([n"\\])/g, (_, character: string) => (character === 'n' ? '\n' : character))
}

/** Returns the matchers of a repeatable parameter. @throws Refusal 400 */
export function matchersIn(c: Context, name: 'filter' | 'receiver_matchers'): Matcher[] {
  const texts = c.req.queries(name) ?? []
  if (texts.reduce((sum, text) => sum + costOf(text), 0) > MAX_COST) throw refusal(400, `${name}: too large`)
  return texts.map(parseMatcher)
}

const TRUE = new Set(['true', '1', 'yes', 'ok', 'y', 'on', 'selected', 'checked', 't', 'enabled'])

/** Returns a flag. The default is true. Every unknown word is false, as in Alertmanager. */
export function flag(c: Context, name: string): boolean {
  const word = c.req.query(name)
  return word === undefined || word === '' || TRUE.has(word.toLowerCase())
}

/**
 * Returns the matcher for the names of receivers: `receiver` must match the whole name. Returns null if every receiver
 * is wanted, and `none` if none can match.
 * @throws Refusal 400
 */
export function receiverIn(c: Context): Matcher | null | 'none' {
  const value = c.req.query('receiver') ?? ''
  // Our receivers have no labels.
  const isOfAny = labelTest(matchersIn(c, 'receiver_matchers'))({})
  const matcher = { name: 'receiver', op: '=~' as const, value }
  const fault = value === '' ? null : matcherFault(matcher)
  if (fault !== null) throw refusal(400, `failed to parse receiver param: ${fault}`)
  if (!isOfAny) return 'none'
  return value === '' ? null : matcher
}
