import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/** Parses an Alertmanager notification; see `readNotification`. */
export function readMetrics(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'metrics')
}
