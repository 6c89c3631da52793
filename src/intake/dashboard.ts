/** Reads notifications of Grafana's unified alerting. */

import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/** Reads a notification of Grafana; see `readNotification`. `TestAlert` comes from the Test button and is a test. */
export function readDashboard(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'dashboard')
}
