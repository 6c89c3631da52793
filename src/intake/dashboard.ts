/** Dashboard: notifications of Grafana's unified alerting. */

import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/** Reads a notification of Grafana; see `readNotification`. `TestAlert`, which its Test button sends, is a test. */
export function readDashboard(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'dashboard')
}
