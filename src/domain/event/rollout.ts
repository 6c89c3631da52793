/** Recognizes the events of a rollout. */
import { plainMessage } from './reason-message.ts'

type Scaled = {
  readonly replicaSet: string
  readonly hash: string
  readonly direction: 'up' | 'down'
  readonly to: number
  readonly from: number | null
  /** As Argo Rollouts says. A revision above 1 replaces another one. */
  readonly revision?: number
  /** What a watched cluster says about the new pod template, such as `app: cart:1.0 → cart:1.1; by kubectl-set`. */
  readonly template?: string
  /** Whether a watched cluster says that the Deployment had this pod template before. */
  readonly isBack?: boolean
}

/**
 * Parses a ScalingReplicaSet message, or returns null. Known formats: old Kubernetes (`Scaled up replica set
 * cart-7d9f5b6c8 to 3`), new Kubernetes (`… from 0 to 3`), Argo Rollouts, and the rollouts that a watched cluster
 * shows (`Rollout of cart-7d9f5b6c8 (revision 5): …`).
 */
export function rolloutOf(message: string): Scaled | null {
  const found =
    /^scaled (up|down) replica ?set (\S+)(?: \(revision (\d+)\))? (?:from (\d{1,9}) )?to (\d{1,9})(?: from (\d{1,9}))?$/i.exec(
      plainMessage(message),
    )
  if (!found) return scalingOf(message) ?? observedRolloutOf(message)
  const [, direction = '', replicaSet = '', revision, before, to, after] = found
  const dash = replicaSet.lastIndexOf('-')
  const hash = replicaSet.slice(dash + 1)
  if (dash < 1 || hash === '') return null
  const from = before ?? after
  return {
    replicaSet,
    hash,
    direction: direction.toLowerCase() === 'up' ? 'up' : 'down',
    to: Number(to),
    from: from === undefined ? null : Number(from),
    ...(revision === undefined ? {} : { revision: Number(revision) }),
  }
}

type Told = { readonly object: string; readonly text: string; readonly at: number }

/** Returns whether an event ends a canary: between its start and its end, only its ReplicaSet was scaled. */
export function endsCanary({ object, text, at: endsAt }: Told, events: readonly Told[]): boolean {
  const end = rolloutOf(text)
  if (end?.direction !== 'down' || end.to > 0 || (end.revision ?? 1) < 2) return false
  const own = events.flatMap(({ at, ...one }) => {
    const scaled = one.object === object && at <= endsAt ? rolloutOf(one.text) : null
    return scaled ? [{ ...scaled, at }] : []
  })
  const isStart = (one: Scaled) => one.hash === end.hash && one.direction === 'up' && one.from === 0
  const begun = Math.max(...own.flatMap((one) => (isStart(one) ? one.at : [])))
  return begun > Number.NEGATIVE_INFINITY && own.every(({ at, hash }) => at < begun || hash === end.hash)
}

const POD_OF_SET = /^create Pod (\S+) in StatefulSet /

/**
 * Returns what a rollout under way has created while other pods serve, and when: the hashes of new ReplicaSets, and pods
 * of StatefulSets. Once an old ReplicaSet has no pods left, only the new ones serve. Also the first pod of a StatefulSet
 * can be the only one.
 */
export function rolledOut(
  events: readonly { readonly text: string; readonly at: number }[],
): readonly (readonly [at: number, created: string])[] {
  const scaled = events.flatMap(({ text, at }) => [rolloutOf(text)].flatMap((one) => (one ? { ...one, at } : [])))
  const isOver = scaled.some(({ direction, to }) => direction === 'down' && to === 0)
  const sets = isOver ? [] : scaled.filter(({ direction, from }) => direction === 'up' && (from ?? 0) === 0)
  const pods = events.flatMap(({ text, at }) =>
    (POD_OF_SET.exec(text)?.slice(1) ?? []).map((pod) => [at, pod] as const),
  )
  const isAlone = new Set(pods.map(([, pod]) => pod)).size < 2
  return [
    ...sets.map(({ at, hash }) => [at, hash] as const),
    ...pods.filter(([, pod]) => !isAlone || !pod.endsWith('-0')),
  ]
}

const REMOVES_ENDPOINTS = [
  /\bselectors?\b.*\b(?:removed|deleted|cleared|changed|updated)\b|\bendpoints?\b.*\b(?:removed|deleted|cleared)\b/i,
  /\b(?:removed?|deleted?|cleared) (?:the |all |its |spec\.)*(?:selectors?|endpoints?)\b/i,
  /\bno (?:active |ready )?endpoints\b/i,
]

/** Returns whether a controller says that a Service lost its selector or its endpoints. */
export function removesEndpoints(message: string): boolean {
  return REMOVES_ENDPOINTS.some((pattern) => pattern.test(message))
}

/** A watched cluster says who scaled a workload, whatever its ReplicaSet. */
function scalingOf(message: string): Scaled | null {
  const [, from, to, by] = /^Scaled from (\d{1,9}) to (\d{1,9}) replicas(?:; (by .*))?$/s.exec(message) ?? []
  if (from === undefined) return null
  const direction = Number(to) > Number(from) ? 'up' : 'down'
  return { replicaSet: '', hash: '', direction, to: Number(to), from: Number(from), ...(by ? { template: by } : {}) }
}

function observedRolloutOf(message: string): Scaled | null {
  const [, out = '', replicaSet = '', template = ''] =
    /^Roll(out of|back to) (\S+?)(?: \(revision \d+\))?: (.*)/s.exec(message) ?? []
  const hash = replicaSet.slice(replicaSet.lastIndexOf('-') + 1)
  return hash === '' ? null : { replicaSet, hash, direction: 'up', to: 1, from: 0, template, isBack: out === 'back to' }
}
