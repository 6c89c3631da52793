/** Parses Alertmanager webhook notifications. Grafana uses the same format. */
import { IncmonError } from '../domain/error.ts'
import { type AlertDraft, type Draft, type Intake, type Labels, type Links, newLabels } from '../domain/event/event.ts'
import { digest, labelFingerprint } from '../domain/event/fingerprint.ts'
import { hasPlaceholder } from '../domain/placeholder.ts'
import { findSeverity, isSeverityWord } from '../domain/severity.ts'
import { cutText, trimmed } from '../domain/text.ts'
import {
  draftLabels,
  draftText,
  type Fields,
  fieldsOf,
  isUnset,
  linksOf,
  numberOf,
  optionalText,
  quoted,
  type Receipt,
  rawLabels,
  sentInstantAt,
  type Warn,
} from './fields.ts'
import { isFlux, readFlux } from './flux.ts'
import { type Items, MAX_ITEMS, readItems } from './items.ts'
import { cleanText, LABEL_LIMIT } from './json.ts'
import { adviseField, misspelledFields } from './misspellings.ts'
import { redact } from './redact.ts'

/**
 * The maximum number of values in an alert. A real alert has about fifty values. Too many labels cause a more specific
 * error before this limit is reached.
 */
const MAX_ITEM_VALUES = 5_000

/**
 * Parses an Alertmanager webhook notification, version 4 or similar. `receivedAt` is in ms UTC. Each item must have a
 * `labels` object. All other fields have defaults. Invalid items are rejected individually.
 * @param toAlert converts an item of another sender's format to Alertmanager's; rejects the item if it throws
 * @throws IncmonError `invalid` if there is no list of alerts, or more than 20,000 alerts
 */
export function readNotification(
  body: unknown,
  receivedAt: number,
  source: Source,
  toAlert = (item: Fields) => item,
): Intake {
  return readAlerts(body, receivedAt, source, (item, warn, readOne) => {
    const alert = toAlert(item)
    return isFlux(alert) ? readFlux(alert, receivedAt, warn) : readOne(alert, warn)
  })
}

/** Parses one alert in Alertmanager's format. */
export type ReadOne = (item: Fields, warn: Warn) => AlertDraft

/** Like `readNotification`, but `toDraft` parses each item, with the help of `readOne`. */
export function readAlerts(
  body: unknown,
  receivedAt: number,
  source: Source,
  toDraft: (item: Fields, warn: Warn, readOne: ReadOne) => Draft | null,
): Intake {
  const { alerts, read, finish } = openNotification(body, receivedAt, source)
  return finish(readItems(alerts, (item, warn) => toDraft(item, warn, read), MAX_ITEM_VALUES))
}

/** Returns the alerts in a notification, a function that parses one alert, and a function that builds the result. */
function openNotification(body: unknown, receivedAt: number, source: Source) {
  const notification = requireNotification(body)
  const { alerts } = notification
  if (!Array.isArray(alerts)) {
    throw invalid('alerts', adviseField('alerts: expected an array', notification, adviceFor(notification, source)))
  }
  if (alerts.length > MAX_ITEMS) {
    throw invalid('alerts', `alerts: expected at most ${MAX_ITEMS}; set max_alerts in the configuration of the sender`)
  }
  const sharedLinks = linksOf({ alertmanager: notification.externalURL })
  return {
    alerts: alerts as readonly unknown[],
    read: (item: Fields, warn: Warn) => readAlert(item, notification, sharedLinks, { receivedAt, warn }, source),
    finish: (items: Items): Intake => {
      return { ...items, group: { ...groupOf(notification), members: membersOf(items.accepted) } }
    },
  }
}

/** Returns a hash of the group's members. */
export function membersOf(accepted: Intake['accepted']): string {
  return digest(...accepted.map(({ draft }) => memberOf(draft)).sort())
}

/**
 * Returns a key for a member of the group. The start time is included because an alert that fires again after days is a
 * new member.
 */
function memberOf(draft: Draft): string {
  return 'fingerprint' in draft ? `${draft.fingerprint} ${draft.status} ${draft.startsAt}` : ''
}

