/** Evaluates the health of a service and updates its incidents. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import { isUnattributed } from '../../domain/alert/signal.ts'
import { withoutAlike } from '../../domain/health/alike.ts'
import { DECAY, type Health, healthOf } from '../../domain/health/health.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { explainedByNodes, LINGERS, lostNode, type NodeTrouble, REPORTED } from '../../domain/health/node-trouble.ts'
import { decide } from '../../domain/incident/incident.ts'
import { sinceAgreed } from '../../domain/incident/observed.ts'
import type { Step } from '../../domain/incident/situation.ts'
import { earliest } from '../../domain/instant.ts'
import { isNodeService } from '../../domain/service/node.ts'
import { RUNNER_SERVICE } from '../../domain/service/run-name.ts'
import { chosenLabel } from '../../domain/service/service.ts'
import { rank } from '../../domain/severity.ts'
import { MINUTE } from '../../domain/units.ts'
import type { Context } from '../state/context.ts'
import type { OrganizationState } from '../state/state.ts'
import { type Condition, conditionsOf } from './conditions.ts'
import { followLeft, situationOf, unitsOf, updateIncident } from './incidents/incident-units.ts'
import { unresolvedIncidents } from './incidents/incidents.ts'
import { makeDue } from './live-service.ts'
import { joinNodes, nodeTroublesIn, nodeTroublesOf, UNTOLD, wakePods, withoutUntold } from './nodes.ts'
import { withoutSilenced } from './silenced.ts'

/** The maximum number of a condition's pods whose node is looked up, newest first. */
const MAX_PODS = 3

/**
 * How often a service is evaluated while a failed node explains its critical alerts, and after the node recovered, until
 * the node explains only Kubernetes events.
 */
const NODE_CHECK = 10 * MINUTE
const RECOVERED_CHECK = MINUTE / 2

/** The workload limit for the evaluations in one batch. The last evaluation can exceed this limit. */
export const MAX_EVALUATION_WORK = 1_000

/** Evaluating this many alerts takes as long as saving one effect. */
const ALERTS_PER_EFFECT = 50

/**
 * The maximum numbers of services and alerts per step. Each step loads the labels of its alerts. The last service can
 * exceed the maximum for alerts.
 */
const AT_ONCE = { services: 100, alerts: 3_000 }

/** Splits services into two lists: services to evaluate in this step, and services to evaluate later. */
export function splitServices(
  { alertsOfService }: Pick<OrganizationState, 'alertsOfService'>,
  serviceIds: readonly number[],
): { readonly first: readonly number[]; readonly rest: readonly number[] } {
  let [count, alerts] = [0, 0]
  while (count < Math.min(serviceIds.length, AT_ONCE.services) && alerts < AT_ONCE.alerts) {
    alerts += alertsOfService.get(serviceIds[count] ?? 0).size
    count += 1
  }
  return { first: serviceIds.slice(0, count), rest: serviceIds.slice(count) }
}

/**
 * Evaluates a service if the workload of the batch is still below `most`. Otherwise marks the service as due, and the
 * sweep evaluates the service later. Postponing keeps batches short when many incidents open or end at once.
 */
export function evaluateOrPostpone(ctx: Context, serviceId: number, now: number, most: number): void {
  if (ctx.workload() < most) evaluate(ctx, serviceId, now, most)
  else makeDue(ctx, serviceId, now)
}

/**
 * Evaluates the health and the incidents of a service at `now`. Returns null if the service was removed by a merge, or if
 * the workload reached `most` first. The service then stays due.
 */
export function evaluate(ctx: Context, serviceId: number, now: number, most = Number.POSITIVE_INFINITY): Health | null {
  const { state } = ctx
  const service = state.services.get(serviceId)
  if (!service) return null
  const known = withNodes(ctx, service, conditionsOf(state, serviceId, now - DECAY), now - LINGERS)
  ctx.addWork(known.length / ALERTS_PER_EFFECT)
  const compared = withoutSilenced(ctx, service, known, now, most)
  if (compared === null) {
    makeDue(ctx, serviceId, now)
    return null
  }
  const { conditions: all, resilenced } = compared
  const troubles = troublesOf(ctx, service, all, now)
  const counting = withoutAlike(all, new Set(troubles.map(({ node }) => node)))
  const trusts = isUnattributed(service) ? 'sender' : service.name === RUNNER_SERVICE ? 'nothing' : 'all'
  const health = healthOf(counting, now, { trusts })
  const conditions = sinceAgreed(counting, health.critical)
  const healthySince = recoveredAt(service, conditions, now)
  const incidents = troubles.length === 0 ? [] : unresolvedIncidents(state, serviceId)
  const counted = incidents.flatMap(({ problem }) => problem.firing)
  const near = explainedByNodes(conditions, troubles, { now, counted })
  const explained = withoutUntold(ctx, service, { conditions, explained: near }, { troubles, now })
  const isExplained = health.critical.some(({ alertId }) => explained.has(alertId))
  const found = { service, health, conditions, all, known, explained, resilenced }
  followLeft(ctx, found, now)
  const units = unitsOf(state, found).map((unit) => ({ unit, decision: decide(situationOf(ctx, found, unit, now)) }))
  if (health.status !== service.health.status || health.score !== service.health.score) {
    ctx.emit({ kind: 'state-recorded', serviceId, at: now, health })
  }
  const changes = units.map(({ decision }) => decision.changesAt)
  storeEvaluation(ctx, service, {
    health: { status: health.status, score: health.score, penalties: health.penalties },
    healthySince,
    suppressed: units.some(({ decision }) => decision.suppressed),
    evaluateAt: earliest([health.changesAt, ...changes, isExplained ? recheckAt(troubles, now) : null]),
  })
  for (const { unit, decision } of units) updateIncident(ctx, found, unit, decision, now)
  joinNodes(ctx, service, { all, explained }, now)
  const changed = units.some(({ decision }) => decision.steps.some(opens)) || isBack(service, health)
  if (isNodeService(service) && changed) wakePods(ctx, service, now)
  wakeOthers(ctx, service, known, now)
  return health
}

