/** Converts routes to rules of channels. */
import { type QuietHours, quietHoursFault, type Rule } from '../../domain/notification/rule.ts'
import { isSeverityWord, parseSeverity, rank, SEVERITIES, type Severity } from '../../domain/severity.ts'
import { type Matcher, parseMatchers } from '../../domain/silence/matcher.ts'
import { WEEKDAYS, type Weekday } from '../../domain/time-zone.ts'
import type { AddNote, Path } from './alertmanager-file.ts'

type Fields = Readonly<Record<string, unknown>>

/** Returns the rules of each receiver that a route leads to, none for all incidents. `imported`: those with a channel. */
export function routesOf(config: Fields, imported: ReadonlySet<string>, note: AddNote): ReadonlyMap<string, Rule[]> {
  const intervals = intervalsOf(config, note)
  const rules = new Map<string, Rule[]>()
  const visit = (route: Fields, path: Path, above: Rule, inherited: string | null): void => {
    const receiver = textOf(route.receiver) ?? inherited
    const rule = {
      ...narrowed(above, matchersOf(route, path, note)),
      ...quietOf(route, path, intervals, note),
    }
    const below = recordsOf(route.routes)
    if (receiver !== null) rules.set(receiver, [...(rules.get(receiver) ?? []), rule])
    if (receiver !== null && imported.has(receiver)) {
      noteUnused(route, path, note)
      const why = 'also gets the alerts that its routes send to other receivers'
      if (below.some(({ continue: goesOn }) => goesOn !== true)) note(path, `the receiver ${receiver} ${why}`)
    }
    for (const [index, one] of below.entries()) visit(one, [...path, 'routes', index], rule, receiver)
  }
  visit(recordOf(config.route), ['route'], {}, null)
  // A rule without conditions already matches everything.
  return new Map([...rules].map(([name, of]) => [name, of.some((rule) => Object.keys(rule).length === 0) ? [] : of]))
}

function matchersOf(route: Fields, path: Path, note: AddNote): Matcher[] {
  const texts = textsOf(route.matchers)
  const read = texts.flatMap((text, index) => {
    try {
      return parseMatchers(text)
    } catch {
      note([...path, 'matchers', index], `the matcher ${text} was not imported: incmon cannot read it`)
      return []
    }
  })
  const pairs = (name: string, op: '=' | '=~') =>
    Object.entries(recordOf(route[name])).map(([label, value]) => ({ name: label, op, value: String(value) }))
  return [...read, ...pairs('match', '='), ...pairs('match_re', '=~')]
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []
}

/** Adds matchers to the rule of the route above. */
function narrowed(above: Rule, matchers: readonly Matcher[]): Rule {
  let rule = above
  for (const matcher of matchers) {
    const least = leastSeverity(matcher)
    if (least === null) rule = { ...rule, matchers: [...(rule.matchers ?? []), matcher] }
    else if (!rule.minSeverity || rank(least) > rank(rule.minSeverity)) rule = { ...rule, minSeverity: least }
  }
  return rule
}

/** A word without the characters of a regular expression, such as in `crit.*`. */
const PLAIN = /^[\w -]+$/

/** Returns the severity from which a matcher matches, such as warning for `severity=~"critical|warning"`, or null. */
function leastSeverity({ name, op, value }: Matcher): Severity | null {
  if (name !== 'severity' || !op.startsWith('=')) return null
  const words = op === '=' ? [value] : value.split('|')
  const known = words.filter((word) => PLAIN.test(word) && isSeverityWord(word)).map(parseSeverity)
  const least = SEVERITIES.findLast((one) => known.includes(one))
  if (least === undefined || known.length < words.length) return null
  // Few senders have both the words critical and error.
  const wanted = SEVERITIES.filter((one) => one !== 'error' && rank(one) >= rank(least))
  return wanted.every((one) => known.includes(one)) ? least : null
}

function quietOf(
  route: Fields,
  path: Path,
  intervals: ReadonlyMap<string, QuietHours>,
  note: AddNote,
): Pick<Rule, 'quietHours'> {
  const names = [...textsOf(route.mute_time_intervals)]
  const found = names.flatMap((name) => intervals.get(name) ?? [])
  if (found.length > 1)
    note([...path, 'mute_time_intervals'], 'only the first time interval was imported: a rule has one')
  const [quietHours] = found
  return quietHours ? { quietHours } : {}
}

const UNUSED: Readonly<Record<string, string>> = {
  active_time_intervals: 'incmon has quiet hours, which are the opposite',
  group_by: 'incmon sends one message for each incident; set group-by for the API',
  repeat_interval: 'set the reminders of the channel',
}

function noteUnused(route: Fields, path: Path, note: AddNote): void {
  for (const [name, why] of Object.entries(UNUSED)) {
    if (name in route) note([...path, name], `${name} was not imported: ${why}`)
  }
}

// Converts time intervals to quiet hours.

/** Returns the time intervals that quiet hours can express, by name. */
function intervalsOf(config: Fields, note: AddNote): ReadonlyMap<string, QuietHours> {
  const found = new Map<string, QuietHours>()
  for (const section of ['time_intervals', 'mute_time_intervals']) {
    recordsOf(config[section]).forEach((interval, index) => {
      const quiet = quietHoursOf(recordsOf(interval.time_intervals))
      if (typeof quiet !== 'string') found.set(String(interval.name), quiet)
      else note([section, index], `the time interval ${interval.name} was not imported: ${quiet}`)
    })
  }
  return found
}

function quietHoursOf([only, ...more]: readonly Fields[]): QuietHours | string {
  const [times = {}, ...others] = recordsOf(only?.times)
  if (!only || more.length > 0 || others.length > 0) return 'quiet hours have one period'
  const unknown = ['days_of_month', 'months', 'years'].find((name) => name in only)
  if (unknown) return `quiet hours have no ${unknown}`
  const weekdays = weekdaysOf(textsOf(only.weekdays))
  if (weekdays === null) return 'its weekdays are invalid'
  const [from, to] = [clock(times.start_time), clock(times.end_time)]
  const quiet = { from, to, timeZone: textOf(only.location) ?? 'UTC', ...(weekdays.length === 0 ? {} : { weekdays }) }
  return quietHoursFault(quiet)?.message ?? quiet
}

/** Alertmanager ends a day at 24:00. YAML reads an unquoted 22:00 as text. */
function clock(value: unknown): string {
  const text = textOf(value) ?? '00:00'
  return text === '24:00' ? '00:00' : text.padStart(5, '0')
}

/** Returns the days of texts such as `monday:friday`, or null if one is invalid. */
function weekdaysOf(texts: readonly string[]): Weekday[] | null {
  const days = new Set<Weekday>()
  for (const text of texts) {
    const [first = '', last = first] = text
      .toLowerCase()
      .split(':')
      .map((day) => day.trim())
    const [from, to] = [WEEKDAYS.indexOf(first as Weekday), WEEKDAYS.indexOf(last as Weekday)]
    if (from < 0 || to < 0) return null
    for (let i = from; ; i = (i + 1) % 7) {
      days.add(WEEKDAYS[i] ?? 'monday')
      if (i === to) break
    }
  }
  return WEEKDAYS.filter((day) => days.has(day))
}

// Reads values of unknown types.

export function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function recordsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

/** Returns a text that is not empty, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
