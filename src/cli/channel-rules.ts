/** Parses channel rules on the command line, such as `severity=critical service=checkout,cart`. */
import { NOTIFICATION_KINDS } from '../domain/notification/kind.ts'
import { type QuietHours, quietHoursFault, type Rule } from '../domain/notification/rule.ts'
import { SEVERITIES } from '../domain/severity.ts'
import { type Matcher, matchersFault, parseMatchers } from '../domain/silence/matcher.ts'
import { suggestion } from '../domain/suggestion.ts'
import { WEEKDAYS } from '../domain/time-zone.ts'
import { UsageError } from './failure.ts'

/** The keys of a rule, each with an example. */
const EXAMPLES = {
  severity: 'severity=critical',
  service: 'service=checkout,cart',
  namespace: 'namespace=shop',
  match: 'match=team="payments"',
  events: 'events=opened,resolved',
  quiet: 'quiet=22:00-07:00',
  zone: 'zone=Europe/Berlin',
  days: 'days=saturday,sunday',
} as const
type Key = keyof typeof EXAMPLES
const KEYS = Object.keys(EXAMPLES) as Key[]

export const RULE_HELP = `the incidents to send, such as "${Object.values(EXAMPLES).join(' ')}", or all; can be repeated`

/** Adds a rule to the rules from earlier `--rule` options. `all` adds no rule. @throws UsageError */
export function parseRule(text: string, before: readonly Rule[] = []): readonly Rule[] {
  if (text.trim() === 'all') return []
  const parts = new Map((text.match(/(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g) ?? ['']).map(parsePart))
  const given = (key: Key) => parts.get(key)?.split(',').filter(Boolean)
  const [severity] = parseChoices('severity', SEVERITIES, given('severity')) ?? []
  const rule: Rule = {
    ...(severity ? { minSeverity: severity } : {}),
    ...(parts.has('service') ? { services: given('service') } : {}),
    ...(parts.has('namespace') ? { namespaces: given('namespace') } : {}),
    ...(parts.has('match') ? { matchers: matchersOf(parts.get('match') ?? '') } : {}),
    ...(parts.has('events') ? { events: parseChoices('events', NOTIFICATION_KINDS, given('events')) } : {}),
    ...(parts.has('quiet') ? { quietHours: quietHours(parts) } : {}),
  }
  if (!parts.has('quiet') && (parts.has('zone') || parts.has('days')))
    throw fault('zone and days are valid only together with quiet')
  return [...before, rule]
}

function parsePart(text: string): [Key, string] {
  const [name = '', ...rest] = text.split('=')
  const key = KEYS.find((one) => one === name)
  const value = rest.join('=')
  if (!key) throw fault(`unknown key "${name}"; ${suggestion(name, KEYS)}`)
  if (value === '') throw fault(`${key} has no value; for example: ${EXAMPLES[key]}`)
  return [key, value]
}

function parseChoices<Word extends string>(key: Key, words: readonly Word[], given: readonly string[] | undefined) {
  return given?.map((text) => {
    const word = words.find((one) => one === text)
    if (word) return word
    throw fault(`${key}: "${text}" is not one of ${words.join(', ')}`)
  })
}

/** Parses matchers such as `team="payments",tier=~"1|2"`. */
function matchersOf(text: string): readonly Matcher[] {
  try {
    const matchers = parseMatchers(text)
    const wrong = matchersFault(matchers)
    if (wrong === null) return matchers
    throw fault(`match: ${wrong}`)
  } catch (error) {
    throw error instanceof SyntaxError ? fault(`match: ${error.message}`) : error
  }
}

function quietHours(parts: ReadonlyMap<Key, string>): QuietHours {
  const [from = '', to = ''] = (parts.get('quiet') ?? '').split('-')
  const timeZone = parts.get('zone')
  // There is no default time zone: if a default were wrong, the user would not notice until the first night.
  if (timeZone === undefined) throw fault('quiet hours require a time zone; add one, such as zone=Europe/Berlin')
  const weekdays = parseChoices('days', WEEKDAYS, parts.get('days')?.split(','))
  const hours = { from, to, timeZone, ...(weekdays ? { weekdays } : {}) }
  const found = quietHoursFault(hours)
  if (found) throw fault(`${found.path === 'timeZone' ? 'zone' : 'quiet'}: ${found.message}`)
  return hours
}

/**
 * Returns a parser for a number of minutes, written as `10`, `10m`, `2h` or `off` (0). The parser throws UsageError.
 */
export function parseMinutes(option: string): (text: string) => number {
  return (text) => {
    if (text === 'off') return 0
    const [, count, unit = 'm'] = /^(\d{1,5})([mh]?)$/.exec(text) ?? []
    if (count !== undefined) return Number(count) * (unit === 'h' ? 60 : 1)
    throw new UsageError(`${option}: "${text}" is not a duration; use minutes (10), hours (2h) or off`)
  }
}

function fault(message: string): UsageError {
  return new UsageError(`--rule: ${message}`)
}
