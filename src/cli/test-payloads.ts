/** Test payloads: a minor problem with a fictional workload, in each sender's format. */
import type { Source } from '../domain/event/event.ts'
import { MINUTE } from '../domain/units.ts'

const [NAMESPACE, NAME] = ['incmon-test', 'send-test']
const POD = `${NAME}-5d8c7b9f4d-x2x7k`
const SHA = 'c37d55b5f6bc5a1a0ff2eb4d0d1b8ac0a54b3f10'
const PROJECT = `${NAMESPACE}/${NAME}`
const PROJECT_URL = `https://gitlab.example.com/${PROJECT}`
export const TEST_SERVICE = PROJECT

/** Functions that return a source's payload. `now` is a Unix time in milliseconds. */
export const TEST_PAYLOADS: Readonly<Record<Source, (now: number) => unknown>> = {
  cluster: (now) => ({
    namespace: NAMESPACE,
    podName: POD,
    reason: 'BackOff',
    message: `Back-off restarting failed container ${NAME} in pod ${POD}`,
    involvedObjectKind: 'Pod',
    count: '3',
    nodeName: 'node-1',
    firstTime: iso(now - 2 * MINUTE),
    lastTime: iso(now),
  }),
  metrics: (now) => notification('IncmonSendTest', now),
  dashboard: (now) => ({ ...notification('incmon send-test', now), orgId: 1, title: '[FIRING:1]', state: 'alerting' }),
  ci: failedPipeline,
}

function notification(alertname: string, now: number): object {
  const alert = {
    status: 'firing',
    startsAt: iso(now - MINUTE),
    endsAt: '0001-01-01T00:00:00Z',
    labels: { alertname, severity: 'warning', namespace: NAMESPACE, service: NAME },
    annotations: { summary: 'A test alert of "incmon send-test"' },
    generatorURL: 'https://prometheus.example.com/graph?g0.tab=1',
  }
  const group = { groupKey: '{}:{group="send-test"}', groupLabels: {}, commonLabels: {}, commonAnnotations: {} }
  const externalURL = 'https://alertmanager.example.com'
  return {
    version: '4',
    status: 'firing',
    receiver: 'incmon',
    truncatedAlerts: 0,
    externalURL,
    ...group,
    alerts: [alert],
  }
}

/** Returns a pipeline whose tests failed. Its ID changes every minute. */
function failedPipeline(now: number): object {
  const id = Math.floor(now / MINUTE)
  const created = iso(now - 3 * MINUTE)
  const times = { created_at: created, started_at: created, finished_at: iso(now) }
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: 'main',
      sha: SHA,
      source: 'push',
      status: 'failed',
      created_at: created,
      finished_at: iso(now),
      duration: 180,
      url: `${PROJECT_URL}/-/pipelines/${id}`,
    },
    builds: [{ id: 1, name: 'test', stage: 'test', status: 'failed', failure_reason: 'script_failure', ...times }],
    user: { id: 1, name: 'Sam', username: 'sam' },
    project: { id: 9, name: PROJECT, path_with_namespace: PROJECT, default_branch: 'main', web_url: PROJECT_URL },
    commit: { id: SHA, message: 'Try the webhook', timestamp: created, url: `${PROJECT_URL}/-/commit/${SHA}` },
  }
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
