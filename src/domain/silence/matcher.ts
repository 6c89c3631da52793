/**
 * Parses and compiles matchers in Alertmanager's syntax, such as `service="checkout"` or `severity=~"warning|info"`.
 */
import { BUDGETS } from '../budgets.ts'
import { IncmonError } from '../error.ts'
import { copyOf } from '../memoize.ts'
import { readPodName } from '../service/pod-name.ts'
import { compiled, costOf, MAX_COST } from './expression.ts'

export const OPERATORS = ['=', '!=', '=~', '!~'] as const
export type Operator = (typeof OPERATORS)[number]

export type Matcher = { readonly name: string; readonly op: Operator; readonly value: string }

/** A matcher with one of these names is compared with the label, the alert's own field, and any other names of its service. */
export const OWN_NAMES = ['service', 'namespace', 'cluster', 'source', 'severity', 'alertname'] as const
type OwnName = (typeof OWN_NAMES)[number]

/** The alert fields that matchers can match. A label with the same name as a field can also match. */
export type MatchedAlert = Readonly<Record<OwnName, string>> & {
  readonly labels: Readonly<Record<string, string>>
  /** The other names of its service, such as the one that it had before it was renamed. Only those that the labels contain count. */
  readonly aliases?: readonly string[] | undefined
}

export const MAX_MATCHERS = 20
export const MAX_NAME = 200
export const MAX_VALUE = 1_000

const MAX_SIZE = BUDGETS['expression-size'].value
const MAX_WORK = BUDGETS['expression-work'].value
const MAX_STEPS = BUDGETS['alert-work'].value
const MAX_TEXT = BUDGETS['expression-text'].value
const TOO_LARGE =
  'the regular expression is too large: use fewer alternatives or a smaller {repetition}, or write several silences'

/** Returns what is wrong with a matcher and how to fix it, or null if it is valid. */
export function matcherFault({ name, op, value }: Matcher): string | null {
  if (name === '' || name.length > MAX_NAME) return `the name must have 1 to ${MAX_NAME} characters`
  if (value.length > MAX_VALUE) return `the value is too long; at most ${MAX_VALUE} characters are allowed`
  if (op === '=' || op === '!=') return null
  try {
    return sizeOf(value) > MAX_SIZE ? TOO_LARGE : null
  } catch (error) {
    return `the value is not a valid RE2 regular expression: ${syntaxFault(value, error)}; correct it, or compare with = or !=`
  }
}

