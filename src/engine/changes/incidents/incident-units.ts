/**
 * Connects the evaluation of a service with the rules for its incidents. A service has one automatic incident at a time,
 * except for `unattributed`, which has one for each alert name.
 */
import { worseEndOf } from '../../../domain/alert/fingerprints.ts'
import { isUnattributed } from '../../../domain/alert/signal.ts'
import type { Health } from '../../../domain/health/health.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { isAnew } from '../../../domain/incident/incident.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { type Burning, mutedSinceOf, observeLeft, type Problem } from '../../../domain/incident/problem.ts'
import type { Decision, Situation } from '../../../domain/incident/situation.ts'
import { isNodeService, nodeNameOf } from '../../../domain/service/node.ts'
import { MINUTE } from '../../../domain/units.ts'
import type { Context } from '../../state/context.ts'
import { type OrganizationState, settingsOf } from '../../state/state.ts'
import type { Condition } from '../conditions.ts'
import { makeDue } from '../live-service.ts'
import { noteSilences, type Resilenced } from '../silenced.ts'
import { burningElsewhere, endedElsewhere, endOf, mutedBy, mutedElsewhere } from './elsewhere.ts'
import { applyStep } from './incident-steps.ts'
import {
  firingIn,
  incidentsOf,
  lastResolvedIncident,
  nameAfterFirst,
  noteJoined,
  noteScore,
  unresolvedIncidents,
} from './incidents.ts'

/** The evaluation of a service. `known`: all conditions; `all`: those that are not silenced. */
type Evaluated = {
  readonly service: LiveService
  readonly health: Health
  /** The conditions that determine the health. */
  readonly conditions: readonly Condition[]
  readonly all: readonly Condition[]
  readonly known: readonly Condition[]
  readonly explained: ReadonlySet<string>
  readonly resilenced: readonly Resilenced[]
}

/** An incident to evaluate, or the place of one that may open. */
type Unit = {
  /** For `unattributed`: the name of the alert; null for any other service. */
  readonly about: string | null
  readonly current: LiveIncident | null
  readonly last: LiveIncident | null
  /** Whether alerts join: only the oldest incident of a service gets them. */
  readonly joins: boolean
}

/** Returns the incidents to evaluate. */
export function unitsOf(state: OrganizationState, { service, health, conditions, known }: Evaluated): Unit[] {
  const open = unresolvedIncidents(state, service.rowId)
  if (!isUnattributed(service)) {
    const [first, ...others] = open
    const last = first ? null : lastResolvedIncident(state, service.rowId)
    const oldest: Unit = { about: null, current: first ?? null, last, joins: true }
    return [oldest, ...others.map((current) => ({ about: null, current, last: null, joins: false }))]
  }
  const names = new Map(conditions.map((one) => [one.uuid, aboutOf(state, one)]))
  const critical = health.critical.flatMap(({ alertId }) => names.get(alertId) ?? [])
  const manual = open.filter(({ problem }) => problem.about === null)
  const left = incidentsOf(state, service.rowId).filter(({ problem }) => problem.isSuppressed)
  const followed = [...open, ...left]
  const held = known.flatMap((one) => (one.inIncident ? (aboutOf(state, one) ?? []) : []))
  const abouts = new Set([...followed.flatMap(({ problem }) => problem.about ?? []), ...critical, ...held])
  return [
    ...manual.map((current) => ({ about: null, current, last: null, joins: false })),
    ...[...abouts].sort().flatMap((about) => {
      const [first, ...others] = open.filter(({ problem }) => problem.about === about)
      const last = first ? null : lastResolvedIncident(state, service.rowId, about)
      const oldest: Unit = { about, current: first ?? null, last, joins: true }
      return [oldest, ...others.map((current) => ({ about, current, last: null, joins: false }))]
    }),
  ]
}

/**
 * Returns the alert name of the incident of `unattributed` to which a condition belongs: that of the incident into which a
 * user merged it or that a user left on, or its own. Null if it belongs to what a user declared.
 */
function aboutOf({ incidents }: OrganizationState, { name, live }: Condition): string | null {
  const incident = incidents.get(live.incidentId ?? 0)
  if (incident?.serviceId !== live.serviceId) return name
  return incident.status !== 'resolved' || incident.problem.isSuppressed ? incident.problem.about : name
}

