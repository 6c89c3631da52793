/** Maps each webhook to its parser. */

import type { Intake, Source } from '../domain/event/event.ts'
import { readNotificationInSteps } from './alertmanager.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { readDashboard } from './dashboard.ts'
import { fieldsOf } from './fields.ts'
import { readMetrics } from './metrics.ts'

/** Converts a parsed request body into drafts and rejected items. `receivedAt` is in ms UTC. */
export type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader for each webhook. To support another sender, write a reader in a new file and add the reader here. */
export const READERS: Readonly<Record<Source, Reader>> = {
  cluster: readCluster,
  metrics: readMetrics,
  dashboard: readDashboard,
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
  const isList = Array.isArray(fieldsOf(body)?.alerts)
  if (source === 'cluster' || source === 'ci' || !isList) return READERS[source](body, receivedAt)
  return yield* readNotificationInSteps(body, receivedAt, source, steps)
}
