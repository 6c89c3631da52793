/** What a new version of a workload or ReplicaSet tells: rollouts, scaling, and whether replicas are available. */
import type { ClusterDraft } from '../event/event.ts'
import { formatDuration } from '../shown-time.ts'
import { MINUTE } from '../units.ts'
import { type Images, imageIn, type Known, type SeenOf, type Workload, type WorkloadFacts } from '../watch/object.ts'
import type { Observed } from './pod.ts'
import type { Tell } from './tell.ts'

/** No available replica is critical after this time. */
const NONE_LASTS = MINUTE
/** Fewer available replicas than wanted is a problem after this time. A rolling update takes about as long. */
const FEW_LAST = 5 * MINUTE

/** Compares two versions of a workload. `before`: null if it is new to incmon. */
export function observeWorkload(
  before: Workload | null,
  next: Workload,
  { tell, known, now }: Circumstances,
): Observed<Workload> {
  const was = before?.facts ?? null
  const facts = { ...next.facts, ...sinceWhen(was, next.facts, now) }
  const counted = { ...next, facts }
  const told = was
    ? changesOf(was, counted, { tell, known, now })
    : [
        tell(counted, {
          reason: 'WorkloadFound',
          message: replicasText(facts),
          at: now,
          images: imageList(facts.images),
        }),
      ]
  const level = levelOf(facts, now)
  if (level !== facts.told) told.push(...availabilityOf(counted, level, tell, now))
  return { after: { ...counted, facts: { ...facts, told: level } }, told }
}

/** Returns when to look at the workload again without a new version, in ms UTC; null for never. */
export function workloadDueAt({ facts: { noneSince, fewSince, told } }: Workload): number | null {
  if (told === 'none') return null
  const times = [
    noneSince === null ? null : noneSince + NONE_LASTS,
    fewSince === null || told ? null : fewSince + FEW_LAST,
  ]
  const due = times.filter((time) => time !== null)
  return due.length > 0 ? Math.min(...due) : null
}

function sinceWhen(was: WorkloadFacts | null, { wanted, available }: WorkloadFacts, now: number) {
  const isNone = wanted > 0 && available === 0
  return {
    noneSince: isNone ? (was?.noneSince ?? now) : null,
    fewSince: available < wanted ? (was?.fewSince ?? now) : null,
    told: was?.told ?? null,
  }
}

function levelOf({ noneSince, fewSince, told }: WorkloadFacts, now: number): WorkloadFacts['told'] {
  if (noneSince !== null && (told === 'none' || now >= noneSince + NONE_LASTS)) return 'none'
  return fewSince !== null && (told !== null || now >= fewSince + FEW_LAST) ? 'few' : null
}

/** A workload without available replicas and one with too few are two conditions: one ends when the other begins. */
function availabilityOf(of: Workload, level: WorkloadFacts['told'], tell: Tell, now: number): ClusterDraft[] {
  const { facts } = of
  const told: ClusterDraft[] = []
  if (facts.told === 'none') told.push(tell(of, { reason: 'WorkloadAvailable', message: replicasText(facts), at: now }))
  if (facts.told === 'few') told.push(tell(of, { reason: 'WorkloadComplete', message: replicasText(facts), at: now }))
  if (level === null) return told
  const [reason, since, lasts] =
    level === 'none'
      ? ['WorkloadUnavailable', facts.noneSince, NONE_LASTS]
      : ['WorkloadIncomplete', facts.fewSince, FEW_LAST]
  const startsAt = since ?? now
  const message = `${replicasText(facts)} for more than ${formatDuration(lasts)}`
  told.push(
    tell(of, {
      reason: reason as string,
      message,
      at: Math.min(now, startsAt + (lasts as number)),
      startsAt,
      isWarning: true,
    }),
  )
  return told
}

type Circumstances = { readonly tell: Tell; readonly known: Known; readonly now: number }

function changesOf(was: WorkloadFacts, of: Workload, { tell, known, now }: Circumstances): ClusterDraft[] {
  const { facts } = of
  const told: ClusterDraft[] = []
  const isChanged = was.revision !== facts.revision && was.revision !== '' && facts.revision !== ''
  // The rollout of a Deployment is told by its new ReplicaSet, whose name is known.
  if (isChanged && of.kind !== 'Deployment')
    told.push(
      rolloutOf(
        of,
        {
          replicaSet: facts.revision,
          revision: '',
          isBack: false,
          from: withDigests(was.images, known.podsOf(of)),
          to: facts.images,
          by: facts.by,
          at: now,
        },
        tell,
      ),
    )
  if (was.wanted !== facts.wanted && of.kind !== 'DaemonSet') {
    const by = byText(scalerOf(of, known))
    told.push(
      tell(of, {
        reason: 'WorkloadScaled',
        message: `Scaled from ${was.wanted} to ${facts.wanted} replicas${by}`,
        at: now,
      }),
    )
  }
  if (facts.stuck !== null && was.stuck === null)
    told.push(tell(of, { reason: 'ProgressDeadlineExceeded', message: facts.stuck, at: now, isWarning: true }))
  if (facts.finished && !was.finished && facts.wanted > 0)
    told.push(tell(of, { reason: 'RolloutFinished', message: finishedText(of, known), at: now }))
  return told
}

