/** Applies the steps of the incident rules. */

import type { Alert, LiveAlert } from '../../../domain/alert/alert.ts'
import type { LiveService } from '../../../domain/health/live-service.ts'
import { onAgain } from '../../../domain/incident/acknowledgement.ts'
import { regraded } from '../../../domain/incident/lasted.ts'
import type { LiveIncident } from '../../../domain/incident/live-incident.ts'
import { digestAtOf, FLAPPING_BURNS } from '../../../domain/incident/opening.ts'
import { endText, type Problem } from '../../../domain/incident/problem.ts'
import type { Step } from '../../../domain/incident/situation.ts'
import type { Context } from '../../state/context.ts'
import type { Condition } from '../conditions.ts'
import { makeDue } from '../live-service.ts'
import { firingOnNode } from '../nodes.ts'
import { edits, noteEdits } from './edits.ts'
import { addAlerts, MAX_TITLE, moveIncident, noteScore, OLDEST_START, openIncident, tell } from './incidents.ts'

type StepInput = {
  readonly incident: LiveIncident | null
  /** The last resolved incident, if there is no unresolved one. */
  readonly last: LiveIncident | null
  readonly conditions: readonly Condition[]
  readonly score: number
  readonly now: number
}

/** Applies one step of the incident rules. Returns the updated incident. */
export function applyStep(ctx: Context, service: LiveService, step: Step, input: StepInput): LiveIncident | null {
  const { now, score } = input
  if (step.do === 'open') {
    const previous = step.follows ? (input.incident ?? input.last) : null
    const opened = openByRule(ctx, service, step, previous, now)
    return noteScore(ctx, addAlerts(ctx, opened, named(input, step.alertIds), now), score)
  }
  if (step.do === 'join' && step.with !== null) return joinHost(ctx, step.with, named(input, step.alertIds), input)
  const incident = input.incident ?? (step.do === 'return' ? input.last : null)
  if (!incident) return null
  switch (step.do) {
    case 'return':
      return comeBack(ctx, incident, step, input)
    case 'join':
      return noteScore(ctx, addAlerts(ctx, incident, named(input, step.alertIds), now), score)
    case 'worsen': {
      const after = withNew(ctx, incident, step.names, incident.problem, now)
      const { names, toldAt, isUncovered } = step
      // What began while a silence covered it is as old as what goes on.
      const conditions = isUncovered ? after.problem.firing : names
      const move = { before: incident, after, why: null, actor: null, now, conditions, toldAt }
      return moveIncident(ctx, { ...move, tells: isUncovered ? 'again' : 'worse' })
    }
    case 'lessen': {
      const { from: severityBefore, toldAt } = step
      const conditions = incident.problem.firing
      tell(ctx, incident, { change: 'severity', severityBefore, conditions, actor: null, now, toldAt })
      return incident
    }
    case 'uncover':
      tell(ctx, incident, { change: 'again', conditions: step.names, actor: null, now })
      return incident
    case 'recover':
      return recover(ctx, service, incident, step.problem, now)
    case 'resolve': {
      const after = { ...incident, status: 'resolved', resolvedAt: step.at } as const
      const tells = step.isTold ? 'resolved' : null
      return moveIncident(ctx, { before: incident, after, why: step.text, actor: null, now, tells })
    }
  }
}

/** Adds alerts to the incident of another service that has the alert `uuid`. */
function joinHost(ctx: Context, uuid: string, alerts: readonly LiveAlert[], { conditions, now }: StepInput): null {
  const host = ctx.state.incidents.get(conditions.find((one) => one.uuid === uuid)?.live.incidentId ?? 0)
  if (host) makeDue(ctx, addAlerts(ctx, host, alerts, now).serviceId, now)
  return null
}

function openByRule(
  ctx: Context,
  service: LiveService,
  { title, why, startedAt, problem }: Extract<Step, { do: 'open' }>,
  previous: LiveIncident | null,
  now: number,
): LiveIncident {
  const within = (time: number) => (time < now - OLDEST_START ? now : Math.min(time, now))
  const since = within(problem.since ?? startedAt)
  const opening = {
    serviceId: service.rowId,
    title: title.slice(0, MAX_TITLE),
    ...({ severity: 'critical', origin: 'automatic', cause: 'service' } as const),
    startedAt: within(startedAt),
    touchedAt: null,
    problem: { ...problem, since },
    previous: previous?.id ?? null,
  }
  const text = `opened: ${problem.about ?? service.name} is critical${why === '' ? '' : ` – ${why}`}`
  return openIncident(ctx, { ...opening, text, actor: null }, now)
}

