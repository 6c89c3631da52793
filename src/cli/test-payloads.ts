/** Test payloads: one small problem of a fictional workload, as each sender reports it. */
import type { Source } from '../domain/event/event.ts'

const MINUTE = 60_000
const WORKLOAD = { namespace: 'incmon-test', name: 'send-test' } as const
const LABELS = { namespace: WORKLOAD.namespace, service: WORKLOAD.name, severity: 'warning' } as const
const NEVER = '0001-01-01T00:00:00Z'

/** Functions that return the payload of a source. `now` in milliseconds UTC. */
export const TEST_PAYLOADS: Readonly<Record<Source, (now: number) => unknown>> = {
  cluster: clusterPayload,
  metrics: metricsPayload,
  dashboard: dashboardPayload,
  ci: ciPayload,
}

/** Has the layout of examples/kubernetes-event-exporter-layout.yaml. */
function clusterPayload(now: number) {
  return {
    namespace: WORKLOAD.namespace,
    podName: `${WORKLOAD.name}-5d8c7b9f4d-x2x7k`,
    reason: 'BackOff',
    message: `Back-off restarting failed container ${WORKLOAD.name} in pod ${WORKLOAD.name}-5d8c7b9f4d-x2x7k`,
    count: 3,
    nodeName: 'node-1',
    involvedObjectKind: 'Pod',
    firstTime: iso(now - 2 * MINUTE),
    lastTime: iso(now),
  }
}

/** A notification of Alertmanager with one alert. */
function metricsPayload(now: number) {
  const labels = { alertname: 'IncmonSendTest', ...LABELS }
  const annotations = { summary: 'A test alert of "incmon send-test"', description: 'Nothing is wrong.' }
  return {
    version: '4',
    receiver: 'incmon',
    status: 'firing',
    groupKey: '{}:{alertname="IncmonSendTest"}',
    groupLabels: { alertname: labels.alertname },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: 'http://alertmanager.example.org:9093',
    truncatedAlerts: 0,
    alerts: [
      {
        status: 'firing',
        labels,
        annotations,
        startsAt: iso(now - MINUTE),
        endsAt: NEVER,
        generatorURL: 'http://prometheus.example.org:9090/graph?g0.expr=vector%281%29',
        fingerprint: '1a2b3c4d5e6f7081',
      },
    ],
  }
}

/** A notification of Grafana: the fields of Alertmanager and some more. */
function dashboardPayload(now: number) {
  const labels = { alertname: 'Incmon send-test', grafana_folder: 'Tests', ...LABELS }
  const annotations = { summary: 'A test alert of "incmon send-test"' }
  const grafana = 'https://grafana.example.org'
  return {
    version: '1',
    orgId: 1,
    receiver: 'incmon',
    status: 'firing',
    state: 'alerting',
    title: '[FIRING:1] Incmon send-test',
    message: 'A test alert of "incmon send-test"',
    groupKey: '{}:{alertname="Incmon send-test"}',
    groupLabels: { alertname: labels.alertname },
    commonLabels: labels,
    commonAnnotations: annotations,
    externalURL: `${grafana}/`,
    truncatedAlerts: 0,
    alerts: [
      {
        status: 'firing',
        labels,
        annotations,
        startsAt: iso(now - MINUTE),
        endsAt: NEVER,
        generatorURL: `${grafana}/alerting/grafana/send-test/view?orgId=1`,
        silenceURL: `${grafana}/alerting/silence/new?alertmanager=grafana`,
        dashboardURL: `${grafana}/d/send-test?orgId=1`,
        panelURL: `${grafana}/d/send-test?orgId=1&viewPanel=1`,
        fingerprint: '8170f6e5d4c3b2a1',
        values: { A: 1 },
        valueString: "[ var='A' labels={} value=1 ]",
      },
    ],
  }
}

/** A failed pipeline of GitLab. Each minute has its own pipeline. */
function ciPayload(now: number) {
  const project = `${WORKLOAD.namespace}/${WORKLOAD.name}`
  const url = `https://gitlab.example.org/${project}`
  const sha = 'c0ffee00c0ffee00c0ffee00c0ffee00c0ffee00'
  const id = Math.floor(now / MINUTE)
  const job = { id, stage: 'test', name: 'unit', allow_failure: false, failure_reason: 'script_failure' }
  return {
    object_kind: 'pipeline',
    object_attributes: {
      id,
      ref: 'main',
      tag: false,
      sha,
      source: 'push',
      status: 'failed',
      stages: ['test'],
      created_at: iso(now - 3 * MINUTE),
      finished_at: iso(now),
      duration: 170,
      url: `${url}/-/pipelines/${id}`,
    },
    user: { id: 1, name: 'incmon send-test', username: 'send-test' },
    project: { id: 1, name: WORKLOAD.name, web_url: url, path_with_namespace: project, default_branch: 'main' },
    commit: { id: sha, message: 'Try the webhook', timestamp: iso(now - 4 * MINUTE), url: `${url}/-/commit/${sha}` },
    builds: [{ ...job, status: 'failed', created_at: iso(now - 3 * MINUTE), finished_at: iso(now) }],
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}
