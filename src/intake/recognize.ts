/**
 * Guesses which sender produced a payload that a user wants to try out. A webhook never has to guess, because its path
 * identifies the sender.
 */
import type { Source } from '../domain/event/event.ts'
import { fieldsOf } from './fields.ts'

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
  if (has(['involvedObject', 'podName', 'Name', 'involvedObjectKind'])) found.push('cluster')
  return found.length === 1 ? (found[0] ?? null) : null
}

function isAlertOfGrafana(alert: unknown): boolean {
  const fields = fieldsOf(alert)
  return fields !== null && OF_GRAFANA_ALERT.some((name) => Object.hasOwn(fields, name))
}
