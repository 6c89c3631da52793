/** What a new version of a pod tells: problems of its containers, its readiness, and its end. */

import type { ClusterDraft } from '../event/event.ts'
import { formatDuration } from '../shown-time.ts'
import { HOUR, MINUTE, SECOND } from '../units.ts'
import { type Container, isOver, type PodFacts, type SeenOf } from '../watch/object.ts'
import { podLostWith } from './node.ts'
import type { Tell } from './tell.ts'

type Pod = SeenOf<'Pod'>

/** Why a container waits because of a problem. Other reasons, such as ContainerCreating, are normal. */
const PROBLEMS: ReadonlySet<string> = new Set([
  ...['CrashLoopBackOff', 'ImagePullBackOff', 'ErrImagePull', 'ErrImageNeverPull', 'InvalidImageName'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'RunContainerError', 'StartError'],
])

/** A container that looped has recovered once it has run this much longer than its last run. */
const LONGER = 5 * SECOND
/** The kubelet forgets the failures of a container that has run for this long. */
const FORGIVEN = 10 * MINUTE

export type Observed<Of> = { readonly after: Of; readonly told: readonly ClusterDraft[] }

/** Compares two versions of a pod. `before`: null if the pod is new to incmon. `node`: null if it is not known. */
export function observePod(
  before: Pod | null,
  after: Pod,
  { node, tell, now }: { readonly node: SeenOf<'Node'> | null; readonly tell: Tell; readonly now: number },
): Observed<Pod> {
  const { facts } = after
  const was = before?.facts ?? null
  if (isOver(facts)) {
    const told = was && isOver(was) ? [] : [...evictionOf(after, was, tell), ...(was ? [endOf(after, tell, now)] : [])]
    return { after, told }
  }
  const told = [
    ...facts.containers.flatMap((one) => containerTold(after, was, one, tell)),
    ...schedulingOf(after, was, tell),
    ...(node && was?.ready ? podLostWith(node, after, tell) : []),
  ]
  const isFine = readyAt(facts) <= now
  const isTold = was === null ? isFine : isFine && (was.told || told.length === 0)
  if (was && isFine && !(was.told && was.ready) && isTold) told.push(readyOf(after, tell))
  const restartedAt = restartsIn(was, facts, now)
  return {
    after: { ...after, facts: { ...facts, ...(restartedAt.length > 0 ? { restartedAt } : {}), told: isTold } },
    told,
  }
}

const MAX_RESTARTS = 100

/** Returns when containers restarted in the last hour. */
function restartsIn(was: PodFacts | null, { containers }: PodFacts, now: number): readonly number[] {
  const since = containers.flatMap(({ name, restarts, last }) => {
    const before = was?.containers.find((one) => one.name === name)
    const count = before ? Math.max(0, restarts - before.restarts) : 0
    return Array.from({ length: Math.min(count, MAX_RESTARTS) }, () => last?.to || now)
  })
  return [...(was?.restartedAt ?? []), ...since].filter((at) => at > now - HOUR).slice(-MAX_RESTARTS)
}

/** Tells that a pod is gone, unless that was told when its deletion began. */
export function observeDeletedPod(before: Pod, tell: Tell, now: number): readonly ClusterDraft[] {
  return isOver(before.facts) ? [] : [tell(before, { reason: 'PodDeleted', message: 'Pod was deleted', at: now })]
}

/** Returns when to look at the pod again without a new version, in ms UTC; null for never. */
export function podDueAt({ facts }: Pod): number | null {
  const at = facts.told || isOver(facts) ? Number.POSITIVE_INFINITY : readyAt(facts)
  return Number.isFinite(at) ? at : null
}

function evictionOf(pod: Pod, was: PodFacts | null, tell: Tell): readonly ClusterDraft[] {
  const { reason, message } = pod.facts
  if (!was || (reason !== 'Evicted' && reason !== 'Preempting')) return []
  return [tell(pod, { reason, message: message || 'The pod was evicted', at: pod.facts.readySince, isWarning: true })]
}

function endOf(pod: Pod, tell: Tell, now: number): ClusterDraft {
  const { phase, stoppingAt, disrupted } = pod.facts
  const why = disrupted === null ? '' : ` (${disrupted})`
  if (stoppingAt !== null) return tell(pod, { reason: 'PodDeleted', message: `Pod was deleted${why}`, at: stoppingAt })
  const ends = pod.facts.containers.map(({ last }) => last?.to ?? 0)
  const at = Math.max(...ends, 0) || now
  return tell(pod, { reason: 'PodFinished', message: `Pod ended: ${phase}${why}`, at })
}

function containerTold(pod: Pod, was: PodFacts | null, container: Container, tell: Tell): ClusterDraft[] {
  const before = was?.containers.find(({ name }) => name === container.name) ?? null
  const told: ClusterDraft[] = []
  const { name, waits, last, restarts } = container
  if (was && last && last.reason === 'OOMKilled' && before?.last?.to !== last.to) {
    const message = `Container ${name} was killed because it used more memory than its limit (exit code ${last.exitCode})`
    told.push(tell(pod, { reason: 'OOMKilled', message, at: last.to, container: name, isWarning: true }))
  }
  const isNew = before?.waits !== waits || before?.restarts !== restarts
  if (waits === null || !PROBLEMS.has(waits) || !isNew) return told
  const isLoop = waits === 'CrashLoopBackOff'
  const at = isLoop && last ? last.to : pod.facts.createdAt
  // Of a loop that began before incmon watched, the start of the pod and the number of restarts are known.
  const first = was ? at : pod.facts.createdAt
  const message = isLoop ? loopText(container) : container.message || `Container ${name} waits: ${waits}`
  told.push(
    tell(pod, {
      reason: waits,
      message,
      at,
      startsAt: first,
      count: was ? 1 : restarts,
      container: name,
      isWarning: true,
    }),
  )
  return told
}

function loopText({ name, last, restarts }: Container): string {
  const times = `${restarts} ${restarts === 1 ? 'restart' : 'restarts'}`
  if (!last) return `Back-off restarting failed container ${name}; ${times}`
  const signal = last.exitCode > 128 && last.exitCode < 160 ? `, signal ${last.exitCode - 128}` : ''
  const after = formatDuration(Math.max(0, last.to - last.from))
  return `Back-off restarting failed container ${name}: it ended with exit code ${last.exitCode} (${last.reason || 'Error'}${signal}) after ${after}; ${times}`
}

function schedulingOf(pod: Pod, was: PodFacts | null, tell: Tell): ClusterDraft[] {
  const { unscheduled } = pod.facts
  if (!unscheduled || was?.unscheduled?.message === unscheduled.message) return []
  const { message, since } = unscheduled
  return [tell(pod, { reason: 'FailedScheduling', message, at: since, isWarning: true })]
}

/** Returns when the pod counts as ready: at once, but a container that looped must first run longer than before. */
function readyAt({ ready, readySince, containers }: PodFacts): number {
  if (!ready) return Number.POSITIVE_INFINITY
  const times = containers.map(({ restarts, last, startedAt }) => {
    if (restarts === 0 || last === null || last.exitCode === 0 || startedAt === null || last.from === 0)
      return readySince
    return startedAt + Math.min(last.to - last.from + LONGER, FORGIVEN)
  })
  return Math.max(readySince, ...times)
}

function readyOf(pod: Pod, tell: Tell): ClusterDraft {
  const ends = pod.facts.containers.map(({ last }) => last?.to ?? 0)
  return tell(pod, { reason: 'PodReady', message: 'Pod is ready', at: Math.max(readyAt(pod.facts), ...ends) })
}
