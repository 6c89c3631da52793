/** The resources of the fake API server, and the discovery documents that clients read. */

export type Resource = {
  /** The API group; '' for the core group. */
  readonly group: string
  readonly version: string
  readonly plural: string
  readonly kind: string
  readonly namespaced: boolean
  readonly short: readonly string[]
}

function row(apiVersion: string, plural: string, kind: string, short = '', namespaced = true): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion]
  return { group, version, plural, kind, namespaced, short: short === '' ? [] : short.split(' ') }
}

export const RESOURCES: readonly Resource[] = [
  row('v1', 'pods', 'Pod', 'po'),
  row('v1', 'events', 'Event', 'ev'),
  row('v1', 'nodes', 'Node', 'no', false),
  row('v1', 'namespaces', 'Namespace', 'ns', false),
  row('apps/v1', 'deployments', 'Deployment', 'deploy'),
  row('apps/v1', 'replicasets', 'ReplicaSet', 'rs'),
  row('apps/v1', 'statefulsets', 'StatefulSet', 'sts'),
  row('apps/v1', 'daemonsets', 'DaemonSet', 'ds'),
  row('batch/v1', 'jobs', 'Job'),
  row('batch/v1', 'cronjobs', 'CronJob', 'cj'),
  row('autoscaling/v2', 'horizontalpodautoscalers', 'HorizontalPodAutoscaler', 'hpa'),
]

/** `events.k8s.io/v1` shows the same objects as the events of `v1`, in another shape. */
export const NEW_EVENTS: Resource = row('events.k8s.io/v1', 'events', 'Event', 'ev')

const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']

/** Returns the discovery document for a path, or null. */
export function discovery(path: string): object | null {
  if (path === '/version') return { major: '1', minor: '32', gitVersion: 'v1.32.0', platform: 'linux/amd64' }
  if (path === '/api')
    return {
      ...{ kind: 'APIVersions', versions: ['v1'] },
      serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress: '127.0.0.1' }],
    }
  const all = [
    ...RESOURCES,
    NEW_EVENTS,
    row('authorization.k8s.io/v1', 'selfsubjectaccessreviews', 'SelfSubjectAccessReview', '', false),
  ]
  if (path === '/apis') {
    const groups = [...new Set(all.map(({ group }) => group).filter((group) => group !== ''))]
    return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupOf(group, all)) }
  }
  const [, group = '', version = ''] = /^\/(?:api|apis\/([^/]+))\/(v\d+)$/.exec(path) ?? []
  const own = all.filter((one) => one.group === group && one.version === version)
  return own.length === 0 ? null : resourceList(group, version, own)
}

function groupOf(name: string, all: readonly Resource[]): object {
  const version = all.find(({ group }) => group === name)?.version ?? 'v1'
  const known = { groupVersion: `${name}/${version}`, version }
  return { name, versions: [known], preferredVersion: known }
}

function resourceList(group: string, version: string, own: readonly Resource[]): object {
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: own.map(({ plural, kind, namespaced, short }) => ({
      ...{ name: plural, singularName: '', namespaced, kind, shortNames: short },
      verbs: plural === 'selfsubjectaccessreviews' ? ['create'] : VERBS,
    })),
  }
}
