/**
 * Parses the alerts that Prometheus, vmalert, Loki, Mimir, Thanos, Grafana and Flux send to an Alertmanager: a list
 * without an envelope. The rules for defaults and errors are those of Alertmanager's `POST /api/v2/alerts`.
 */
import type { AlertDraft, Draft, Intake } from '../domain/event/event.ts'
import { PROMETHEUS } from '../domain/sender/sender.ts'
import { MINUTE } from '../domain/units.ts'
import { type ReadOne, readAlerts } from './alertmanager.ts'
import { type Fields, fieldsOf, sentInstantAt, unusable, type Warn } from './fields.ts'
import { isFlux, readFlux } from './flux.ts'

/** Alertmanager's default `resolve_timeout`: how long an alert without `endsAt` fires unless it is sent again. */
export const RESOLVE_TIMEOUT = 5 * MINUTE

/**
 * Parses a list of alerts. `receivedAt` is in ms UTC. An alert with `endsAt` in the past is
 * resolved. Any other alert fires until its `endsAt`, unless it is sent again.
 * @throws IncmonError `invalid` if the body is not a list, or has more than 20,000 alerts
 */
export function readPrometheus(body: unknown, receivedAt: number): Intake {
  if (!Array.isArray(body)) throw unusable('body: expected a list of alerts')
  const toDraft = (item: Fields, warn: Warn, readOne: ReadOne): Draft | null => {
    const fault = faultOf(item)
    if (fault !== null) throw unusable(fault)
    return isFlux(item) ? readFlux(item, receivedAt, warn) : readAlert(item, receivedAt, warn, readOne)
  }
  const { accepted, rejected } = readAlerts({ alerts: body }, receivedAt, 'metrics', toDraft)
  return { accepted, rejected, group: null, receiver: PROMETHEUS }
}

/**
 * A name of letters, digits and underscores cannot begin with a digit. Other characters are allowed, because Prometheus
 * 3 sends names such as `service.name`.
 */
const WRONG_NAME = /^(?:[0-9]\w*)?$/

/** Returns what is wrong with an item, in Alertmanager's words where it has some, or null. */
function faultOf({ labels, annotations }: Fields): string | null {
  const sent = fieldsOf(labels)
  if (!sent) return 'labels: expected object'
  const names = Object.keys(sent).filter((name) => !isEmpty(sent[name]))
  if (names.length === 0) return 'at least one label pair required'
  return wrongName('label set', names) ?? wrongValue('labels', sent, names) ?? annotationsFault(annotations)
}

function annotationsFault(value: unknown): string | null {
  const sent = fieldsOf(value)
  if (!sent) return value === undefined || value === null ? null : 'annotations: expected object'
  const names = Object.keys(sent)
  return wrongName('annotations', names) ?? wrongValue('annotations', sent, names)
}

function wrongName(what: string, names: readonly string[]): string | null {
  const wrong = names.find((name) => WRONG_NAME.test(name))
  return wrong === undefined ? null : `invalid ${what}: invalid name ${JSON.stringify(wrong.slice(0, 64))}`
}

function wrongValue(what: string, fields: Fields, names: readonly string[]): string | null {
  const wrong = names.find((name) => typeof fields[name] !== 'string' && fields[name] !== null)
  return wrong === undefined ? null : `${what}: expected a string as the value of ${JSON.stringify(wrong.slice(0, 64))}`
}

function readAlert(item: Fields, receivedAt: number, warn: Warn, readOne: ReadOne): AlertDraft {
  const end = sentInstantAt(item, { receivedAt: Number.POSITIVE_INFINITY, warn }, 'endsAt')
  // `readOne` warns about an invalid start.
  const start = sentInstantAt(item, { receivedAt: Number.POSITIVE_INFINITY, warn: () => {} }, 'startsAt')
  if (start !== null && (end ?? receivedAt + RESOLVE_TIMEOUT) < start)
    throw unusable('start time must be before end time')
  const labels = withoutEmpty(item.labels)
  if (end !== null && end <= receivedAt) return readOne({ ...item, labels, status: 'resolved' }, warn)
  const expiry = end === null ? { after: RESOLVE_TIMEOUT } : { at: end }
  // Each repeat has another end. Without the end, repeats have equal payloads, and only the first one is stored.
  const { endsAt: _, ...lasting } = item
  return { ...readOne({ ...lasting, labels, status: 'firing' }, warn), expiry }
}

function withoutEmpty(labels: unknown): unknown {
  const sent = fieldsOf(labels) ?? {}
  const names = Object.keys(sent)
  if (!names.some((name) => isEmpty(sent[name]))) return labels
  return Object.fromEntries(names.filter((name) => !isEmpty(sent[name])).map((name) => [name, sent[name]]))
}

/** Alertmanager reads null as an empty string. */
function isEmpty(value: unknown): boolean {
  return value === '' || value === null
}
