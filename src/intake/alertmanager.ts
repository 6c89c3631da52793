/** Alertmanager's notification, which Grafana speaks too: a group of alerts, read item by item. */

import { IncmonError } from '../domain/error.ts'
import { type AlertDraft, type Draft, type Intake, type Labels, type Links, newLabels } from '../domain/event/event.ts'
import { digest, labelFingerprint } from '../domain/event/fingerprint.ts'
import {
  draftLabels,
  draftText,
  type Fields,
  fieldsOf,
  type Items,
  instantAt,
  isUnset,
  LABEL_LIMIT,
  linksOf,
  optionalText,
  rawLabels,
  readItems,
} from './fields.ts'
import { cleanText } from './json.ts'
import { redact } from './redact.ts'

type Source = AlertDraft['source']

/** More than 10 MiB of real alerts hold nearly; of all of them together drafts are made. */
const MAX_ALERTS = 20_000

const HEARTBEATS = new Set(['Watchdog', 'InfoInhibitor'])
const NO_DATA = new Set(['DatasourceNoData', 'DatasourceError'])

/**
 * Reads a notification of Alertmanager's webhook format, version 4 and its relatives, at `receivedAt` (ms UTC).
 * An item needs `labels`, an object; all else has a default. Unusable items are kept aside, the others accepted.
 * @throws IncmonError `invalid` where there is no list of alerts at all, or one of more than 20,000
 */
export function readNotification(body: unknown, receivedAt: number, source: Source): Intake {
  const { alerts, read, whole } = openNotification(body, receivedAt, source)
  return whole(readItems(alerts, read))
}

/** Items that are read in a few dozen milliseconds. */
const STEP = 500

/** The same in at least so many steps: whoever reads may do something else at each `yield`. */
export function* readNotificationInSteps(
  body: unknown,
  receivedAt: number,
  source: Source,
  steps: number,
): Generator<void, Intake> {
  const { alerts, read, whole } = openNotification(body, receivedAt, source)
  const items: Items = { accepted: [], rejected: [] }
  const step = Math.min(STEP, Math.ceil(alerts.length / steps))
  for (let from = 0; from < alerts.length; from += step) {
    const { accepted, rejected } = readItems(alerts.slice(from, from + step), read, from)
    items.accepted.push(...accepted)
    items.rejected.push(...rejected)
    yield
  }
  return whole(items)
}

/** Its alerts, how one of them is read, and what is made of all that were. */
function openNotification(body: unknown, receivedAt: number, source: Source) {
  const notification = requireNotification(body)
  const { alerts } = notification
  if (!Array.isArray(alerts)) throw invalid('alerts', `alerts: expected an array; ${adviceFor(notification, source)}`)
  if (alerts.length > MAX_ALERTS) {
    throw invalid('alerts', `alerts: expected at most ${MAX_ALERTS}; set max_alerts at the sender`)
  }
  const ofAll = linksOf({ alertmanager: notification.externalURL })
  return {
    alerts: alerts as readonly unknown[],
    read: (item: Fields) => readAlert(item, notification, ofAll, receivedAt, source),
    whole: (items: Items): Intake => {
      const members = digest(...items.accepted.map(({ draft }) => memberOf(draft)).sort())
      return { ...items, group: { ...groupOf(notification), members } }
    },
  }
}

/** With its start: an alert that comes back after quiet days is another member, and the days are no pause. */
function memberOf(draft: Draft): string {
  return 'fingerprint' in draft ? `${draft.fingerprint} ${draft.status} ${draft.startsAt}` : ''
}

function requireNotification(body: unknown): Fields {
  if (Array.isArray(body)) {
    const what = 'body: expected an object with an alerts array, found a list, the push format of the Alertmanager API'
    throw invalid('', `${what}; push to an Alertmanager and point its webhook receiver here`)
  }
  const notification = fieldsOf(body)
  if (!notification) throw invalid('', 'body: expected an object with an alerts array')
  return notification
}

function adviceFor(notification: Fields, source: Source): string {
  if (source === 'metrics') return "send Alertmanager's webhook format, version 4"
  if ('ruleId' in notification || 'evalMatches' in notification) {
    return "this is Grafana's legacy alerting; move the rule to unified alerting"
  }
  return "send Grafana's own webhook payload, without a custom payload template"
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', message, [{ path, message: message.slice(message.indexOf(': ') + 2) }])
}