const NOT_IN_RE2 = /\(\?<?[=!]|\\[1-9]/

function syntaxFault(value: string, error: unknown): string {
  if (NOT_IN_RE2.test(value)) return 'RE2 does not support look-around or back-references'
  return error instanceof Error
    ? error.message.replace(/^error parsing regexp: |(?<=`)\(\?s\)/g, '')
    : 'check its brackets'
}

/**
 * Returns what is wrong with a list of matchers, or null if it is valid. A list of which every matcher matches an empty
 * value is invalid. As in Alertmanager, a negative matcher is enough, so that `severity!="critical"` can silence everything else.
 */
export function matchersFault(matchers: readonly Matcher[]): string | null {
  if (matchers.length === 0) return 'at least one matcher is required, such as service="checkout"'
  if (matchers.length > MAX_MATCHERS) return `too many matchers; at most ${MAX_MATCHERS} are allowed`
  const long = matchers.find(({ value }) => value.length > MAX_VALUE)
  if (long) return matcherFault(long)
  if (costOfAll(matchers) > MAX_COST) return TOO_LARGE
  const faults = matchers.flatMap((matcher) => matcherFault(matcher) ?? [])
  if (faults[0] !== undefined) return faults[0]
  const areEmpty = matchers.every((matcher) => !matcher.op.startsWith('!') && testOf(matcher)(''))
  return areEmpty ? 'these matchers match an empty value; add one that does not, or one with != or !~' : null
}

/**
 * Compiles matchers into a predicate. All matchers must match.
 * @param labelsOnly whether to ignore the alert's own fields, as Alertmanager does
 */
export function matcherTest(
  matchers: readonly Matcher[],
  labelsOnly = false,
): (alert: MatchedAlert, steps?: Steps) => boolean {
  if (labelsOnly) {
    const matches = labelTest(matchers)
    return ({ labels }, steps) => matches(labels, steps)
  }
  const tests = matchers.map((matcher) => ({ ...matcher, test: testOf(matcher) }))
  return (alert, steps = newSteps()) =>
    tests.every(({ name, op, test }) => every(op, valuesOf(alert, name), (value) => test(value, steps)))
}

/** Compiles matchers into a predicate for labels. A missing label is compared like an empty one. */
export function labelTest(matchers: readonly Matcher[]): (labels: MatchedAlert['labels'], steps?: Steps) => boolean {
  const tests = matchers.map((matcher) => ({ name: matcher.name, test: testOf(matcher) }))
  return (labels, steps = newSteps()) => tests.every(({ name, test }) => test(labelOf(labels, name) ?? '', steps))
}

/** Compiles matchers into a predicate that returns false if no alert of a service can match. */
export function serviceTest(
  matchers: readonly Matcher[],
): (service: Pick<MatchedAlert, 'service' | 'namespace' | 'cluster'>) => boolean {
  // A label with the same name can match even if the service's own field does not. Therefore, only a negative matcher
  // can rule out a service.
  const tests = matchers
    .filter(({ name, op }) => ['service', 'namespace', 'cluster'].includes(name) && op.startsWith('!'))
    .map((matcher) => ({ name: matcher.name as 'service' | 'namespace' | 'cluster', test: testOf(matcher) }))
  return (service) => tests.every(({ name, test }) => test(service[name]))
}

/** Formats matchers like Alertmanager: `{service="checkout",severity=~"warning|info"}`. */
export function formatMatchers(matchers: readonly Matcher[]): string {
  return `{${matchers.map(({ name, op, value }) => `${nameText(name)}${op}${JSON.stringify(value)}`).join(', ')}}`
}

/**
 * Parses matchers in Alertmanager's syntax. Braces, whitespace, and quotes around simple values are optional.
 * @throws SyntaxError with the position of the error
 */
export function parseMatchers(text: string): Matcher[] {
  const inner = text.trim().replace(/^\{([\s\S]*)\}$/, '$1')
  const found: Matcher[] = []
  const pattern = /\s*("(?:[^"\\]|\\.)*"|[^\s=!~,"{}]+)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*"|[^\s,"{}]*)\s*(,|$)/y
  while (pattern.lastIndex < inner.length) {
    const start = pattern.lastIndex
    const match = pattern.exec(inner)
    if (!match) {
      // A trailing comma is allowed, as in Alertmanager.
      if (inner.slice(start).trim() === '' && found.length > 0) break
      throw new SyntaxError(
        `cannot read the matcher at "${inner.slice(start, start + 40)}": write name="value", with =, !=, =~ or !~`,
      )
    }
    const [, name = '', op = '=', value = ''] = match
    found.push({ name: copyOf(unquoted(name)), op: op as Operator, value: copyOf(unquoted(value)) })
  }
  return found
}

function nameText(name: string): string {
  return /^[a-zA-Z_:][\w:]*$/.test(name) ? name : JSON.stringify(name)
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text
  return text.slice(1, -1).replace(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
}

/** A positive matcher matches if one value passes the test. A negative matcher matches only if every value passes. */
function every(op: Operator, values: readonly string[], test: (value: string) => boolean): boolean {
  return op.startsWith('!') ? values.every(test) : values.some(test)
}

function valuesOf(alert: MatchedAlert, name: string): string[] {
  const label = labelOf(alert.labels, name)
  if (!isOwnName(name)) return [label ?? '']
  const own = name === 'service' ? [alert.service, ...namedAliases(alert)] : [alert[name]]
  return label === undefined ? own : [...own, label]
}

/** A name that came with a merged service is not that of the rest: the labels contain it, or its pod. */
function namedAliases({ aliases = [], labels }: MatchedAlert): readonly string[] {
  if (aliases.length === 0) return aliases
  const pods = [labels.pod, labels.name].map((pod = '') => readPodName(pod, null, '').name)
  const named = new Set([...Object.values(labels), ...pods])
  return Object.keys(labels).length === 0 ? aliases : aliases.filter((alias) => named.has(alias))
}

function labelOf(labels: MatchedAlert['labels'], name: string): string | undefined {
  return Object.hasOwn(labels, name) ? labels[name] : undefined
}

function isOwnName(name: string): name is OwnName {
  return (OWN_NAMES as readonly string[]).includes(name)
}

/** The steps that are left for comparing texts with regular expressions. `otherwise`: whether they hold without steps. */
export type Steps = { left: number; readonly otherwise: boolean }

/** Returns the steps for one alert, or for several comparisons that share them. */
export function newSteps(left = MAX_STEPS, otherwise = false): Steps {
  return { left, otherwise }
}

/** Returns the steps for all alerts that a request reads, and a function that throws an IncmonError `invalid` if none is left. */
export function stepsOfRead() {
  const steps = newSteps(BUDGETS['read-work'].value)
  const check = () => {
    if (steps.left > 0) return
    throw new IncmonError('invalid', 'the regular expressions take too long: use fewer or smaller ones')
  }
  return { steps, check }
}

/** What it takes to begin a comparison, and to read a character, in steps: even a small expression takes some time. */
const LEAST = { characters: 20, size: 10 }

function testOf({ op, value }: Matcher): (text: string, steps?: Steps) => boolean {
  if (op === '=') return (text) => text === value
  if (op === '!=') return (text) => text !== value
  const expression = compiled(value)
  const size = expression?.programSize() ?? Number.POSITIVE_INFINITY
  const longest = size > MAX_SIZE ? -1 : Math.min(MAX_TEXT, Math.floor(MAX_WORK / size))
  const isPositive = op === '=~'
  // Over the limit, a matcher does not hold, whether it is negative or not. The alert is then not silenced.
  return (text, steps = newSteps()) => {
    if (text.length > longest) return false
    if (steps.left <= 0) return steps.otherwise
    steps.left -= (size + LEAST.size) * (text.length + LEAST.characters)
    return expression?.matches(text) === isPositive
  }
}

/** Returns the size of all regular expressions of the matchers, in instructions. Invalid ones count as 0. */
export function expressionSizeOf(matchers: readonly Matcher[]): number {
  const sizes = expressionsOf(matchers).map((value) => {
    try {
      return sizeOf(value)
    } catch {
      return 0
    }
  })
  return sizes.reduce((sum, size) => sum + size, 0)
}

/** Returns what the regular expressions of the matchers cost; see `costOf`. */
export function costOfAll(matchers: readonly Matcher[]): number {
  return expressionsOf(matchers).reduce((sum, value) => sum + costOf(value), 0)
}

function expressionsOf(matchers: readonly Matcher[]): readonly string[] {
  return matchers.flatMap(({ op, value }) => (op === '=' || op === '!=' ? [] : value))
}

/** The time that RE2 takes is proportional to the size of the expression multiplied by the length of the text. */
function sizeOf(value: string): number {
  return compiled(value)?.programSize() ?? Number.POSITIVE_INFINITY
}
