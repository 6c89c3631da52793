/**
 * Finds likely typos in the field names of a payload. The results are only suggestions, because senders can add any
 * field.
 */
import { cacheByName } from '../domain/memoize.ts'
import { isSeverityWord, SEVERITIES } from '../domain/severity.ts'
import { misspelled } from '../domain/suggestion.ts'
import { draftText, type Fields, fieldsOf } from './fields.ts'

/** `path`: for example `alerts[2].lables`. `meant`: the known name that the sender probably meant. */
type Misspelling = { readonly path: string; readonly meant: string }

const BODY = [
  ...['alerts', 'status', 'receiver', 'groupKey', 'externalURL', 'commonLabels', 'commonAnnotations', 'groupLabels'],
  ...['reason', 'message', 'podName', 'namespace', 'involvedObject', 'involvedObjectKind', 'firstTime', 'lastTime'],
  ...['object_kind', 'object_attributes', 'project', 'builds', 'commit', 'user'],
]
const ALERT = ['status', 'labels', 'annotations', 'startsAt', 'endsAt', 'generatorURL', 'fingerprint']
const LABELS = ['alertname', 'severity', 'service', 'namespace']
/** Labels that are read although they begin with a capital, and labels of ordinary alerts that resemble them. */
const OTHERS: ReadonlySet<string> = new Set(['severity', 'service', 'namespace', 'device', 'security'])
/** Limits for large payloads, where comparing every name would be slow. */
const MAX_ALERTS = 100
const MAX_NAMES = 50

/**
 * Returns the misspelled fields, labels and severities in a payload. Ignores a name if the correct name is also
 * present.
 */
export function misspellings(body: unknown): Misspelling[] {
  const whole = fieldsOf(body)
  if (!whole) return []
  const alerts = Array.isArray(whole.alerts) ? whole.alerts.slice(0, MAX_ALERTS) : []
  return [
    ...namesIn(whole, meantIn(BODY), ''),
    ...alerts.flatMap((alert, index) => inAlert(alert, `alerts[${index}].`)),
  ]
}

function inAlert(value: unknown, path: string): Misspelling[] {
  const alert = fieldsOf(value)
  if (!alert) return []
  const labels = fieldsOf(alert.labels) ?? {}
  const severity = typeof labels.severity === 'string' && !isSeverityWord(labels.severity) ? labels.severity : ''
  const meant = misspelled(severity, SEVERITIES)
  return [
    ...misspelledFields(alert, path),
    ...namesIn(labels, meantByLabel, `${path}labels.`),
    ...(meant === null ? [] : [{ path: `${path}labels.severity ${severity}`, meant }]),
  ]
}

/** A label that adds a word to a known name, such as `service_id`, is another label. */
const meantByLabel = cacheByName((name: string) => {
  const isOther = OTHERS.has(name.toLowerCase()) || LABELS.some((label) => name.startsWith(`${label}_`))
  return isOther ? null : misspelled(name, LABELS)
})

/** Returns a function that returns the known name that a name probably means, or null. */
function meantIn(known: readonly string[]): (name: string) => string | null {
  return (name) => misspelled(name, known)
}

/** Cached, because every alert has the same fields. */
const meantInAlert = cacheByName(meantIn(ALERT))

/** Returns the misspelled fields of one alert, such as `startAt`. `path` precedes their names, for example `alerts[2].`. */
export function misspelledFields(alert: Fields, path = ''): Misspelling[] {
  return namesIn(alert, meantInAlert, path)
}

/** Adds a hint to an error about a missing field: a similarly named field of the item or, if none exists, `advice`. */
export function adviseField(error: string, item: unknown, advice = ''): string {
  const [, name = ''] = /^(\w+): expected /.exec(error) ?? []
  const [typo] = name === '' ? [] : namesIn(fieldsOf(item) ?? {}, meantIn([name]), '')
  if (typo) return `${error}; did you mean ${name} instead of ${draftText(typo.path)}?`
  return advice === '' ? error : `${error}; ${advice}`
}

function namesIn(fields: Fields, meantBy: (name: string) => string | null, path: string): Misspelling[] {
  const found: Misspelling[] = []
  for (const name of Object.keys(fields).slice(0, MAX_NAMES)) {
    const meant = meantBy(name)
    if (meant !== null && !Object.hasOwn(fields, meant)) found.push({ path: path + name, meant })
  }
  return found
}