function recover(
  ctx: Context,
  service: LiveService,
  incident: LiveIncident,
  problem: Problem,
  now: number,
): LiveIncident {
  const after = { ...incident, status: 'monitoring', problem } as const
  const digestAt = digestAtOf(problem, now)
  const why = endText(problem, now)
  const move = { before: incident, after, why, actor: null, now, digestAt, conditions: firingOnNode(ctx, service) }
  return moveIncident(ctx, { ...move, tells: 'recovered' })
}

/** Puts an incident back whose problem returned. */
function comeBack(
  ctx: Context,
  incident: LiveIncident,
  { alertIds, problem, wasWrong, fresh: others }: Extract<Step, { do: 'return' }>,
  input: StepInput,
): LiveIncident {
  const { now } = input
  const fresh = problem.firing.filter((name) => !incident.problem.had.includes(name))
  const rated = withNew(ctx, incident, fresh, renewed(incident, problem, wasWrong), now)
  const after: LiveIncident = { ...rated, ...onAgain(incident, now, wasWrong), resolvedAt: null }
  const isDoubted = input.conditions.some(({ live: { alert } }) => alert.status === 'firing' && isPast(alert, now))
  const wrong = isDoubted
    ? 'the heartbeat of the sender had ended, too, so the end does not count'
    : 'the problem has been going on all the time'
  const why = wasWrong ? wrong : 'the problem came back'
  const facts = wasWrong ? ({ code: 'disproved' } as const) : null
  const isFirstFlap = problem.flapsSince === now
  const tells = isFirstFlap ? 'flapping' : 'again'
  const nextAt = isFirstFlap ? null : digestAtOf(problem, now)
  const digestAt = nextAt === null ? null : Math.min(nextAt, now + FLAPPING_BURNS)
  const move = { before: incident, after, why, facts, actor: null, now, tells, wasWrong, digestAt, others } as const
  const moved = moveIncident(ctx, move)
  if (digestAt !== null && fresh.length > 0) tell(ctx, moved, { change: 'worse', conditions: fresh, actor: null, now })
  return addAlerts(ctx, moved, named(input, alertIds), now)
}

/**
 * After an all-clear, each other condition that fires is news again, although the incident has had it. Not if it flaps, a
 * user lowered its severity, or it comes with a node or a merge.
 */
function renewed({ problem: before, severity }: LiveIncident, problem: Problem, wasWrong: boolean): Problem {
  const isCalm = before.since === null && !wasWrong && problem.flapsSince === null
  return isCalm && severity === 'critical' && problem.others.length === 0
    ? { ...problem, had: problem.firing }
    : problem
}

/**
 * Returns an automatic incident with conditions that it has not had before. They make it critical: a user who lowered its
 * severity did not know them. The timeline says so.
 */
function withNew(
  ctx: Context,
  before: LiveIncident,
  names: readonly string[],
  problem: Problem,
  now: number,
): LiveIncident {
  const after = { ...before, problem }
  if (names.length === 0 || before.origin === 'manual') return after
  const raised = { ...after, severity: 'critical' as const }
  noteEdits(ctx, before, edits(before, raised), null, now)
  const fresh = problem.periods.filter(({ name, to }) => to === null && names.includes(name))
  return { ...raised, problem: regraded(after, raised, Math.min(now, ...fresh.map(({ from }) => from))) }
}

/** Returns whether an alert fires on although its sender reported its end, because the end does not count yet. */
function isPast({ expiresAt }: Pick<Alert, 'expiresAt'>, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

function named({ conditions }: StepInput, alertIds: readonly string[]): LiveAlert[] {
  const ids = new Set(alertIds)
  return conditions.filter(({ uuid }) => ids.has(uuid)).map(({ live }) => live)
}
