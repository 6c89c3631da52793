import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/**
 * Parses a Grafana notification; see `readNotification`. `TestAlert`, which Grafana's Test button sends, becomes a
 * test.
 */
export function readDashboard(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'dashboard')
}
