/** Parses the events that Flux sends to an Alertmanager as alerts: most of them report that all went well. */
import type { Draft } from '../domain/event/event.ts'
import { readEvent } from './cluster.ts'
import { type Fields, fieldsOf, type Warn } from './fields.ts'
import { redact } from './redact.ts'

/** Flux sends each event as an alert named `Flux<kind><reason>`, with the severity `info` or `error`. */
export function isFlux({ labels }: Fields): boolean {
  const { alertname, kind, name, reason } = fieldsOf(labels) ?? {}
  return [kind, name, reason].every((one) => typeof one === 'string') && `${alertname}`.startsWith(`Flux${kind}`)
}

/**
 * Returns a Kubernetes event, or null for the end of the alert: an event does not end. Alertmanager ends it only
 * because Flux did not send it again.
 */
export function readFlux(item: Fields, receivedAt: number, warn: Warn): Draft | null {
  if (item.status === 'resolved') return null
  const { kind, name, namespace, reason, severity } = fieldsOf(item.labels) ?? {}
  const { message, summary } = fieldsOf(item.annotations) ?? {}
  const event = {
    involvedObject: { kind, name, namespace },
    reason,
    message: [message, summary].filter(Boolean).join('; '),
    type: severity === 'error' ? 'Warning' : 'Normal',
    firstTimestamp: item.startsAt,
  }
  return { ...readEvent(event, { receivedAt, warn }), isSentAgain: true, payload: JSON.stringify(redact(item)) }
}
