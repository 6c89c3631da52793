/** Reads single fields of an alert from Alertmanager or Grafana. */
import type { AlertDraft, Labels } from '../domain/event/event.ts'
import { digest, labelFingerprint } from '../domain/event/fingerprint.ts'
import { cutText, trimmed } from '../domain/text.ts'
import { type draftText, type Fields, isUnset, linksOf, numberOf, optionalText, type Warn } from './fields.ts'

export type Source = AlertDraft['source']

/** InfoInhibitor only mutes other alerts. The other alerts always fire, so that their end reports a broken sender. */
const HEARTBEATS = new Set([
  ...['Watchdog', 'DeadMansSwitch', 'DeadMansSnitch', 'PrometheusAlertmanagerE2eDeadManSwitch', 'InfoInhibitor'],
])
const NO_DATA = new Set(['DatasourceNoData', 'DatasourceError'])

/**
 * Returns the fingerprint that the sender provided. If there is none, computes a fingerprint from the labels. Grafana's
 * fingerprint cannot be recomputed, because Grafana also hashes hidden labels.
 */
export function fingerprintOf(item: Fields, sent: Labels): string {
  const fingerprint = optionalText(item, 'fingerprint')
  return fingerprint !== null && fingerprint.length <= 128 ? fingerprint : labelFingerprint(sent)
}

const MAX_NAME = 1024

export function nameOf(labels: Labels, warn: Warn): string {
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
export function withOrganization(fingerprint: string, orgId: unknown, source: Source): string {
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

export function natureOf(
  {
    labels: { alertname = '', instance = '' },
    annotations,
    status,
  }: Pick<AlertDraft, 'labels' | 'annotations' | 'status'>,
  { groupKey }: Fields,
  source: Source,
): AlertDraft['nature'] {
  if (HEARTBEATS.has(alertname)) return 'heartbeat'
  const isBlind = status === 'firing' && ['NoData', 'Error'].includes(annotations[STATE_REASON] ?? '')
  if (isBlind || NO_DATA.has(alertname)) return 'no-data'
  const isTest = typeof groupKey === 'string' && TEST_GROUP.test(groupKey) && instance === 'Grafana'
  return isTest || (source === 'dashboard' && alertname === 'TestAlert') ? 'test' : 'alert'
}

export function readLinks(item: Fields, annotations: Labels, textOf: typeof draftText): AlertDraft['links'] {
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