/** Schedules the services whose incidents contain alerts of this service. */
function wakeOthers(ctx: Context, service: LiveService, known: readonly Condition[], now: number): void {
  const ids = new Set(known.flatMap(({ live }) => live.incidentId ?? []))
  for (const id of ids) {
    const incident = ctx.state.incidents.get(id)
    if (!incident || incident.serviceId === service.rowId) continue
    const { since, isMuted, awaitsEnds } = incident.problem
    if (incident.status === 'resolved' && since === null && !isMuted && !awaitsEnds) continue
    makeDue(ctx, incident.serviceId, now)
  }
}

/**
 * Finds the nodes of pods whose conditions name none, if a node has a problem: the node on which the pod was last seen,
 * or else the only node that failed when Kubernetes said that the pod's node is lost.
 */
function withNodes(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  endedSince: number,
): readonly Condition[] {
  if (isNodeService(service) || !conditions.some(lacksNode)) return conditions
  const troubles = () => nodeTroublesIn(ctx.state, service.cluster, endedSince)
  if (troubles().next().done) return conditions
  return conditions.map((one) => (lacksNode(one) ? located(ctx, service, one, troubles()) : one))
}

/** A pod that cannot be scheduled is on no node. */
function lacksNode({ source, status, node, failure, live }: Condition): boolean {
  if (status !== 'firing' || node !== null) return false
  if (source !== 'cluster') return source !== 'ci' && podLabel(live) !== null
  return failure !== 'scheduling' && live.part?.kind === 'Pod'
}

/** Returns the label of an alert that names its pod and chose the service, or null. */
function podLabel({ alert }: LiveAlert): string | null {
  const label = chosenLabel(alert.rules.service)
  return label !== null && /(?:^|[_.])pod(?:[_.]?name)?$/i.test(label) ? label : null
}

/** Returns the newest pods of a Kubernetes condition, or the pod that an alert names. */
function podsOf(ctx: Context, { source, evidence, live }: Condition): readonly string[] {
  if (source === 'cluster') return [...new Set(evidence.seen.map(([, pod]) => pod))].slice(-MAX_PODS)
  const { rowId } = live
  const labels = ctx.state.unsavedLabels.get(rowId) ?? ctx.fact('labels', { rowIds: [rowId] }).get(rowId)
  const pod = labels?.[podLabel(live) ?? '']
  return pod === undefined ? [] : [pod]
}

function located(ctx: Context, service: LiveService, one: Condition, troubles: Iterable<NodeTrouble>): Condition {
  const known = podsOf(ctx, one)
    .map((pod) => ctx.fact('nodeOfPod', { serviceId: service.rowId, pod }))
    .find((it) => it !== null)
  const node = known ?? lostNode(one, troubles)
  const before = ctx.state.alerts.get(one.live.rowId)
  if (node === null || !before) return one
  const live = { ...before, alert: { ...before.alert, node } }
  ctx.put.alert(live)
  return { ...one, node, live }
}

function opens({ do: what }: Step): boolean {
  return what === 'open' || what === 'return'
}

/** Returns whether a node's problem is over, so that it may no longer explain what its pods report. */
function isBack({ health: before }: LiveService, { status }: Health): boolean {
  return before.status === 'critical' && status !== 'critical'
}

/**
 * Returns when the last condition of a service ended, capped at `now`; null while a condition is firing. The recovery
 * period starts at this time, even while ended conditions still lower the score.
 */
function recoveredAt(service: LiveService, conditions: readonly Condition[], now: number): number | null {
  if (conditions.some(({ status, severity }) => status === 'firing' && rank(severity) >= rank('warning'))) return null
  if (service.healthySince !== null) return service.healthySince
  const ends = conditions.flatMap(({ endsAt }) => endsAt ?? [])
  return ends.length === 0
    ? now
    : Math.min(
        now,
        ends.reduce((a, b) => Math.max(a, b)),
      )
}

type Evaluation = Pick<LiveService, 'health' | 'healthySince' | 'suppressed' | 'evaluateAt'>

function storeEvaluation(ctx: Context, before: LiveService, found: Evaluation): void {
  const same =
    before.healthySince === found.healthySince &&
    before.suppressed === found.suppressed &&
    before.evaluateAt === found.evaluateAt &&
    JSON.stringify(before.health) === JSON.stringify(found.health)
  if (!same) ctx.put.service({ ...before, ...found })
}

/** Returns the problems of the nodes on which a service's alerts run. A node does not explain its own alerts. */
function troublesOf({ state }: Context, service: LiveService, conditions: readonly Condition[], now: number) {
  if (isNodeService(service)) return []
  const nodes = new Set<string>()
  for (const { node } of conditions) if (node !== null) nodes.add(node)
  return nodeTroublesOf(state, service.cluster, [...nodes], now - LINGERS)
}

/** Returns when to check again whether node problems still explain the alerts; null if no node has a problem. */
function recheckAt(troubles: readonly NodeTrouble[], now: number): number | null {
  return earliest(
    troubles.map(({ startsAt, endsAt }) => {
      if (endsAt === null) return now < startsAt + UNTOLD ? startsAt + UNTOLD : now + NODE_CHECK
      return now < endsAt + REPORTED ? now + RECOVERED_CHECK : endsAt + LINGERS
    }),
  )
}
