/** Maps each webhook to its reader. */

import type { Intake, Source } from '../domain/event/event.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { readDashboard } from './dashboard.ts'
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
  dashboard: readDashboard,
  ci: readCi,
  prometheus: readPrometheus,
}
