/**
 * Conditions of a cluster with a known end: how a kubelet or a controller reports each of them until it is over, with or
 * without a sign of the end. An end is right if it is at most three minutes off.
 */
import { MINUTE, NOON } from '../helpers/factory.ts'
import { makeFlow } from '../helpers/flow.ts'
import { type KubernetesMore, kubernetesEvent } from '../helpers/senders.ts'
import type { Figure } from './score.ts'

/** One event, in minutes after noon. `count`: how often it has happened since the first one. */
type Told = readonly [minute: number, reason: string, object: string, more?: KubernetesMore]
type Story = { readonly name: string; readonly told: readonly Told[]; readonly end: number }

const POD = 'cart-5d4f8c7b9-x2kqp'
const CLAIM = { kind: 'PersistentVolumeClaim' }
const NODE = { kind: 'Node' }
const WITHIN = 3

/** Returns the same event at several minutes, with a rising count. */
function repeated(reason: string, object: string, minutes: readonly number[], more: KubernetesMore = {}): Told[] {
  const [first = 0] = minutes
  return minutes.map((minute, at) => [
    minute,
    reason,
    object,
    { ...more, count: (more.count ?? 1) + at, since: NOON + first * MINUTE },
  ])
}

const loop = { message: 'Back-off restarting failed container app', count: 4 }
const pulls = { message: 'Back-off pulling image "registry.example/cart:9"', count: 3 }
const config = { message: 'Error: secret "db" not found', count: 2 }
const probe = (count: number) => ({ message: 'Readiness probe failed: connection refused', count })

const STORIES: readonly Story[] = [
  { name: 'a crash loop that stops by itself', told: repeated('BackOff', POD, [0, 5, 11, 22], loop), end: 22.5 },
  {
    name: 'a crash loop whose pod is replaced',
    told: [...repeated('BackOff', POD, [0, 5, 10], loop), [14, 'Killing', POD, { message: 'Stopping container app' }]],
    end: 14,
  },
  {
    name: 'an image that appears',
    told: [...repeated('BackOff', POD, [0, 3, 8], pulls), [12, 'Pulled', POD]],
    end: 12,
  },
  { name: 'a failing probe', told: repeated('Unhealthy', POD, [0, 1, 2, 3], probe(3)), end: 3.2 },
  { name: 'a probe that fails for long', told: repeated('Unhealthy', POD, [0, 5, 10, 15], probe(25)), end: 15.5 },
  {
    name: 'a pod that waits for a node',
    told: [...repeated('FailedScheduling', POD, [0, 5, 10]), [14, 'Scheduled', POD]],
    end: 14,
  },
  {
    name: 'a pod reported once as pending',
    told: [
      [0, 'FailedScheduling', POD],
      [35, 'Scheduled', POD],
    ],
    end: 35,
  },
  { name: 'a volume that mounts at last', told: repeated('FailedMount', POD, [0, 2, 4, 6]), end: 6.5 },
  {
    name: 'a volume that attaches',
    told: [...repeated('FailedAttachVolume', POD, [0, 2, 4]), [6, 'SuccessfulAttachVolume', POD]],
    end: 6,
  },
  { name: 'a sandbox that fails for a while', told: repeated('FailedCreatePodSandBox', POD, [0, 1, 3, 5]), end: 5.5 },
  {
    name: 'a quota that is raised',
    told: [
      ...repeated('FailedCreate', 'cart-5d4f8c7b9', [0, 2, 5], { kind: 'ReplicaSet' }),
      [8, 'SuccessfulCreate', 'cart-5d4f8c7b9', { kind: 'ReplicaSet', message: `Created pod: ${POD}` }],
    ],
    end: 8,
  },
  {
    name: 'a secret that is added',
    told: [...repeated('Failed', POD, [0, 4, 8], config), [10, 'Created', POD]],
    end: 10,
  },
  {
    name: 'a claim that is bound',
    told: [
      ...repeated('ProvisioningFailed', 'uploads', [0, 4, 8], CLAIM),
      [9, 'ProvisioningSucceeded', 'uploads', CLAIM],
    ],
    end: 9,
  },
  {
    name: 'a node that returns',
    told: [
      [0, 'NodeNotReady', 'w1', NODE],
      [13, 'NodeReady', 'w1', NODE],
    ],
    end: 13,
  },
  {
    name: 'a dead node that is removed',
    told: [
      [0, 'NodeNotReady', 'w1', NODE],
      [40, 'RemovingNode', 'w1', NODE],
    ],
    end: 40,
  },
  {
    name: 'a full disk',
    told: [
      [0, 'NodeHasDiskPressure', 'w1', NODE],
      [17, 'NodeHasNoDiskPressure', 'w1', NODE],
    ],
    end: 17,
  },
  {
    name: 'a kubelet that restarts too often',
    told: [
      [0, 'FrequentKubeletRestart', 'w1', NODE],
      [10, 'NoFrequentKubeletRestart', 'w1', NODE],
    ],
    end: 10,
  },
  { name: 'a container killed for memory', told: [[0, 'OOMKilled', POD]], end: 0 },
  { name: 'an evicted pod', told: [[0, 'Evicted', POD, { message: 'The node was low on resource: memory.' }]], end: 0 },
  {
    name: 'a Job that failed and succeeds the next time',
    told: [
      [0, 'BackoffLimitExceeded', 'backup-28912345', { kind: 'Job' }],
      [30, 'Completed', 'backup-28912375', { kind: 'Job' }],
    ],
    end: 30,
  },
]

/** Returns how many of the conditions end within three minutes of their true end. */
export async function endsFigure(): Promise<Figure> {
  const wrong: string[] = []
  for (const story of STORIES) {
    const ended = await endOf(story)
    if (ended === null || Math.abs(ended - story.end) > WITHIN)
      wrong.push(`${story.name}: ended at ${ended?.toFixed(1) ?? 'never'}, expected ${story.end}`)
  }
  const total = STORIES.length
  return { name: 'ends of conditions within three minutes', right: total - wrong.length, total, target: 0.95, wrong }
}

/** Returns the end of the story's condition, in minutes after noon; null if it does not end. */
async function endOf({ told }: Story): Promise<number | null> {
  const endings: (() => unknown)[] = []
  const flow = makeFlow({ after: (end) => void endings.push(end as () => unknown) })
  // A sender that reports repeats ends conditions by their silence.
  const witness = kubernetesEvent('Started', 'other-5d4f8c7b9-b7k4z', { count: 7, at: NOON })
  await flow.send('cluster', witness, { at: NOON })
  for (const [minute, reason, object, more] of told) {
    const at = NOON + minute * MINUTE
    await flow.sweepUntil(at, MINUTE / 2)
    await flow.send('cluster', kubernetesEvent(reason, object, { at, ...more }), { at })
  }
  await flow.sweepUntil(flow.clock.now + 90 * MINUTE, MINUTE)
  const ends = flow.alerts().map(({ ends_at }) => ends_at)
  for (const end of endings) await end()
  const [only] = ends
  return ends.length === 0 || only == null ? null : (Math.max(...ends.map((one) => one ?? Number.NaN)) - NOON) / MINUTE
}
