/** What goes away on purpose: pods that are being stopped, kubelets that are starting, and nodes that leave. */

import type { Alert, LiveAlert, Signal } from '../../domain/alert/alert.ts'
import { settle } from '../../domain/alert/ending.ts'
import { type Evidence, isAbout, withEvidence } from '../../domain/alert/evidence.ts'
import type { DraftJudgement } from '../../domain/alert/judgement.ts'
import { peersOf, type ReceivedEvent } from '../../domain/alert/late-events.ts'
import { PLANNED } from '../../domain/alert/unavailable.ts'
import {
  FAILS_ON_NEW_NODE,
  FAILS_WHILE_LEAVING,
  FAILS_WHILE_STARTING,
  FAILS_WHILE_STOPPING,
  leavesCluster,
  waitsForDrain,
} from '../../domain/event/going-away.ts'
import { isLostNode } from '../../domain/event/lasting.ts'
import { deletedObjectOf } from '../../domain/event/reason.ts'
import { rolledOut } from '../../domain/event/rollout.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { lostNode, type NodeTrouble } from '../../domain/health/node-trouble.ts'
import { once } from '../../domain/memoize.ts'
import { areApart } from '../../domain/service/cluster.ts'
import { nodeNameOf, serviceOfNode } from '../../domain/service/node.ts'
import type { ServiceKey } from '../../domain/service/service.ts'
import { HOUR, MINUTE } from '../../domain/units.ts'
import type { Context } from '../state/context.ts'
import { awaitedName } from '../state/state.ts'
import { changeAlert } from './alerts.ts'
import { findService } from './attribution.ts'
import { alertsOf, senderBehaviorOf } from './conditions.ts'
import { newestOf } from './live-service.ts'
import { nodeTroublesIn, wasCordoned } from './nodes.ts'

/** How long a deleted pod can report failures. Its containers may take this long to stop. */
const STOPPING = 10 * MINUTE
/** How long a node that was told to leave can report failures until its machine is deleted. */
const LEAVING = 15 * MINUTE
/** How long a kubelet that starts reports the node as it was before. */
const STARTING = 2 * MINUTE

/** Where an event belongs: its service, or the key of a service that does not exist yet. */
type Place = { readonly service: LiveService | null; readonly key: ServiceKey }

/** What was seen of an object, and where. */
type Seen = Pick<Signal, 'at' | 'node'> & { readonly sighting: { readonly object: string } | null }

/** The failures of a pod that is being stopped, of a node that leaves and of a kubelet that starts are only information. */
export function withoutExpected(ctx: Context, place: Place, judged: DraftJudgement): DraftJudgement {
  const { signal } = judged
  if (signal?.source !== 'cluster' || !isExpected(ctx, place, signal)) return judged
  return { ...judged, event: { ...judged.event, kind: 'info', severity: 'info' }, signal: null }
}

function isExpected(ctx: Context, place: Place, signal: Signal): boolean {
  const { name, sighting } = signal
  if (FAILS_WHILE_LEAVING.has(name) && isOnLeavingNode(ctx, place, signal)) return true
  if (FAILS_WHILE_STARTING.has(name) && place.key.name === serviceOfNode(`${sighting?.object}`))
    return isStarting(ctx, place, signal)
  return FAILS_WHILE_STOPPING.test(name) && isOfDeletedPod(ctx, place, signal)
}

/** A pod of a StatefulSet can come back with the same name. */
function isOfDeletedPod(ctx: Context, place: Place, { sighting, at }: Signal): boolean {
  if (!sighting) return false
  const last = endingEventsSince(ctx, place, at - STOPPING)
    .filter((event) => event.at <= at)
    .toSorted((a, b) => a.at - b.at)
    .findLast((event) => isGone(event, sighting.object) || isNew(event, sighting.object))
  return last !== undefined && isGone(last, sighting.object)
}

function isGone(event: ReceivedEvent, pod: string): boolean {
  const [kind = '', object = ''] = event.object.split(/\/(.*)/s)
  const gone = deletedObjectOf({ reason: event.name, message: event.text, kind, object })
  return gone !== null && isAbout([event.at, gone], pod)
}

function isNew({ name, object }: ReceivedEvent, pod: string): boolean {
  return object === `Pod/${pod}` && (name === 'Scheduled' || name === 'Created')
}

/** Returns whether a condition is of a node that was told to leave and has not come back, or of a pod on it. */
function isOnLeavingNode(ctx: Context, place: Place, signal: Seen): boolean {
  const last = eventsOfNode(ctx, place, signal, signal.at - LEAVING)
    .filter((event) => event.at <= signal.at)
    .findLast((event) => isLeaving(event) || RETURNS.has(event.name))
  return last !== undefined && isLeaving(last)
}

