/** What incmon reads from a cluster, in the order in which it must be listed: owners before what they own. */
import type { Kind } from '../domain/watch/object.ts'

type Resource = {
  readonly kind: Kind
  readonly group: string
  readonly plural: string
  /** The paths of the API to try, without a namespace. */
  readonly paths: readonly string[]
  readonly namespaced: boolean
  /** What is missing without the permission to read it. */
  readonly without: string
}

export const RESOURCES: readonly Resource[] = [
  row('Node', '', 'nodes', 'nodes that fail, are drained or are removed', false),
  {
    ...row('HorizontalPodAutoscaler', 'autoscaling', 'horizontalpodautoscalers', 'autoscalers that cannot scale'),
    paths: ['/apis/autoscaling/v2', '/apis/autoscaling/v1'],
  },
  row('Deployment', 'apps', 'deployments', 'available replicas, and who changed an image'),
  row('StatefulSet', 'apps', 'statefulsets', 'the rollouts and replicas of StatefulSets'),
  row('DaemonSet', 'apps', 'daemonsets', 'the rollouts and replicas of DaemonSets'),
  row('ReplicaSet', 'apps', 'replicasets', 'the rollouts of Deployments and their images'),
  row('CronJob', 'batch', 'cronjobs', 'CronJobs that have not failed yet'),
  row('Job', 'batch', 'jobs', 'the CronJob that a failed Job belongs to'),
  row('Pod', '', 'pods', 'crash loops, pods that cannot start, and the end of every problem'),
  {
    ...row('Event', 'events.k8s.io', 'events', 'probes, volumes and everything else that only events tell'),
    paths: ['/apis/events.k8s.io/v1', '/api/v1'],
  },
]

function row(kind: Kind, group: string, plural: string, without: string, namespaced = true): Resource {
  return { kind, group, plural, paths: [group === '' ? '/api/v1' : `/apis/${group}/v1`], namespaced, without }
}

/** One list and watch: of a resource, in one namespace or in all of them. */
export type Stream = { readonly resource: Resource; readonly namespace: string; readonly name: string }

/** Returns the streams to read. `namespaces`: empty for all. Nodes have no namespace. */
export function streamsOf(namespaces: readonly string[]): Stream[] {
  return RESOURCES.flatMap((resource) => {
    const inside = resource.namespaced && namespaces.length > 0 ? namespaces : ['']
    return inside.map((namespace) => ({
      ...{ resource, namespace },
      name: namespace === '' ? resource.plural : `${namespace}/${resource.plural}`,
    }))
  })
}

export function pathOf({ resource, namespace }: Stream, base: string): string {
  return `${base}${namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`}/${resource.plural}`
}
