/** The requests of the `growing` benchmark: what Alertmanager, Grafana, an event exporter and GitLab send. */

export type Body = { readonly path: 'metrics' | 'dashboard' | 'cluster' | 'ci'; readonly body: string }

export const KNOWN_POD = 'api-6d4cf56db6-abcde'
const LETTERS = 'bcdfghjklmnpqrstvwxz2456789'

export function podName(workload: string, n: number): string {
  const letter = (place: number) => LETTERS[Math.floor(n / LETTERS.length ** place) % LETTERS.length]
  return `${workload}-6d4cf56db6-${[0, 1, 2, 3, 4].map(letter).join('')}`
}

export function bodiesOf(count: number, make: (n: number) => Body): (from: number) => readonly Body[] {
  return (from) => Array.from({ length: count }, (_, n) => make(from + n))
}

export function alertIn(n: number, labels: Readonly<Record<string, string>>): object {
  return {
    status: 'firing',
    labels: { alertname: 'HighErrorRate', severity: 'critical', number: String(n), ...labels },
    annotations: { summary: 'More than 5 % of the requests fail' },
    startsAt: aMinuteAgo(),
    endsAt: '0001-01-01T00:00:00Z',
    generatorURL: 'http://prometheus.example.com/graph',
    fingerprint: n.toString(16).padStart(16, '0'),
  }
}

export function notification(
  path: Body['path'],
  alerts: readonly object[],
  { receiver = 'incmon', groupKey = '{}:{}' }: { readonly receiver?: string; readonly groupKey?: string } = {},
): Body {
  const labels = { groupLabels: {}, commonLabels: {}, commonAnnotations: {} }
  const whole = { version: '4', groupKey, truncatedAlerts: 0, status: 'firing', receiver, externalURL: '' }
  return { path, body: JSON.stringify({ ...whole, ...labels, alerts }) }
}

export function eventOf(
  n: number,
  about: {
    readonly name: string
    readonly namespace?: string
    readonly clusterName?: string
    readonly fieldPath?: string
  },
): Body {
  const { name, namespace = 'shop', clusterName, fieldPath = 'spec.containers{app}' } = about
  const event = {
    metadata: { name: `event-${n}`, namespace, uid: `uid-${n}` },
    ...(clusterName === undefined ? {} : { clusterName }),
    ...{ type: 'Warning', reason: 'BackOff', message: 'Back-off restarting failed container', count: 3 },
    ...{ firstTimestamp: aMinuteAgo(), lastTimestamp: aMinuteAgo() },
    involvedObject: { kind: 'Pod', name, namespace, fieldPath },
  }
  return { path: 'cluster', body: JSON.stringify(event) }
}

export function pipelineOf(
  id: number,
  { project = 'web/site', ref = 'main' }: { readonly project?: string; readonly ref?: string },
): Body {
  const times = { created_at: aMinuteAgo(), finished_at: aMinuteAgo() }
  const hook = {
    object_kind: 'pipeline',
    object_attributes: { id, ref, status: 'failed', ...times },
    project: { path_with_namespace: project, default_branch: 'main' },
    commit: { id: 'abc' },
  }
  return { path: 'ci', body: JSON.stringify(hook) }
}

function aMinuteAgo(): string {
  return new Date(Date.now() - 60_000).toISOString()
}
