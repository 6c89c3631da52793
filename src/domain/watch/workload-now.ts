/** What a watched cluster says about one workload now. */
import { ordered } from '../order.ts'
import type { Name } from '../service/service.ts'
import { HOUR } from '../units.ts'
import {
  imageIn,
  type Known,
  type PodFacts,
  type Seen,
  type SeenOf,
  type Workload,
  type WorkloadFacts,
  workloadOf,
} from './object.ts'

export type WorkloadNow = Pick<WorkloadFacts, 'wanted' | 'available' | 'revision' | 'stuck'> & {
  readonly cluster: string
  readonly kind: Workload['kind']
  /** `before`: the image of the revision before this one; null if it is the same or not known. */
  readonly images: readonly { readonly container: string; readonly image: string; readonly before: string | null }[]
  /** The pods that have not ended, those with problems first. */
  readonly pods: readonly PodNow[]
}

type PodNow = {
  readonly name: string
  readonly node: string | null
  readonly isReady: boolean
  /** `CrashLoopBackOff`, `ready` or another reason. */
  readonly state: string
  readonly restarts: number
  /** How many of them were in the last hour, as far as it was observed. */
  readonly restartsInHour: number
  /** Since when the pod is not ready; null if it is. */
  readonly notReadySince: number | null
  readonly createdAt: number
}

const KINDS = ['Deployment', 'StatefulSet', 'DaemonSet'] as const

/** Returns null if the cluster has no workload of this name. `all`: every object of the cluster. */
export function workloadNow(
  named: Name,
  { known, all, cluster, now }: { known: Known; all: Iterable<Seen>; cluster: string; now: number },
): WorkloadNow | null {
  const found = KINDS.map((kind) => known.find(kind, named.namespace, named.name)).find((one) => one !== null)
  if (!found || !isWorkload(found)) return null
  const { wanted, available, revision, stuck, images } = found.facts
  const before = found.kind === 'Deployment' ? imagesBefore(found, known) : {}
  const pods = [...all].filter((one) => one.kind === 'Pod').filter((pod) => isOf(pod, found, known))
  return {
    ...{ cluster, kind: found.kind, wanted, available, stuck },
    revision: found.kind === 'Deployment' ? revision : '',
    images: Object.entries(images).map(([container, image]) => {
      const last = imageIn(before, container)
      return { container, image, before: last === undefined || last === image ? null : last }
    }),
    pods: ordered(
      pods.map((pod) => podNow(pod, now)),
      ({ isReady, name }) => [isReady ? 1 : 0, name],
    ),
  }
}

function isWorkload(seen: Seen): seen is Workload {
  return seen.kind === 'Deployment' || seen.kind === 'StatefulSet' || seen.kind === 'DaemonSet'
}

function isOf(pod: SeenOf<'Pod'>, { kind, namespace, name }: Workload, known: Known): boolean {
  const { phase } = pod.facts
  if (pod.namespace !== namespace || phase === 'Succeeded' || phase === 'Failed') return false
  const owner = workloadOf(pod, known)
  return owner?.kind === kind && owner.name === name
}

function imagesBefore({ namespace, name, facts }: Workload, known: Known): Readonly<Record<string, string>> {
  const older = known.replicaSetsOf(namespace, name).filter((set) => set.facts.revision < Number(facts.revision))
  return older.toSorted((a, b) => a.facts.revision - b.facts.revision).at(-1)?.facts.images ?? {}
}

function podNow({ name, facts }: SeenOf<'Pod'>, now: number): PodNow {
  const { node, ready, readySince, createdAt, containers, restartedAt = [] } = facts
  const restarts = containers.reduce((sum, one) => sum + one.restarts, 0)
  const inHour = restartedAt.filter((at) => at > now - HOUR).length
  return {
    ...{ name, node, isReady: ready && facts.stoppingAt === null, state: stateOf(facts), restarts, createdAt },
    restartsInHour: createdAt > now - HOUR ? restarts : inHour,
    notReadySince: ready ? null : readySince,
  }
}

function stateOf({ stoppingAt, unscheduled, ready, containers, phase }: PodFacts): string {
  if (stoppingAt !== null) return 'stopping'
  if (unscheduled) return 'not scheduled'
  const waiting = containers.find(({ waits }) => waits !== null)
  if (waiting?.waits) return waiting.waits
  if (ready) return 'ready'
  return phase === 'Running' ? 'not ready' : phase.toLowerCase()
}