/** `ofAll`: the links that all items of the notification share. */
function readAlert(item: Fields, notification: Fields, ofAll: Links, receivedAt: number, source: Source): AlertDraft {
  const clean = redact(item)
  // Where the whole item holds no secret, none of its parts does: they need not be searched again.
  const textOf = clean === item ? cleanText : draftText
  const sent = rawLabels(item.labels, 'labels')
  const labels = draftLabels(sent, textOf)
  const annotations = draftLabels(annotationsOf(item.annotations), textOf)
  const status = statusOf(item, notification)
  const endsAt = status === 'firing' ? null : (instantAt(item, receivedAt, 'endsAt') ?? receivedAt)
  const startsAt = instantAt(item, receivedAt, 'startsAt') ?? endsAt ?? receivedAt
  const end = endsAt === null ? null : Math.max(endsAt, startsAt)
  return {
    source,
    at: end ?? startsAt,
    status,
    labels,
    annotations,
    startsAt,
    endsAt: end,
    fingerprint: fingerprintOf(item, sent),
    links: { ...readLinks(item, annotations, textOf), ...ofAll },
    name: nameOf(labels),
    nature: natureOf(labels, source),
    payload: JSON.stringify(clean),
  }
}

/** Annotations only explain: what is nested in them is kept as its JSON, and what is no object is left out. */
function annotationsOf(value: unknown): Labels {
  const annotations = newLabels()
  const fields = fieldsOf(value) ?? {}
  for (const name of Object.keys(fields).slice(0, 1000)) {
    const child = fields[name]
    if (child === null) annotations[name] = ''
    else annotations[name] = typeof child === 'object' ? draftText(JSON.stringify(redact(child))) : String(child)
  }
  return annotations
}

/** The item's own status counts; the group's only where the item has none. Unknown words fire. */
function statusOf(item: Fields, notification: Fields): AlertDraft['status'] {
  const status = isUnset(item.status) ? notification.status : item.status
  return typeof status === 'string' && status.trim().toLowerCase() === 'resolved' ? 'resolved' : 'firing'
}

/** The sender's, since Grafana's covers labels that it hides; computed over the labels as sent where it is missing. */
function fingerprintOf(item: Fields, sent: Labels): string {
  const fingerprint = optionalText(item, 'fingerprint')
  return fingerprint !== null && fingerprint.length <= 128 ? fingerprint : labelFingerprint(sent)
}

function nameOf(labels: Labels): string {
  const { alertname = '', rulename = '' } = labels
  const candidates = NO_DATA.has(alertname) ? [rulename, alertname] : [alertname, rulename, labels.__name__ ?? '']
  return (
    candidates
      .find((candidate) => !isUnset(candidate))
      ?.trim()
      .slice(0, 1024)
      .toWellFormed() ?? '(no name)'
  )
}

function natureOf({ alertname = '' }: Labels, source: Source): AlertDraft['nature'] {
  if (HEARTBEATS.has(alertname)) return 'heartbeat'
  if (NO_DATA.has(alertname)) return 'no-data'
  return source === 'dashboard' && alertname === 'TestAlert' ? 'test' : 'alert'
}

function readLinks(item: Fields, annotations: Labels, textOf: typeof draftText): AlertDraft['links'] {
  const candidates = {
    generator: item.generatorURL,
    silence: item.silenceURL,
    dashboard: item.dashboardURL,
    panel: item.panelURL,
    image: item.imageURL,
    runbook: annotations.runbook_url,
  }
  return linksOf(candidates, textOf)
}

/** Whose rhythm this notification belongs to; a key too long to keep is replaced by its digest. */
function groupOf(notification: Fields): { receiver: string; key: string; truncated: boolean } {
  const { groupKey } = notification
  const said = typeof groupKey === 'string' || typeof groupKey === 'number' ? draftText(String(groupKey)) : ''
  const key = said.trim() === '' ? keyOfLabels(fieldsOf(notification.groupLabels)) : said
  return {
    receiver: optionalText(notification, 'receiver') ?? '',
    key: key.length > 1024 ? digest(key) : key,
    truncated: Number(notification.truncatedAlerts) > 0,
  }
}

function keyOfLabels(groupLabels: Fields | null): string {
  const sorted = Object.entries(groupLabels ?? {})
    .slice(0, LABEL_LIMIT)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return draftText(JSON.stringify(redact(sorted)))
}
