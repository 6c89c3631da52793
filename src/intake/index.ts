/** Maps each webhook to its reader. */

import type { Intake, Source } from '../domain/event/event.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { readDashboard } from './dashboard.ts'
import { readMetrics } from './metrics.ts'

/** Converts a parsed request body into drafts and rejected items. `receivedAt` is in ms UTC. */
export type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader for each webhook. Each reader's file detects the formats of that reader's senders. */
export const READERS: Readonly<Record<Source, Reader>> = {
  cluster: readCluster,
  metrics: (body, receivedAt) => allSteps(readMetrics(body, receivedAt, 1)),
  dashboard: (body, receivedAt) => allSteps(readDashboard(body, receivedAt, 1)),
  ci: readCi,
}

/**
 * Parses a body. A list of alerts is parsed in at least `steps` steps. The caller can do other work at each `yield`.
 */
export function* readInSteps(
  source: Source,
  body: unknown,
  receivedAt: number,
  steps: number,
): Generator<void, Intake> {
  if (source === 'cluster' || source === 'ci') return READERS[source](body, receivedAt)
  const read = source === 'metrics' ? readMetrics : readDashboard
  return yield* read(body, receivedAt, steps)
}

function allSteps(steps: Generator<void, Intake>): Intake {
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}
