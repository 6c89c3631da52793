/** Formats times, durations, counts, names and lists. */
import { copyOf, once } from './memoize.ts'

/** The number of names that `joinNames` lists. */
export const LISTED = 8

/** Formats a time as `2026-03-14 02:11:09 UTC`. @throws RangeError if `ms` is not a valid time */
export function formatTime(ms: number): string {
  return `${formatDay(ms)} ${formatUtcClock(ms)} UTC`
}

/** Formats the time of day in UTC: `02:11:09`. */
export function formatUtcClock(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}

/** Formats the date of a time as `2026-03-14`. @throws RangeError if `ms` is not a valid time */
export function formatDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

/** Formats a period as `2026-03-14 02:11:09 to 02:41:10 UTC`, with the second date if it differs. */
export function formatPeriod(from: number, to: number, word = 'to'): string {
  const [day, last] = [formatDay(from), formatDay(to)]
  return `${day} ${formatUtcClock(from)} ${word} ${last === day ? '' : `${last} `}${formatUtcClock(to)} UTC`
}

/** Formats a duration as `1 h 5 min 12 s`, `1 h 0 min 12 s` or `0 s`. `seconds` must be a whole number and not negative. */
export function formatSeconds(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ]
  const isSet = ([value]: readonly [number, string]) => value > 0
  const shown = parts.slice(parts.findIndex(isSet), parts.findLastIndex(isSet) + 1)
  return shown.map(([value, unit]) => `${value} ${unit}`).join(' ') || '0 s'
}

/** Returns the difference between two times in whole seconds, after truncating both as in `formatTime`. */
export function secondsBetween(from: number, to: number): number {
  return Math.floor(to / 1000) - Math.floor(from / 1000)
}

/** Loading the numbers of a language takes longer than many commands. */
const numbers = once(() => new Intl.NumberFormat('en-GB'))

/** Formats the score of a suspect or link: `0.80`. */
export function formatScore(score: number): string {
  return score.toFixed(2)
}

/** Formats a number as `340` or `2,715`. */
export function formatCount(count: number): string {
  return count < 1000 ? `${count}` : numbers().format(count)
}

/** Formats a count as `1 alert` or `2,715 alerts`. */
export function countOf(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** Formats a count to append to a name: ` ×2,715`, or '' for 1. */
export function timesOf(count: number): string {
  return count > 1 ? ` ×${formatCount(count)}` : ''
}

/** Formats a count as `once`, `twice` or `2,715 times`. */
export function formatTimes(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${formatCount(count)} times`
}

/** Joins names: `a`, `a and b`, `a, b and c`. After 8 names: `a, b, … and 12 more`. */
export function joinNames(names: readonly string[]): string {
  if (names.length > LISTED)
    return `${names.slice(0, LISTED).join(', ')} and ${formatCount(names.length - LISTED)} more`
  const last = names.at(-1) ?? ''
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${last}` : last
}

/** Returns `shop/cart`, or just the name if there is no namespace. */
export function serviceName({ namespace, name }: ServiceName): string {
  return namespace === '' ? name : `${namespace}/${name}`
}

type ServiceName = { readonly namespace: string; readonly name: string }

const OF = ' of '

/** Returns the name of a condition in an incident of another service, with the namespace if both services have one name. */
export function conditionOf(name: string, service: ServiceName, { name: own }: Pick<ServiceName, 'name'>): string {
  return `${name}${OF}${service.name === own ? serviceName(service) : service.name}`
}

/** Returns whether a condition is one that `conditionOf` names after a service. */
export function isConditionOf(condition: string, service: ServiceName): boolean {
  return conditionWithout(condition, service) !== null
}

/** Returns the name of a condition without the service after which `conditionOf` named it; null if that is another one. */
export function conditionWithout(condition: string, service: ServiceName): string | null {
  const endings = [service.name, serviceName(service)].map((name) => `${OF}${name}`)
  const ending = endings.find((one) => condition.endsWith(one))
  return ending === undefined ? null : condition.slice(0, -ending.length)
}

/** Returns whether a condition is one that `conditionOf` names after any service, because of a condition or an alert. */
export function isPartOf(condition: string, name: string): boolean {
  return condition.startsWith(`${name}${OF}`)
}

/** Returns the service after which `conditionOf` named what a user declared in another incident; null if it named none. */
export function declaredOf(condition: string): string | null {
  const at = condition.lastIndexOf(`”${OF}`)
  return at < 0 ? null : condition.slice(at + 1 + OF.length)
}

/** Returns the service after which `conditionOf` named a condition; null if it named none. */
export function partOf(condition: string, name: string): string | null {
  return isPartOf(condition, name) ? condition.slice(name.length + OF.length) : null
}

/** Returns at most `length` characters of a text. The result does not keep a longer text in memory. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : copyOf(text.slice(0, length)).toWellFormed()
}

/** Returns the text without spaces around it. The result keeps at most `length` spaces of the original in memory. */
export function trimmed(text: string, length: number): string {
  const inner = text.trim()
  return text.length - inner.length <= length ? inner : copyOf(inner)
}

/** Returns the text without full stops and spaces at its end. */
export function withoutStop(text: string): string {
  return text.replace(/(?<![.\s])[.\s]+$/, '')
}

/** Returns the text with a capital first letter. */
export function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns the text with a small first letter. */
export function uncapitalized(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** Returns the title of an incident, which can change, and its number, if it is known: `“cart: Down” (incident 2)`. */
export function incidentName({ title, number }: { readonly title: string; readonly number?: number | null }): string {
  return `${quoted(title)}${numberText(number)}`
}

export function numberText(number: number | null = null): string {
  return number === null ? '' : ` (incident ${number})`
}

/** Quotes untrusted text within a sentence: on one line, without a final period. */
export function quoted(text: string): string {
  return `“${text.replace(/\s+/g, ' ').trim().replace(/\.$/, '')}”`
}
