/** Names for use in messages: short, on one line, and familiar to users. */

/** Names longer than this are truncated, because a lock screen shows about 100 characters in total. */
const MAX_NAME = 60

/** Returns whether a service represents a sender. The service of a sender has a name like `source/metrics/incmon`. */
export function isSender(service: string): boolean {
  return service.startsWith('source/')
}

/** Returns the display name of a service. For a sender, returns the name of the sender's program. */
export function shownName(service: string): string {
  if (!isSender(service)) return shortened(service)
  const [, source = '', ...receiver] = service.split('/')
  const names: Record<string, string> = {
    metrics: 'Alertmanager',
    dashboard: 'Grafana',
    cluster: 'Kubernetes',
    ci: 'GitLab',
  }
  const name = names[source] ?? service
  return shortened(receiver.length === 0 ? name : `${name} (${receiver.join('/')})`)
}

/** Returns the text on one line without control characters, truncated to `longest` characters. */
export function shortened(text: string, longest = MAX_NAME): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`
}
