/** Reads kubewatch's webhook: `{eventmeta: {kind, name, namespace, reason}, text, time}`. */
import { type Fields, fieldsOf, optionalText } from './fields.ts'

/** kubewatch calls these events of a node or pod a kind of their own. */
const EVENTS: ReadonlyMap<string, readonly [kind: string, reason: string]> = new Map([
  ['backoff', ['Pod', 'BackOff']],
  ['nodenotready', ['Node', 'NodeNotReady']],
  ['nodeready', ['Node', 'NodeReady']],
  ['noderebooted', ['Node', 'Rebooted']],
])

/** kubewatch writes kinds in lower case or in the plural of the API. */
const KINDS = new Map(
  [
    ...['Pod', 'Node', 'Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Job', 'CronJob', 'Service', 'Ingress'],
    ...['ReplicationController', 'HorizontalPodAutoscaler', 'PersistentVolume', 'Namespace', 'ConfigMap', 'Secret'],
  ].map((kind) => [kind.toLowerCase(), kind]),
)

/** Returns the body as an event of `v1`, or null if it is not from kubewatch. */
export function eventOfKubewatch(body: Fields): Fields | null {
  const meta = fieldsOf(body.eventmeta)
  if (!meta) return null
  const [kind, name] = [optionalText(meta, 'kind') ?? '', optionalText(meta, 'name') ?? '']
  const told = EVENTS.get(kind.toLowerCase())
  const known = KINDS.get(kind.toLowerCase()) ?? KINDS.get(kind.toLowerCase().replace(/s$/, '')) ?? kind
  const namespace = optionalText(meta, 'namespace') ?? (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')
  return {
    involvedObject: { kind: told?.[0] ?? known, name: name.slice(name.lastIndexOf('/') + 1), namespace },
    reason: told?.[1] ?? optionalText(meta, 'reason'),
    message: body.text,
    lastTimestamp: body.time,
  }
}
