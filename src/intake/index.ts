/** Intake: which reader understands which webhook. */

import type { Intake, Source } from '../domain/event/event.ts'
import { readNotificationInSteps } from './alertmanager.ts'
import { readCi } from './ci.ts'
import { readCluster } from './cluster.ts'
import { readDashboard } from './dashboard.ts'
import { readMetrics } from './metrics.ts'

/** A reader turns the parsed body of one request, received at `receivedAt` (ms UTC), into drafts and refusals. */
export type Reader = (body: unknown, receivedAt: number) => Intake

/** The reader of each webhook; a new sender of an old kind is a new file behind one of these. */
export const READERS: Readonly<Record<Source, Reader>> = {
  cluster: readCluster,
  metrics: readMetrics,
  dashboard: readDashboard,
  ci: readCi,
}

/** As its reader reads it, but a notification in at least so many steps: others may have their turn at each `yield`. */
export function* readInSteps(
  source: Source,
  body: unknown,
  receivedAt: number,
  steps: number,
): Generator<void, Intake> {
  if (source === 'cluster' || source === 'ci') return READERS[source](body, receivedAt)
  return yield* readNotificationInSteps(body, receivedAt, source, steps)
}
