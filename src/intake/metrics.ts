import type { Intake } from '../domain/event/event.ts'
import { readNotification } from './alertmanager.ts'

/** Parses an Alertmanager notification; see `readNotification`. To add another sender of alerts, detect it here. */
export function readMetrics(body: unknown, receivedAt: number): Intake {
  return readNotification(body, receivedAt, 'metrics')
}
