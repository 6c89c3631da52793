/**
 * Builds the test events that users send from the web pages. Test events are stored like any other event and have no
 * other effect.
 */
import type { Draft, Intake, Source } from '../domain/event/event.ts'
import { READERS } from './index.ts'

/** Returns a test event in the format of this sender. `now`: Unix time in milliseconds. */
export function testEvent(source: Source, actor: string, now: number): Intake {
  const intake = READERS[source](BODIES[source](`A test event, sent from the pages of incmon by ${actor}`), now)
  return { ...intake, accepted: intake.accepted.map((one) => ({ ...one, draft: asTest(one.draft) })) }
}

/**
 * Request bodies that only store an event. A Kubernetes event about a namespace does not create a service, and an
 * unknown GitLab hook becomes a plain event.
 */
const BODIES: Readonly<Record<Source, (text: string) => unknown>> = {
  cluster: (message) => ({ reason: 'Test', type: 'Normal', message, involvedObjectKind: 'Namespace', name: 'incmon' }),
  metrics: notification,
  dashboard: notification,
  ci: (message) => ({ object_kind: 'test', message }),
}

function notification(summary: string) {
  const labels = { alertname: 'TestAlert', instance: 'incmon' }
  return { receiver: 'test', alerts: [{ status: 'firing', labels, annotations: { summary } }] }
}

function asTest(draft: Draft): Draft {
  return draft.source === 'metrics' || draft.source === 'dashboard' ? { ...draft, nature: 'test' } : draft
}
