/** Reads notifications of Prometheus Alertmanager. */

import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/** Reads a notification of Alertmanager; see `readNotification`. */
export function readMetrics(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'metrics')
}
