/** The configuration for each kind of sender. `{url}`, `{scheme}`, `{host}`, `{path}` and `{token}` are placeholders. */
import type { Source } from '../../domain/event/event.ts'
import type { IconName } from '../kit/symbols.ts'

export type ConnectionName = Source | 'prometheus' | 'other'

export type Connection = {
  readonly id: ConnectionName
  readonly name: string
  readonly icon: IconName
  readonly what: string
  readonly webhook: string
  /** The heading of the second step: the text before the file name, the file name, and the text after it. */
  readonly before: string
  readonly file: string
  readonly after: string
  readonly tokenHint: string
  readonly text: string
}

/** The same text as in examples/alertmanager.yml. */
const ALERTMANAGER = `route:
  receiver: default # Your existing receiver.
  routes:
    # (1) Add this as the first route. With continue: true, the other routes also get the alerts.
    - receiver: incmon
      continue: true
      group_by: [alertname, namespace]
      group_wait: 10s
      group_interval: 30s
      repeat_interval: 2m
    # Your other routes stay here.
    # (2) Add this as the last route. Without it, the default receiver would get no alerts any more.
    - receiver: default
receivers:
  - name: default
  # (3) Add this receiver.
  - name: incmon
    webhook_configs:
      - url: {url}
        send_resolved: true
        http_config:
          authorization:
            type: Bearer
            credentials_file: incmon-token`

/** Like the configuration in docs/alertmanager.md, but with the token. */
const PROMETHEUS = `alerting:
  alertmanagers:
    - scheme: {scheme}
      path_prefix: {path}/alertmanager
      authorization:
        credentials: {token}
      static_configs:
        - targets: ['{host}']`

const EXPORTER = `route:
  routes:
    - match:
        - receiver: incmon
receivers:
  - name: incmon
    webhook:
      endpoint: {url}
      headers:
        Authorization: Bearer {token}
        Content-Type: application/json`

const GRAFANA = `apiVersion: 1
contactPoints:
  - orgId: 1
    name: incmon
    receivers:
      - uid: incmon
        type: webhook
        settings:
          url: {url}
          httpMethod: POST
          authorization_scheme: Bearer
          authorization_credentials: {token}`

const GITLAB = `URL:          {url}
Secret token: {token}
Trigger:      Pipeline events, Job events`

const OTHER = `curl -H 'Authorization: Bearer {token}' {url} \\
  -d '{"alerts":[{"labels":{"alertname":"DiskFull","service":"checkout","severity":"critical"}}]}'`

export const CONNECTIONS: Readonly<Record<ConnectionName, Connection>> = {
  metrics: {
    ...{ id: 'metrics', name: 'Alertmanager', icon: 'pulse', what: 'Alerts from Prometheus' },
    ...{ webhook: '/api/webhooks/metrics', before: 'Add entries (1) to (3) to', file: 'alertmanager.yml' },
    after: ' and reload',
    tokenHint: 'Save the token as incmon-token next to alertmanager.yml.',
    text: ALERTMANAGER,
  },
  prometheus: {
    ...{ id: 'prometheus', name: 'Prometheus', icon: 'pulse', what: 'Alerts without an Alertmanager' },
    ...{ webhook: '/alertmanager/api/v2/alerts', before: 'Add this Alertmanager to', file: 'prometheus.yml' },
    after: ' and reload',
    tokenHint: 'The configuration below contains the token.',
    text: PROMETHEUS,
  },
  cluster: {
    ...{ id: 'cluster', name: 'Kubernetes events', icon: 'box', what: 'Crash loops, failed mounts, nodes' },
    ...{ webhook: '/api/webhooks/cluster', before: 'Add this match and this receiver to', file: 'config.yaml' },
    after: ' of kubernetes-event-exporter',
    tokenHint: 'The configuration below contains the token.',
    text: EXPORTER,
  },
  ci: {
    ...{ id: 'ci', name: 'GitLab CI', icon: 'branch', what: 'Pipelines and deploys: what changed' },
    ...{ webhook: '/api/webhooks/ci', before: 'Add this webhook under', file: 'Settings › Webhooks' },
    after: ' of the project',
    tokenHint: 'Use the token as the secret token of the webhook.',
    text: GITLAB,
  },
  dashboard: {
    ...{ id: 'dashboard', name: 'Grafana', icon: 'bars', what: 'Alert rules from dashboards' },
    ...{ webhook: '/api/webhooks/dashboard', before: 'Save this as', file: 'provisioning/alerting/incmon.yaml' },
    after: ' and restart Grafana',
    tokenHint: 'The configuration below contains the token.',
    text: GRAFANA,
  },
  other: {
    ...{ id: 'other', name: 'Anything else', icon: 'right', what: 'Any program that can send JSON' },
    ...{ webhook: '/api/webhooks/metrics', before: 'Send JSON with', file: 'curl', after: ' or a library' },
    tokenHint: 'The command below contains the token.',
    text: OTHER,
  },
}
