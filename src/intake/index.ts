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
export type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader for each webhook and for `POST /alertmanager/api/v2/alerts`. Each reader's file detects the formats of that reader's senders. */
export const READERS: Readonly<Record<ReaderName, Reader>> = {
  cluster: readCluster,
  metrics: (body, receivedAt) => allSteps(readMetrics(body, receivedAt, 1)),
  dashboard: (body, receivedAt) => allSteps(readDashboard(body, receivedAt, 1)),
  ci: readCi,
  prometheus: (body, receivedAt) => allSteps(readPrometheus(body, receivedAt, 1)),
}

/**
 * Parses a body. A list of alerts is parsed in at least `steps` steps. The caller can do other work at each `yield`.
 */
export function* readInSteps(
  name: ReaderName,
  body: unknown,
  receivedAt: number,
  steps: number,
): Generator<void, Intake> {
  if (name === 'cluster' || name === 'ci') return READERS[name](body, receivedAt)
  return yield* STEPPED[name](body, receivedAt, steps)
}

const STEPPED = { metrics: readMetrics, dashboard: readDashboard, prometheus: readPrometheus }

function allSteps(steps: Generator<void, Intake>): Intake {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