function requireNotification(body: unknown): Fields {
  if (Array.isArray(body)) {
    const what =
      'expected an object with an alerts array, found a list, which is the push format of the Alertmanager API'
    throw invalid('', `body: ${what}; send the list to /alertmanager/api/v2/alerts`)
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

/** Parses one alert. `sharedLinks`: the links that apply to every alert in the notification. */
function readAlert(
  item: Fields,
  notification: Fields,
  sharedLinks: Links,
  receipt: Receipt,
  source: Source,
): AlertDraft {
  const { receivedAt, warn } = receipt
  for (const { path, meant } of misspelledFields(item)) warn(`${draftText(path)}: did you mean ${meant}?`)
  // The number of labels is checked first, because searching a very large number of labels for secrets is slow.
  const sent = rawLabels(item.labels, 'labels', warn)
  const clean = redact(item)
  // If the item as a whole contains no secrets, there is no need to search its parts again.
  const textOf = clean === item ? cleanText : draftText
  const labels = draftLabels(sent, textOf)
  const annotations = draftLabels(annotationsOf(item.annotations), textOf)
  const status = statusOf(item, notification, warn)
  const sentEnd = status === 'firing' ? null : (sentInstantAt(item, receipt, 'endsAt') ?? receivedAt)
  const saidStart = sentInstantAt(item, receipt, 'startsAt')
  const sentStart = saidStart ?? sentEnd ?? receivedAt
  const sentAt = Math.max(sentEnd ?? sentStart, sentStart)
  const startsAt = Math.min(sentStart, receivedAt)
  const end = sentEnd === null ? null : Math.min(sentAt, receivedAt)
  const draft: AlertDraft = {
    source,
    at: end ?? startsAt,
    status,
    labels,
    annotations,
    startsAt,
    isStartUnknown: saidStart === null || saidStart > receivedAt,
    endsAt: end,
    fingerprint: withOrganization(fingerprintOf(item, sent), notification.orgId, source),
    links: Object.assign(readLinks(item, annotations, textOf), sharedLinks),
    name: nameOf(labels, warn),
    nature: natureOf({ labels, annotations, status }, notification, source),
    payload: JSON.stringify(clean),
  }
  for (const name in labels)
    if (hasPlaceholder(labels[name] ?? ''))
      warn(`labels.${draftText(name)}: ${quoted(labels[name])} is a placeholder; the label was ignored`)
  const warning = severityWarning(draft)
  if (warning) warn(warning)
  return sentAt > receivedAt ? { ...draft, sent: { at: sentAt, startsAt: sentStart } } : draft
}

/** Returns a warning if an alert's `severity` label does not say its severity, or null. */
function severityWarning(draft: AlertDraft): string | null {
  if (draft.nature !== 'alert') return null
  const found = findSeverity(draft)
  if (!found) return 'labels.severity: missing; the alert is treated as a warning'
  const path = `${found.in}s.${found.name}`
  if (!isSeverityWord(found.raw))
    return `${path}: ${quoted(found.raw)} is not a known severity; the alert is treated as a warning`
  return path === 'labels.severity' ? null : `labels.severity: missing or unknown; the severity is from ${path}`
}

/** Returns annotations as text, with nested values as JSON. Returns no annotations if the value is not an object. */
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

/** Returns the item's status, or the group's status if the item has none. An unknown status is treated as firing. */
function statusOf(item: Fields, notification: Fields, warn: Warn): AlertDraft['status'] {
  const status = isUnset(item.status) ? notification.status : item.status
  const word = typeof status === 'string' ? status.trim().toLowerCase() : ''
  if (word !== 'firing' && word !== 'resolved' && !isUnset(status))
    warn(`status: ${quoted(status)} is unknown; the alert is treated as firing`)
  return word === 'resolved' ? 'resolved' : 'firing'
}

/** Returns the group that this notification belongs to. If the group's key is too long, a hash replaces the key. */
function groupOf(notification: Fields): { receiver: string; key: string; truncated: boolean } {
  const { groupKey } = notification
  const sentKey = typeof groupKey === 'string' || typeof groupKey === 'number' ? draftText(String(groupKey)) : ''
  const key = sentKey.trim() === '' ? keyOfLabels(fieldsOf(notification.groupLabels)) : sentKey
  return {
    receiver: optionalText(notification, 'receiver') ?? '',
    key: key.length > 1024 ? digest(key) : key,
    truncated: (numberOf(notification.truncatedAlerts) ?? 0) > 0,
  }
}

function keyOfLabels(groupLabels: Fields | null): string {
  const sorted = Object.entries(groupLabels ?? {})
    .slice(0, LABEL_LIMIT)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return draftText(JSON.stringify(redact(sorted)))
}

type Source = AlertDraft['source']

/** InfoInhibitor only mutes other alerts. The other alerts always fire, so that their end reports a broken sender. */
const HEARTBEATS = new Set([
  ...['Watchdog', 'DeadMansSwitch', 'DeadMansSnitch', 'PrometheusAlertmanagerE2eDeadManSwitch', 'InfoInhibitor'],
])
const NO_DATA = new Set(['DatasourceNoData', 'DatasourceError'])

/**
 * Returns the fingerprint that the sender provided. If there is none, computes a fingerprint from the labels. Grafana's
 * fingerprint cannot be recomputed, because Grafana also hashes hidden labels.
 */
function fingerprintOf(item: Fields, sent: Labels): string {
  const fingerprint = optionalText(item, 'fingerprint')
  return fingerprint !== null && fingerprint.length <= 128 ? fingerprint : labelFingerprint(sent)
}

const MAX_NAME = 1024

function nameOf(labels: Labels, warn: Warn): string {
  const { alertname = '', rulename = '' } = labels
  const isBlind = NO_DATA.has(alertname) && !isUnset(rulename)
  const candidates = [isBlind ? `${rulename} (${alertname})` : alertname, rulename, labels.__name__ ?? '']
  const found = candidates.find((candidate) => !isUnset(candidate)) ?? substituteName(labels, warn)
  return cutText(trimmed(found, MAX_NAME), MAX_NAME).toWellFormed()
}

/** Labels in which other programs put the name of an alert or check, most common first. */
const OTHER_NAMES = ['alert', 'alert_name', 'rule', 'check', 'title']

function substituteName(labels: Labels, warn: Warn): string {
  const label = OTHER_NAMES.find((one) => !isUnset(labels[one]))
  const name = (label && labels[label]) || 'unnamed alert'
  warn(`labels.alertname: missing; ${label ? `the name is from the label ${label}` : `the name is “${name}”`}`)
  return name
}

/** Two organizations of one Grafana can have rules with equal labels. The first organization is the default. */
function withOrganization(fingerprint: string, orgId: unknown, source: Source): string {
  const organization = source === 'dashboard' ? (numberOf(orgId) ?? 1) : 1
  return organization === 1 ? fingerprint : digest(fingerprint, String(organization))
}

/** Grafana's Test button sends the group key `webhook-<hex>-<unix time>`, and labels that the user can change. */
const TEST_GROUP = /^webhook-[\da-f]+-\d+$/

/**
 * A rule that Grafana cannot evaluate keeps its name and says so in an annotation. If it is set to alert, the alert
 * fires; if it is set to be normal, what fired before ends and is as severe as it was.
 */
const STATE_REASON = 'grafana_state_reason'

function natureOf(
  draft: Pick<AlertDraft, 'labels' | 'annotations' | 'status'>,
  { groupKey }: Fields,
  source: Source,
): AlertDraft['nature'] {
  const { annotations, status } = draft
  const { alertname = '', instance = '' } = draft.labels
  if (HEARTBEATS.has(alertname)) return 'heartbeat'
  const isBlind = status === 'firing' && ['NoData', 'Error'].includes(annotations[STATE_REASON] ?? '')
  if (isBlind || NO_DATA.has(alertname)) return 'no-data'
  const isTest = typeof groupKey === 'string' && TEST_GROUP.test(groupKey) && instance === 'Grafana'
  return isTest || (source === 'dashboard' && alertname === 'TestAlert') ? 'test' : 'alert'
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
