/** Metrics of one organization from the database, in the text format of Prometheus. They survive a restart. */
import { Counter, Gauge, Registry } from 'prom-client'
import type { ChannelRecord } from '../store/notification/channels.ts'
import type { SenderRecord } from '../store/senders.ts'

/** @param open the number of unresolved incidents by severity */
export function organizationText(
  open: Readonly<Record<string, number>>,
  senders: readonly SenderRecord[],
  channels: readonly ChannelRecord[],
): Promise<string> {
  const registry = new Registry()
  const incidents = new Gauge({
    name: 'incmon_open_incidents',
    help: 'Incidents of the organization that are not resolved.',
    labelNames: ['severity'],
    registers: [registry],
  })
  for (const [severity, count] of Object.entries(open)) incidents.set({ severity }, count)
  const labelled = { labelNames: ['source', 'cluster', 'receiver'], registers: [registry] }
  const items = new Counter({ ...labelled, name: 'incmon_source_items_total', help: 'Items stored, by source.' })
  const rejected = new Counter({
    ...labelled,
    name: 'incmon_source_rejected_items_total',
    help: 'Items rejected with an error, by source.',
  })
  const seen = new Gauge({
    ...labelled,
    name: 'incmon_source_last_seen_timestamp_seconds',
    help: 'When the source last sent an item that could be used.',
  })
  for (const { source, cluster, receiver, events, rejections, lastEventAt } of senders) {
    const labels = { source, cluster, receiver }
    items.inc(labels, events)
    rejected.inc(labels, rejections)
    if (lastEventAt !== null) seen.set(labels, lastEventAt / 1000)
  }
  const failing = new Gauge({
    name: 'incmon_channel_failing',
    help: 'Whether the last message over a channel failed (1), or it was delivered (0).',
    labelNames: ['channel'],
    registers: [registry],
  })
  for (const { name, failing: cause } of channels) failing.set({ channel: name }, cause === null ? 0 : 1)
  return registry.metrics()
}