/** Returns whether a pod cannot run yet because nodes leave, are being drained or have just started. */
export function isPlanned(ctx: Context, service: LiveService, { failure, name, node, summary, at }: Signal): boolean {
  const { state } = ctx
  const { cluster } = service
  if (failure !== 'scheduling')
    return node !== null && FAILS_ON_NEW_NODE.has(name) && hasStarted(ctx, cluster, node, at)
  const isDrained = waitsForDrain(summary, () => wasCordoned(state, cluster, at - PLANNED))
  return isDrained || hasLostPlace(ctx, { service, key: service }, at)
}

/** Returns whether pods of the service were deleted shortly before on a node that leaves, so that others need a place. */
function hasLostPlace(ctx: Context, place: Place, at: number): boolean {
  const deleted = endingEventsSince(ctx, place, at - LEAVING).filter((event) => event.at <= at && isStopped(event))
  const pods = [...new Set(deleted.map(({ object }) => object.slice('Pod/'.length)))].slice(-MAX_PODS)
  return pods.some((object) => isOnLeavingNode(ctx, place, { at, node: null, sighting: { object } }))
}
const MAX_PODS = 10

function isStopped({ name, text, object }: ReceivedEvent): boolean {
  return object.startsWith('Pod/') && deletedObjectOf({ reason: name, message: text, kind: 'Pod', object }) !== null
}

/** Returns when the node of a lost pod was ready again, if that is known before the pod's own event arrives; else null. */
export function returnOfNode(ctx: Context, place: Place, signal: Signal): number | null {
  if (!isLostNode(signal.name)) return null
  return eventsOfNode(ctx, place, signal, signal.at).find(({ name }) => name === 'NodeReady')?.at ?? null
}

/** Returns the events about the node of a condition that can end conditions, oldest first. */
function eventsOfNode(ctx: Context, { service, key }: Place, { sighting, node }: Seen, from: number) {
  const pod = `${sighting?.object}`
  const isNode = key.name === serviceOfNode(pod)
  const known = isNode ? pod : (node ?? (service && ctx.fact('nodeOfPod', { serviceId: service.rowId, pod })))
  if (known === null) return []
  const of = { cluster: key.cluster, namespace: '', name: serviceOfNode(known) }
  const found = endingEventsSince(ctx, { service: findService(ctx.state, of), key: of }, from)
  return found.toSorted((a, b) => a.at - b.at)
}

function isLeaving({ name, object }: ReceivedEvent): boolean {
  return leavesCluster({ reason: name, kind: object.split('/', 1)[0] ?? '' })
}

function isDown({ name }: ReceivedEvent): boolean {
  return name === 'NodeNotReady'
}
const RETURNS: ReadonlySet<string> = new Set(['NodeReady', 'NodeSchedulable'])

/** What an event says about the pods on its node: they are gone, or the node's loss is over. */
type NodeFate = { readonly at: number; readonly of: 'gone' | 'recovered' }

export function fateOfNode({ reason, kind }: { readonly reason: string; readonly kind: string }, at: number) {
  if (kind !== 'Node') return null
  if (leavesCluster({ reason, kind })) return { at, of: 'gone' } as const
  return reason === 'NodeReady' ? ({ at, of: 'recovered' } as const) : null
}

function isStarting(ctx: Context, place: Place, { at }: Pick<Signal, 'at'>): boolean {
  const earlier = endingEventsSince(ctx, place, at - STARTING).filter((event) => event.at <= at)
  return earlier.some(({ name, text }) => name === 'Starting' && /\bkubelet\b/.test(text))
}

/** Returns whether a node's kubelet started shortly before. */
function hasStarted(ctx: Context, cluster: string, node: string, at: number): boolean {
  const key = { cluster, namespace: '', name: serviceOfNode(node) }
  return isStarting(ctx, { service: findService(ctx.state, key), key }, { at })
}

/** A rollout is expected to make progress within this time (`progressDeadlineSeconds`). */
const ROLLOUT = 10 * MINUTE

/** How long ago a pod that runs can have started. */
const RUNS = 24 * HOUR