/**
 * Follows the problems of incidents that were resolved while their alerts were firing, or before a sender reported the end.
 * The last end makes their postmortems due again.
 */
export function followLeft(ctx: Context, found: Evaluated, now: number): void {
  const { service, health } = found
  const critical = new Set(health.critical.map(({ alertId }) => alertId))
  for (const incident of incidentsOf(ctx.state, service.rowId)) {
    if (incident.status !== 'resolved' || incident.cause === 'silence') continue
    const { since, isMuted, isGuess, endedAt } = incident.problem
    const goesOn = since !== null || isMuted
    const followed = goesOn || isGuess ? observedLeft(ctx, incident, goesOn ? critical : NONE, found, now) : incident
    const { problem } = followed
    if (!goesOn && isGuess && !problem.isGuess) {
      // incmon resolved it as of its end.
      const resolvedAt = incident.resolvedAt === endedAt ? problem.endedAt : incident.resolvedAt
      const ended = { ...followed, resolvedAt }
      ctx.put.incident(ended, followed)
      ctx.emit({ kind: 'postmortem-due', incident: ended, at: now })
    }
    if (!problem.awaitsEnds || problem.since !== null || firingIn(ctx.state, followed).length > 0) continue
    const ended = withProblem(ctx, followed, { ...problem, awaitsEnds: false })
    ctx.emit({ kind: 'postmortem-due', incident: ended, at: now })
  }
}

const NONE: ReadonlySet<string> = new Set()

/** @param critical the UUIDs of the critical alerts of the service that count */
function observedLeft(
  ctx: Context,
  incident: LiveIncident,
  critical: ReadonlySet<string>,
  { conditions, known, all: unsilenced }: Evaluated,
  now: number,
): LiveIncident {
  const { rowId, problem } = incident
  const theirs = known.filter(({ live }) => live.incidentId === rowId)
  const all = conditions.filter(({ uuid, live }) => live.incidentId === rowId && critical.has(uuid))
  const { true: anew = [], false: own = [] } = Object.groupBy(all, (one) => `${isAnew(one, incident)}`)
  const burning = [...own, ...burningElsewhere(ctx, incident, now)]
  const ended = [
    ...theirs.flatMap((one) => endOf(ctx.state, one)),
    // What fires anew ended before.
    ...anew.map(({ name, begunAt }) => ({ name, endsAt: begunAt - 1, isGuess: false })),
    ...endedElsewhere(ctx, incident, now),
  ]
  const muted = [
    ...mutedOf(ctx, { known: theirs, all: unsilenced }, problem, now),
    ...mutedElsewhere(ctx, incident, now),
  ]
  return withProblem(ctx, incident, observeLeft(problem, { now, burning, ended, muted }))
}

/** Returns what the incident rules know about one incident. */
export function situationOf(ctx: Context, found: Evaluated, unit: Unit, now: number): Situation {
  const { service, health, known, explained } = found
  const { about, current, last, joins } = unit
  const settings = settingsOf(ctx.state)
  // What a user declared besides another incident has only the alerts that belong to it.
  const isApart = !joins && current?.origin === 'manual'
  const isOwn = (one: Condition) =>
    (about === null || aboutOf(ctx.state, one) === about) &&
    (!isApart || one.live.incidentId === current.rowId) &&
    (current === null || !one.isLeft)
  const alerts = found.conditions.filter(isOwn)
  const ids = new Set(alerts.map(({ uuid }) => uuid))
  const resolve = settings['auto-resolve']
  const isLeft = last?.problem.isSuppressed ?? false
  const isElsewhere = known.some((one) => isOwn(one) && one.inIncident)
  const needsMuted = (current !== null || service.suppressed) && found.known.length > found.all.length
  return {
    ...{ now, alerts, explained, current, last, about, joins },
    opens: settings['auto-incidents'] === 'critical',
    resolveAfter: resolve === 'off' ? null : resolve * MINUTE,
    serviceName: service.name,
    critical: about === null ? health.critical : health.critical.filter(({ alertId }) => ids.has(alertId)),
    suppressed: current
      ? known.some((one) => one.isLeft && one.status === 'firing')
      : service.suppressed && (about === null || isLeft || isElsewhere),
    candidates: found.all.filter(isOwn),
    elsewhere: current ? [...burningElsewhere(ctx, current, now, readyNode(found)), ...current.problem.declared] : [],
    muted: [
      ...(needsMuted ? mutedOf(ctx, { ...found, known: known.filter(isOwn) }, current?.problem ?? null, now) : []),
      ...(current ? mutedElsewhere(ctx, current, now, readyNode(found)) : []),
    ],
    ended: current
      ? [...known.filter(isOwn).flatMap((one) => endOf(ctx.state, one)), ...endedElsewhere(ctx, current, now)]
      : [],
  }
}

