/** Process metrics in the Prometheus text format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Usage } from '../engine/changes/room.ts'
import type { Committed } from '../engine/queue.ts'
import type { ChannelRecord } from '../store/notification/channels.ts'
import type { SenderRecord } from '../store/senders.ts'

export type Metrics = {
  /**
   * Returns a function that counts the responses of a declared route, for example `GET /api/alerts/:id`. Requests
   * without a route are counted as `none`.
   */
  readonly requestsOf: (route: string) => (status: number, milliseconds: number) => void
  /** Counts a committed batch. */
  readonly committed: (batch: Committed) => void
  /** Counts a connection that was closed because the limit was reached. */
  readonly dropped: () => void
  /** Returns all process metrics as text. The caller provides the current sizes. */
  readonly text: (sizes: Sizes) => Promise<string>
}

/** Sizes in bytes. `waiting` is the number of pending requests. */
type Sizes = { readonly database: number; readonly wal: number; readonly free: number; readonly waiting: number }

/**
 * The upper bounds of the buckets, in seconds. The range is from the speed of memory to the speed of a failing disk.
 */
const COMMIT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]
const REQUEST_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10]
const BATCH_SIZES = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 5000]

export function createMetrics(version: string): Metrics {
  const registry = new Registry()
  const create = creatorsIn(registry)
  const counters = createCounters(create)
  const sizes = createSizeFigures(create)
  create.gauge('incmon_build_info', 'Always 1.', ['version', 'node']).set({ version, node: process.versions.node }, 1)
  return {
    requestsOf: createRequestFigures(create),
    committed: ({ deliveries, items, rejected, repeated, milliseconds }) => {
      if (deliveries + items + rejected === 0) return
      counters.items.inc(items)
      counters.rejected.inc(rejected)
      counters.repeated.inc(repeated)
      counters.batches.observe(deliveries)
      counters.batchItems.observe(items)
      counters.commits.observe(milliseconds / 1000)
    },
    dropped: () => counters.dropped.inc(),
    text: async (now) => {
      for (const [name, gauge] of Object.entries(sizes)) gauge.set(now[name as keyof Sizes])
      return (await registry.metrics()) + (await processRegistry().metrics())
    },
  }
}

type Creators = ReturnType<typeof creatorsIn>

/** Returns functions that create metrics in a registry. */
function creatorsIn(registry: Registry) {
  const registers = [registry]
  return {
    counter: (name: string, help: string, labelNames: string[] = []) =>
      new Counter({ name, help, labelNames, registers }),
    gauge: (name: string, help: string, labelNames: string[] = []) => new Gauge({ name, help, labelNames, registers }),
    histogram: (name: string, help: string, buckets: number[], labelNames: string[] = []) =>
      new Histogram({ name, help, buckets, labelNames, registers }),
  }
}

function createCounters({ counter, histogram }: Creators) {
  return {
    items: counter('incmon_ingested_items_total', 'Webhook items accepted, including repeats.'),
    rejected: counter('incmon_rejected_items_total', 'Webhook items rejected with an error.'),
    repeated: counter(
      'incmon_repeated_deliveries_total',
      'Requests that repeated an Idempotency-Key and stored nothing.',
    ),
    dropped: counter(
      'incmon_dropped_connections_total',
      'Connections closed because of max-connections or max-connections-per-address.',
    ),
    batches: histogram('incmon_batch_deliveries', 'Requests in one commit.', BATCH_SIZES),
    batchItems: histogram('incmon_batch_items', 'Items in one commit.', BATCH_SIZES),
    commits: histogram('incmon_commit_seconds', 'Time to decide, write and sync a batch.', COMMIT_SECONDS),
  }
}

