/**
 * Guesses which sender produced a payload. Used when a user tries out a payload, or when a webhook cannot use a
 * payload. For all other payloads, the path of the webhook identifies the sender.
 */
import type { Source } from '../domain/event/event.ts'
import { type Fields, fieldsOf } from './fields.ts'
import type { ReaderName } from './index.ts'

/** Fields that Grafana adds to Alertmanager's format. */
const OF_GRAFANA = ['orgId', 'state', 'ruleId']
const OF_GRAFANA_ALERT = ['silenceURL', 'dashboardURL', 'panelURL', 'valueString']

/** Returns the webhook for a parsed payload, or null if the sender is unknown or ambiguous. */
export function recognizeSource(body: unknown): Source | null {
  const fields = fieldsOf(body)
  if (!fields) return null
  const has = (names: readonly string[]) => names.some((name) => Object.hasOwn(fields, name))
  const found: Source[] = []
  if (Array.isArray(fields.alerts)) {
    const isGrafana = has(OF_GRAFANA) || fields.alerts.some(isAlertOfGrafana)
    found.push(isGrafana ? 'dashboard' : 'metrics')
  }
  if (typeof fields.object_kind === 'string') found.push('ci')
  if (
    has(['involvedObject', 'regarding', 'podName', 'Name', 'involvedObjectKind', 'eventmeta']) ||
    isWrappedEvent(fields)
  )
    found.push('cluster')
  return found.length === 1 ? (found[0] ?? null) : null
}

function isWrappedEvent({ object, event }: Fields): boolean {
  return [object, event].some((one) => ['involvedObject', 'regarding'].some((name) => name in (fieldsOf(one) ?? {})))
}

function isAlertOfGrafana(alert: unknown): boolean {
  const fields = fieldsOf(alert)
  return fields !== null && OF_GRAFANA_ALERT.some((name) => Object.hasOwn(fields, name))
}

const SENDERS: Readonly<Record<Source, string>> = {
  cluster: 'a Kubernetes event exporter',
  metrics: 'Alertmanager',
  dashboard: 'Grafana',
  ci: 'GitLab',
}
/** Alertmanager and Grafana use the same format, so the webhook for either sender can parse both. */
const ALERT_LISTS: readonly Source[] = ['metrics', 'dashboard']

/**
 * If an unusable payload was sent to the wrong webhook, replaces the advice in the error with the right webhook.
 * `source`: the webhook that received the payload.
 */
export function adviseWebhook(error: string, body: unknown, source: ReaderName): string {
  const meant = recognizeSource(body)
  const isList = (name: ReaderName) => (ALERT_LISTS as readonly ReaderName[]).includes(name)
  if (meant === null || meant === source || (isList(meant) && isList(source))) return error
  const [what] = error.split('; ')
  return `${what}; this payload looks like one from ${SENDERS[meant]}: send it to /api/webhooks/${meant}`
}

const OF_ALERTMANAGER = ['version', 'groupKey', 'externalURL']

/**
 * Returns a warning if the payload is certainly from Alertmanager but was sent to Grafana's webhook, or the other way
 * round. Both can be read, but the two senders identify an alert differently.
 */
export function warnOfWebhook(body: unknown, source: ReaderName): string | null {
  const fields = fieldsOf(body)
  if (!fields || (source !== 'metrics' && source !== 'dashboard')) return null
  const isOfGrafana = typeof fields.orgId === 'number'
  const isOfAlertmanager =
    recognizeSource(fields) === 'metrics' && OF_ALERTMANAGER.every((name) => typeof fields[name] === 'string')
  const meant = isOfGrafana ? 'dashboard' : isOfAlertmanager ? 'metrics' : source
  if (meant === source) return null
  return `this payload looks like one from ${SENDERS[meant]}, but this webhook is for ${SENDERS[source]}: send it to /api/webhooks/${meant}`
}

/** Names all webhooks, for a path that is none of them. */
export function webhooksText(): string {
  return Object.entries(SENDERS)
    .map(([source, sender]) => `/api/webhooks/${source} for ${sender}`)
    .join(', ')
}
