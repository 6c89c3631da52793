/** Test payloads: a minor problem with a fictional workload, in each sender's format. */
import type { Source } from '../domain/event/event.ts'
import { alertmanager, event, MINUTE, pipeline, shaOf } from './demo/senders.ts'

const WORKLOAD = { namespace: 'incmon-test', name: 'send-test' } as const
const POD = `${WORKLOAD.name}-5d8c7b9f4d-x2x7k`
const SUMMARY = 'A test alert of "incmon send-test"'
export const TEST_SERVICE = `${WORKLOAD.namespace}/${WORKLOAD.name}`

/** Functions that return a source's payload. `now` is a Unix time in milliseconds. */
export const TEST_PAYLOADS: Readonly<Record<Source, (now: number) => unknown>> = {
  cluster: (now) => {
    const message = `Back-off restarting failed container ${WORKLOAD.name} in pod ${POD}`
    const more = { message, count: 3, node: 'node-1', since: now - 2 * MINUTE }
    return event(now, WORKLOAD.namespace, POD, 'BackOff', more).body
  },
  metrics: (now) => notification('IncmonSendTest', now),
  dashboard: (now) => ({ ...notification('Incmon send-test', now), orgId: 1, title: '[FIRING:1]', state: 'alerting' }),
  // The pipeline ID changes every minute.
  ci: (now) => {
    const run = { id: Math.floor(now / MINUTE), from: now, until: now, sha: shaOf(WORKLOAD.name, 1) }
    return pipeline(WORKLOAD, { ...run, end: 'tests failed', title: 'Try the webhook' }).at(-1)?.body
  },
}

function notification(name: string, now: number): object {
  const labels = { namespace: WORKLOAD.namespace, service: WORKLOAD.name }
  const alert = { name, severity: 'warning', summary: SUMMARY, labels, startsAt: now - MINUTE }
  return alertmanager(now, 'send-test', [alert]).body
}