/** Caches the counter for each route and status, because looking up a labeled counter is slow. */
function createRequestFigures({ counter, histogram }: Creators): Metrics['requestsOf'] {
  const requests = counter('incmon_http_requests_total', 'HTTP requests answered.', ['route', 'status'])
  const help = 'Time from receiving the headers of a request to sending its response.'
  const seconds = histogram('incmon_http_request_seconds', help, REQUEST_SECONDS, ['route'])
  return (route) => {
    const counted: { inc: () => void }[] = []
    const timed = seconds.labels({ route })
    return (status, milliseconds) => {
      const hundreds = Math.trunc(status / 100)
      counted[hundreds] ??= requests.labels({ route, status: `${hundreds}xx` })
      counted[hundreds].inc()
      timed.observe(milliseconds / 1000)
    }
  }
}

function createSizeFigures({ gauge }: Creators): Readonly<Record<keyof Sizes, Gauge>> {
  return {
    database: gauge('incmon_database_bytes', 'Size of the database file.'),
    wal: gauge('incmon_database_wal_bytes', 'Size of the write-ahead log.'),
    free: gauge('incmon_disk_free_bytes', 'Free disk space.'),
    waiting: gauge('incmon_waiting_deliveries', 'Webhook requests that are not yet committed.'),
  }
}

/**
 * Gauges with names that only counters should have. promtool rejects such names. Equivalent metrics exist under other
 * names.
 */
const MISNAMED = ['handles', 'requests', 'resources'].map((kind) => `nodejs_active_${kind}_total`)

let ofProcess: Registry | null = null

/**
 * Metrics about CPU, memory, garbage collection and event loop lag. These metrics exist once per process, and all
 * servers in the process share them.
 */
function processRegistry(): Registry {
  if (!ofProcess) {
    ofProcess = new Registry()
    collectDefaultMetrics({ register: ofProcess })
    for (const name of MISNAMED) ofProcess.removeSingleMetric(name)
    // prom-client counts only the time since this call.
    const { user, system } = process.cpuUsage()
    for (const [kind, micros] of Object.entries({ user_: user, system_: system, '': user + system })) {
      const counter = ofProcess.getSingleMetric(`process_cpu_${kind}seconds_total`)
      if (counter instanceof Counter) counter.inc(micros / 1e6)
    }
  }
  return ofProcess
}

/** @param open the number of unresolved incidents by severity */
export function organizationText(
  open: Readonly<Record<string, number>>,
  senders: readonly SenderRecord[],
  channels: readonly ChannelRecord[],
  usage: readonly Usage[],
): Promise<string> {
  const registry = new Registry()
  const { counter, gauge } = creatorsIn(registry)
  const incidents = gauge('incmon_open_incidents', 'Incidents of the organization that are not resolved.', ['severity'])
  for (const [severity, count] of Object.entries(open)) incidents.set({ severity }, count)
  const [use, most] = [
    gauge('incmon_limit_used', 'How much of a limit the organization uses.', ['limit']),
    gauge('incmon_limit', 'The limit of the organization.', ['limit']),
  ]
  for (const { limit, used, value } of usage) {
    use.set({ limit }, used)
    most.set({ limit }, value)
  }
  const sender = ['source', 'cluster', 'receiver']
  const items = counter('incmon_source_items_total', 'Items accepted, including repeats, by source.', sender)
  const rejected = counter('incmon_source_rejected_items_total', 'Items rejected with an error, by source.', sender)
  const seenHelp = 'When the sender last sent a usable item.'
  const seen = gauge('incmon_source_last_seen_timestamp_seconds', seenHelp, sender)
  for (const { source, cluster, receiver, events, rejections, lastEventAt } of senders) {
    const labels = { source, cluster, receiver }
    items.inc(labels, events)
    rejected.inc(labels, rejections)
    if (lastEventAt !== null) seen.set(labels, lastEventAt / 1000)
  }
  const failingHelp = 'Whether the last message to a channel failed (1) or was delivered (0).'
  const failing = gauge('incmon_channel_failing', failingHelp, ['channel'])
  for (const { name, failing: cause } of channels) failing.set({ channel: name }, cause === null ? 0 : 1)
  return registry.metrics()
}
