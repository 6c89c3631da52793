/** Builds the objects of a small shop, as the API server shows them. */
import type { Json, KubeObject } from './storage.ts'

type More = Readonly<Record<string, Json>>

const iso = (at: number) => new Date(at).toISOString().replace(/\.\d+/, '')

/** A Deployment. `by`: the client that last changed its template. */
export function deployment(
  name: string,
  {
    namespace = 'shop',
    replicas = 1,
    ready = replicas,
    image = `registry.example/shop/${name}:1.0`,
    revision = 1,
    by = 'kubectl-client-side-apply',
    scaledBy,
    at = 0,
    conditions = [],
    generation = revision,
  }: More = {},
): KubeObject {
  return {
    kind: 'Deployment',
    metadata: {
      ...{ name, namespace, generation, labels: { app: name } },
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      managedFields: [
        {
          manager: by,
          operation: 'Update',
          apiVersion: 'apps/v1',
          time: iso(at),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:spec': { 'f:template': {} } },
        },
        ...(scaledBy
          ? [
              {
                manager: scaledBy,
                ...{ operation: 'Update', subresource: 'scale', apiVersion: 'apps/v1', time: iso(at) },
                ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:spec': { 'f:replicas': {} } } },
              },
            ]
          : []),
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          subresource: 'status',
          apiVersion: 'apps/v1',
          time: iso(at),
          fieldsType: 'FieldsV1',
          fieldsV1: { 'f:status': {} },
        },
      ],
    },
    spec: { replicas, selector: { matchLabels: { app: name } }, template: template(name, image) },
    status: {
      ...{ observedGeneration: generation, replicas, updatedReplicas: replicas },
      ...(ready === 0 ? {} : { readyReplicas: ready, availableReplicas: ready }),
      ...{ unavailableReplicas: replicas - ready, conditions },
    },
  }
}

function template(name: string, image: string) {
  return { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'app', image }] } }
}

/** A ReplicaSet of a Deployment. */
export function replicaSet(
  owner: string,
  hash: string,
  {
    namespace = 'shop',
    replicas = 1,
    ready = replicas,
    revision = 1,
    image = `registry.example/shop/${owner}:1.0`,
  }: More = {},
): KubeObject {
  return {
    kind: 'ReplicaSet',
    metadata: {
      ...{ name: `${owner}-${hash}`, namespace, labels: { app: owner, 'pod-template-hash': hash } },
      annotations: { 'deployment.kubernetes.io/revision': String(revision) },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'Deployment', name: owner, uid: `uid-${owner}`, controller: true },
      ],
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: owner, 'pod-template-hash': hash } },
      template: template(owner, image),
    },
    status: { replicas, readyReplicas: ready },
  }
}

/** A pod. `owner`: the kind and the name of its controller. `state`: of its only container; see `waiting`, `running`. */
export function pod(
  name: string,
  {
    namespace = 'shop',
    owner = null,
    node = 'node-1',
    image = 'registry.example/shop/app:1.0',
    state = running(0),
    last = {},
    restarts = 0,
    ready = state.running !== undefined,
    phase = 'Running',
    labels = {},
    conditions = null,
    at = 0,
    probe = true,
    metadata = {},
    reason,
  }: More = {},
): KubeObject {
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: iso(at),
  })
  return {
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, labels },
      ...(owner
        ? {
            ownerReferences: [
              { apiVersion: 'apps/v1', kind: owner[0], name: owner[1], uid: `uid-${owner[1]}`, controller: true },
            ],
          }
        : {}),
      ...metadata,
    },
    spec: {
      ...(node ? { nodeName: node } : {}),
      containers: [{ name: 'app', image, ...(probe ? { readinessProbe: { httpGet: { path: '/', port: 80 } } } : {}) }],
    },
    status: {
      phase,
      ...(reason ? { reason } : {}),
      conditions: conditions ?? [
        condition('PodScheduled', node !== null),
        condition('Ready', ready),
        condition('ContainersReady', ready),
      ],
      containerStatuses:
        phase === 'Pending' && node === null
          ? []
          : [
              {
                name: 'app',
                image,
                imageID: `${image.replace(/:[^:/]*$/, '')}@sha256:${'1'.repeat(64)}`,
                ready,
                restartCount: restarts,
                state,
                lastState: last,
              },
            ],
    },
  }
}

export const running = (at: number) => ({ running: { startedAt: iso(at) } })
export const waiting = (reason: string, message = '') => ({ waiting: { reason, message } })
export const terminated = (
  exitCode: number,
  from: number,
  to: number,
  reason = exitCode === 0 ? 'Completed' : 'Error',
) => ({
  terminated: { exitCode, reason, startedAt: iso(from), finishedAt: iso(to) },
})

/** A pod that cannot be scheduled. */
export function pendingPod(name: string, message: string, more: More = {}): KubeObject {
  const conditions = [
    { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message, lastTransitionTime: iso(more.at ?? 0) },
  ]
  return pod(name, { ...more, node: null, phase: 'Pending', ready: false, conditions })
}

/** An autoscaler of a Deployment. `fails`: why it cannot scale. */
export function autoscaler(target: string, { least = 2, most = 10, fails = '', at = 0 }: More = {}): KubeObject {
  const active = { type: 'ScalingActive', status: fails === '' ? 'True' : 'False', lastTransitionTime: iso(at) }
  return {
    kind: 'HorizontalPodAutoscaler',
    metadata: { name: target, namespace: 'shop' },
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: target },
      ...{ minReplicas: least, maxReplicas: most },
    },
    status: { conditions: [{ ...active, reason: fails || 'ValidMetricFound', message: `the HPA says: ${fails}` }] },
  }
}

/** A node. `ready`: 'True', 'False' or 'Unknown'. */
export function node(
  name: string,
  { ready = 'True', at = 0, heardAt = at, cordoned = false, conditions = [] }: More = {},
): KubeObject {
  const unknown = ready === 'Unknown'
  return {
    kind: 'Node',
    metadata: { name },
    spec: cordoned ? { unschedulable: true } : {},
    status: {
      conditions: [
        {
          type: 'Ready',
          status: ready,
          reason: unknown ? 'NodeStatusUnknown' : ready === 'True' ? 'KubeletReady' : 'KubeletNotReady',
          message: unknown ? 'Kubelet stopped posting node status.' : 'kubelet is posting ready status',
          lastTransitionTime: iso(at),
          lastHeartbeatTime: iso(heardAt),
        },
        ...conditions,
      ],
    },
  }
}

/** An event of `v1` about an object. */
export function event(
  name: string,
  kind: string,
  object: string,
  reason: string,
  message: string,
  { namespace = 'shop', type = 'Warning', count = 1, first = 0, at = first, container, host = 'node-1' }: More = {},
): KubeObject {
  return {
    kind: 'Event',
    metadata: { name, namespace: namespace || 'default' },
    involvedObject: {
      kind,
      ...(namespace ? { namespace } : {}),
      name: object,
      ...(container ? { fieldPath: `spec.containers{${container}}` } : {}),
    },
    ...{ reason, message, type, count, firstTimestamp: iso(first), lastTimestamp: iso(at) },
    source: { component: 'kubelet', host },
  }
}