/** Adds what a rollout had created when the readiness probe of a pod began to fail, and which other pods ran then. */
export function withRollout(ctx: Context, service: LiveService, alert: Alert, { sighting, at }: Signal): Alert {
  const seen = alert.evidence.seen.filter(([, pod]) => pod === sighting?.object)
  if (alert.name !== 'Unhealthy (readiness)' || seen.length !== 1) return alert
  const rolled = rolledOut(endingEventsSince(ctx, { service, key: service }, at - ROLLOUT))
  // A service that is as new as its rollout has no old pods.
  const created = rolled.filter(([begun]) => begun >= service.createdAt + MINUTE)
  // In a storm, many pods are not ready, and it does not matter which others are.
  const isStorm = alert.evidence.seen.length > FEW
  const evidence = isStorm
    ? alert.evidence
    : withPeers(ctx, service, alert.evidence, { at, pod: `${sighting?.object}` })
  return { ...alert, evidence: created.reduce((all, mark) => withEvidence(all, 'rollouts', mark), evidence) }
}

const FEW = 10

function withPeers(ctx: Context, service: LiveService, evidence: Evidence, { at, pod }: { at: number; pod: string }) {
  const recent = ctx.fact('recentEvents', { serviceId: service.rowId, from: at - RUNS })
  const all = [...recent, ...endingEventsSince(ctx, { service, key: service }, at - RUNS)]
  const peers = peersOf(
    pod,
    all.toSorted((a, b) => a.at - b.at),
    at,
  )
  return peers.length === 0 && !evidence.peers ? evidence : { ...evidence, peers }
}

/** Returns the events since `from` that can end a condition. The list is usually empty. */
export function endingEventsSince(ctx: Context, { service, key }: Place, from: number): readonly ReceivedEvent[] {
  const [serviceId, awaited] = service ? [service.rowId, awaitedName(service)] : [0, awaitedName(key)]
  const unsaved = (ctx.state.unsavedEndings.get(service ? serviceId : awaited) ?? []).filter(({ at }) => at >= from)
  if (service && newestOf(ctx, service).endingEventAt < from) return unsaved
  const saved = ctx.fact('endingEvents', { serviceId, awaited, from })
  return unsaved.length === 0 ? saved : [...saved, ...unsaved]
}

/**
 * Ends the conditions of the pods on a node that leaves the cluster or, if it is ready again, the conditions that say
 * that the node was lost: no event on the pods reports this. Returns the services whose conditions changed.
 */
export function endPodsOf(ctx: Context, { service, key }: Place, fate: NodeFate, now: number): number[] {
  const { at, of } = fate
  const node = nodeNameOf(key)
  const own = service ? alertsOf(ctx.state, service.rowId).map(({ alert }) => ({ ...alert, node })) : []
  // A node that was told to leave fails without an alert of its own. Its pods are then reported at about this time.
  const failed = () => endingEventsSince(ctx, { service, key }, at - LEAVING).findLast(isDown)?.at ?? at
  const told = of === 'gone' ? [{ node, startsAt: failed(), endsAt: at }] : []
  const troubles = once(() => [...own, ...told, ...nodeTroublesIn(ctx.state, key.cluster, at - LEAVING)])
  const changed: number[] = []
  const { alerts, alertsOnNode } = ctx.state
  for (const rowId of [...alertsOnNode.get(node), ...alertsOnNode.get('')]) {
    const live = alerts.get(rowId)
    if (!live || !canBeOn(ctx, live, key.cluster)) continue
    if (of === 'recovered' && !isLostNode(live.alert.name)) continue
    const pods = new Set(live.alert.evidence.seen.map(([, pod]) => pod))
    const here = [...pods].filter((pod) => isOn(ctx, { live, node, troubles }, pod, pods.size))
    if (here.length === 0) continue
    const evidence = here.reduce((before, pod) => withEvidence(before, of, [at, pod]), live.alert.evidence)
    const context = { delivery: null, metricsFiring: false, ...senderBehaviorOf(ctx.state, live) }
    changeAlert(ctx, live, { ...live, ...settle({ ...live.alert, evidence }, context, now) }, now)
    changed.push(live.serviceId)
  }
  return changed
}

function canBeOn({ state }: Context, { alert, part, serviceId }: LiveAlert, cluster: string): boolean {
  if (part?.kind !== 'Pod' || alert.failure === 'scheduling') return false
  const service = state.services.get(serviceId)
  return service !== undefined && !areApart(service.cluster, cluster)
}

type Candidate = { readonly live: LiveAlert; readonly node: string; readonly troubles: () => readonly NodeTrouble[] }

/** An alert names the node of its newest pod only. */
function isOn(ctx: Context, { live, node, troubles }: Candidate, pod: string, pods: number): boolean {
  const known = ctx.fact('nodeOfPod', { serviceId: live.serviceId, pod })
  if (known !== null) return known === node
  return live.alert.node === null ? lostNode(live.alert, troubles()) === node : pods === 1
}
