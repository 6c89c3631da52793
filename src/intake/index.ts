/** Maps each webhook to its reader, and parses long lists in slices, so that other requests are answered in between. */

import type { Intake, Source } from '../domain/event/event.ts'
import { membersOf, readNotification } from './alertmanager.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { fieldsOf } from './fields.ts'
import { MAX_ITEMS } from './items.ts'
import { readMetrics } from './metrics.ts'
import { readPrometheus } from './prometheus.ts'

/** A source, or `prometheus` for the alerts that Prometheus sends directly. */
export type ReaderName = Source | 'prometheus'

/** Converts a parsed request body into drafts and rejected items. `receivedAt` is in ms UTC. */
type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader for each webhook and for `POST /alertmanager/api/v2/alerts`. Each reader's file detects the formats of that reader's senders. */
export const READERS: Readonly<Record<ReaderName, Reader>> = {
  cluster: readCluster,
  metrics: readMetrics,
  // `TestAlert`, which Grafana's Test button sends, becomes a test.
  dashboard: (body, receivedAt) => readNotification(body, receivedAt, 'dashboard'),
  ci: readCi,
  prometheus: readPrometheus,
}

/** Parsing this many alerts, or this many bytes of alerts with many labels, takes 5 to 20 ms. */
export const SLICE = 250
const SLICE_BYTES = 262_144

type Read = (body: unknown) => Intake

/** Yields after each slice. `bytes` is the length of the body. Returns the same as `read`. */
export function* readInSlices(body: unknown, bytes: number, read: Read): Generator<void, Intake> {
  const fields = fieldsOf(body)
  // A list of Kubernetes events has `items`.
  const name = Array.isArray(fields?.alerts) ? 'alerts' : 'items'
  const alerts = Array.isArray(body) ? body : fields?.[name]
  if (!Array.isArray(alerts) || alerts.length > MAX_ITEMS) return read(body)
  const step = Math.min(SLICE, Math.ceil((alerts.length * SLICE_BYTES) / bytes))
  if (alerts.length <= step) return read(body)
  const parts: Intake[] = []
  for (let from = 0; from < alerts.length; from += step) {
    const slice = alerts.slice(from, from + step)
    const part = read(Array.isArray(body) ? slice : { ...fields, [name]: slice })
    // This sender's items are in another list.
    if (part.accepted.length + part.rejected.length > slice.length) return read(body)
    const shifted = <Item extends { readonly index: number }>(item: Item) => ({ ...item, index: item.index + from })
    parts.push({ ...part, accepted: part.accepted.map(shifted), rejected: part.rejected.map(shifted) })
    yield
  }
  return joined(parts)
}

function joined(parts: readonly Intake[]): Intake {
  const accepted = parts.flatMap((part) => part.accepted)
  const rejected = parts.flatMap((part) => part.rejected)
  const group = parts[0]?.group ?? null
  return { ...parts[0], accepted, rejected, group: group && { ...group, members: membersOf(accepted) } }
}