/**
 * Compares two versions of a Deployment's ReplicaSet. A new one, or an old one with a new revision, is a rollout.
 * `isFirst`: whether the cluster is listed for the first time.
 */
export function observeReplicaSet(
  before: SeenOf<'ReplicaSet'> | null,
  after: SeenOf<'ReplicaSet'>,
  {
    known,
    tell,
    now,
    isFirst,
  }: { readonly known: Known; readonly tell: Tell; readonly now: number; readonly isFirst: boolean },
): readonly ClusterDraft[] {
  const { owner, namespace, facts } = after
  const isRollout = before ? before.facts.revision > 0 && facts.revision > before.facts.revision : !isFirst
  if (owner?.kind !== 'Deployment' || !isRollout) return []
  const others = known.replicaSetsOf(namespace, owner.name).filter(({ uid }) => uid !== after.uid)
  const last = others.sort((a, b) => a.facts.revision - b.facts.revision).at(-1)
  const deployment = known.find('Deployment', namespace, owner.name)
  const of = deployment ?? {
    ...after,
    kind: 'Deployment' as const,
    name: owner.name,
    owner: null,
    facts: { images: facts.images } as WorkloadFacts,
  }
  const by = deployment?.kind === 'Deployment' ? deployment.facts.by : ''
  const rollout = {
    replicaSet: after.name,
    revision: `revision ${facts.revision}`,
    isBack: before !== null,
    from: last ? withDigests(last.facts.images, known.podsOf(last)) : {},
    to: facts.images,
    by,
  }
  return [rolloutOf(of, { ...rollout, at: before ? now : facts.createdAt }, tell)]
}

type Rollout = {
  readonly replicaSet: string
  readonly revision: string
  readonly isBack: boolean
  readonly from: Images
  readonly to: Images
  readonly by: string
  readonly at: number
}

function rolloutOf(
  of: Parameters<Tell>[0],
  { replicaSet, revision, isBack, from, to, by, at }: Rollout,
  tell: Tell,
): ClusterDraft {
  const before = (name: string) => imageIn(from, name)
  const changed = Object.entries(to).filter(([name, image]) => withoutDigest(before(name)) !== withoutDigest(image))
  const images = changed.map(
    ([name, image]) => `${name}: ${before(name) === undefined ? image : `${before(name)} → ${image}`}`,
  )
  const what = images.length > 0 ? images.join(', ') : 'same images'
  const head = `${isBack ? 'Rollback to' : 'Rollout of'} ${replicaSet}${revision === '' ? '' : ` (${revision})`}`
  return tell(of, { reason: 'RolloutStarted', message: `${head}: ${what}${byText(by)}`, at, images: imageList(to) })
}

/** Returns what the new pods run. Only running pods show the digests of their images. */
function finishedText(of: Workload, known: Known): string {
  const owner = known
    .replicaSetsOf(of.namespace, of.name)
    .find(({ facts }) => String(facts.revision) === of.facts.revision)
  const images = withDigests(of.facts.images, known.podsOf(owner ?? of))
  return `${replicasText(of.facts)}; ${imageList(images).join(', ')}`
}

/** `sha256:` and 12 digits, as Docker shows images. */
const SHOWN_DIGEST = 19

/** Adds the digests that the pods show to images without one. */
function withDigests(images: Images, pods: readonly SeenOf<'Pod'>[]): Images {
  const running = pods.flatMap(({ facts }) => facts.containers).filter(({ digest }) => digest !== '')
  const digests = new Map(running.map(({ name, digest }) => [name, digest]))
  return Object.fromEntries(
    Object.entries(images).map(([name, image]) => {
      const digest = digests.get(name)
      return [name, digest === undefined || image.includes('@') ? image : `${image}@${digest.slice(0, SHOWN_DIGEST)}`]
    }),
  )
}

function withoutDigest(image: string | undefined): string | undefined {
  const at = image?.indexOf('@sha256:') ?? -1
  const before = image?.slice(0, at)
  // A tag and a digest: the tag is enough to compare. Without a tag, the digest is the version.
  return image !== undefined && before !== undefined && at > 0 && before.lastIndexOf(':') > before.lastIndexOf('/')
    ? before
    : image
}

function imageList(images: Images): readonly string[] {
  return Object.values(images)
}

/** Kubernetes' own controller changes the number of replicas only for an autoscaler. */
const CONTROLLER = 'kube-controller-manager'

function scalerOf(of: Workload, known: Known): string {
  const autoscaler = of.facts.scaledBy === CONTROLLER ? known.autoscalerOf(of) : null
  if (!autoscaler) return of.facts.scaledBy
  const { least, most } = autoscaler.facts
  return `the autoscaler ${autoscaler.name} (${least} to ${most} replicas)`
}

function byText(manager: string): string {
  return manager === '' ? '' : `; by ${manager}`
}

function replicasText({ wanted, available }: WorkloadFacts): string {
  return `${available} of ${wanted} ${wanted === 1 ? 'replica' : 'replicas'} available`
}
