/** Maps each webhook to the function that reads it. */

import type { Intake, Source } from '../domain/event/event.ts'
import { readNotificationInSteps } from './alertmanager.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { readDashboard } from './dashboard.ts'
import { fieldsOf } from './fields.ts'
import { readMetrics } from './metrics.ts'

/** Turns the parsed body of a request, received at `receivedAt` (ms UTC), into drafts and rejected items. */
export type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader of each webhook. To add a sender to a webhook, write a reader in a new file and call it from here. */
export const READERS: Readonly<Record<Source, Reader>> = {
  cluster: readCluster,
  metrics: readMetrics,
  dashboard: readDashboard,
  ci: readCi,
}

/** Reads a body. A list of alerts is read in at least `steps` steps. The caller may do other work at each `yield`. */
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