/**
 * Returns the silenced conditions that keep a problem muted: those that the incident has had, and critical ones that have
 * begun while it was muted. @param problem of the incident; null if only those count that have had one
 */
function mutedOf(
  ctx: Context,
  { known, all }: Pick<Evaluated, 'known' | 'all'>,
  problem: Problem | null,
  now: number,
): Burning[] {
  const unsilenced = new Set(all.map(({ uuid }) => uuid))
  const mutedSince = (problem && mutedSinceOf(problem)) ?? Number.POSITIVE_INFINITY
  return known.flatMap((one) => {
    const { uuid, status, name, severity, begunAt, hasIncident, live } = one
    if (status !== 'firing' || unsilenced.has(uuid)) return []
    // What fires on as a warning is over.
    if (worseEndOf(live.alert, live.fingerprints) !== null) return []
    const isOwn = problem ? problem.had.includes(name) : hasIncident
    const joins = severity === 'critical' && begunAt >= mutedSince && (problem?.about ?? name) === name
    return isOwn || joins ? [mutedBy(ctx, one, now)] : []
  })
}

/**
 * Returns the node of a node's service that is not critical. What is still reported on it is over with it, or counts by
 * itself soon.
 */
function readyNode({ service, health }: Evaluated): string | null {
  return isNodeService(service) && health.critical.length === 0 ? nodeNameOf(service) : null
}

/** Applies a decision to its incident. */
export function updateIncident(ctx: Context, found: Evaluated, unit: Unit, decision: Decision, now: number): void {
  const { service, health, conditions, all, explained, resilenced } = found
  const current = unit.current && withProblem(ctx, unit.current, decision.problem)
  const last = unit.last && withProblem(ctx, unit.last, decision.problem)
  if (current && unit.current && hasReturned(unit.current.problem, current.problem))
    noteJoined(ctx, current, now, { isReturn: true })
  let incident = current && unit.joins ? noteScore(ctx, current, health.score) : current
  for (const step of decision.steps) {
    incident = applyStep(ctx, service, step, { incident, last, conditions: all, score: health.score, now })
  }
  // What a user left on may have joined this incident, and then nothing goes on in the other one.
  const isJoined = decision.steps.some((step) => 'alertIds' in step && step.alertIds.length > 0)
  const isOn = ({ status, problem }: LiveIncident) => status === 'resolved' && problem.since !== null
  if (isJoined && incidentsOf(ctx.state, service.rowId).some(isOn)) makeDue(ctx, service.rowId, now)
  if (!incident || !unit.joins) return
  const left = new Set(conditions.flatMap(({ uuid, isLeft }) => (unit.current && isLeft ? uuid : [])))
  const causes = health.critical.flatMap(({ alertId: id }) => (explained.has(id) || left.has(id) ? [] : id))
  nameAfterFirst(ctx, service, { incident, causes, conditions, now })
  noteSilences(ctx, incident, resilenced, now)
}

/** Returns whether a condition that the incident has had fires again while others go on. */
function hasReturned(before: Problem, after: Problem): boolean {
  if (before.since === null || after.since === null) return false
  return after.firing.some((name) => !before.firing.includes(name) && before.had.includes(name))
}

function withProblem(ctx: Context, before: LiveIncident, problem: Problem | null): LiveIncident {
  if (problem === null || JSON.stringify(problem) === JSON.stringify(before.problem)) return before
  const after = { ...before, problem }
  ctx.put.incident(after, before)
  return after
}
