/** Creates, changes and ends silences for users, and starts and ends silences on schedule. */
import { BUDGETS } from '../../../domain/budgets.ts'
import { IncmonError } from '../../../domain/error.ts'
import type { Labels } from '../../../domain/event/event.ts'
import { formatInstant } from '../../../domain/instant.ts'
import { expressionSizeOf, formatMatchers, type Matcher, matchersFault } from '../../../domain/silence/matcher.ts'
import {
  type LiveSilence,
  nextChangeOf,
  type Schedule,
  scheduleFault,
  statusOf,
  windowFault,
  windowOf,
} from '../../../domain/silence/silence.ts'
import type { Context } from '../../state/context.ts'
import { evaluateOrPostpone, MAX_EVALUATION_WORK, splitServices } from '../evaluate.ts'
import { makeDue } from '../live-service.ts'

const MAX_SILENCES = BUDGETS.silences.value
/** The maximum length of a value in an error message, in characters. */
const SHOWN = 200

/**
 * Creates a silence for a user and returns its UUID.
 * @throws IncmonError `invalid` if a matcher, the period or the schedule is invalid; `conflict` if there are too many
 */
export function createSilence(ctx: Context, wanted: WantedSilence, actor: string, now: number): string {
  const current = [...ctx.state.silences.values()].filter(({ silence }) => silence.endsAt > now)
  if (current.length >= MAX_SILENCES)
    throw new IncmonError(
      'conflict',
      `there are already ${MAX_SILENCES} silences: expire those that are no longer needed`,
    )
  return addSilence(ctx, wanted, actor, now)
}

/** Creates a silence without a limit on their number, and returns its UUID. @throws IncmonError `invalid` */
export function addSilence(ctx: Context, wanted: WantedSilence, actor: string, now: number): string {
  const silence = newSilence(ctx, wanted, actor, now)
  ctx.put.silence(silence)
  evaluateAffected(ctx, now)
  return silence.id
}

function newSilence(ctx: Context, wanted: WantedSilence, createdBy: string, now: number): LiveSilence {
  refuseFaults(wanted, now)
  refuseExpressions(ctx, wanted.matchers, null, now)
  const { matchers, startsAt, endsAt, schedule, comment, labelsOnly = false, annotations = {} } = wanted
  return {
    ...{ matchers, startsAt, endsAt, schedule, comment, createdBy, labelsOnly, annotations },
    rowId: ctx.rowId('silences'),
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    createdAt: now,
    revision: 1,
    changesAt: nextChangeOf(wanted, now),
  }
}

type SilenceChange = { readonly [Name in keyof WantedSilence]?: WantedSilence[Name] | undefined } & {
  /** The revision on which the change is based. A change without a revision always applies. */
  readonly revision?: number | undefined
}

/**
 * Changes a silence that has not expired.
 * @throws IncmonError `not-found`; `conflict` if the silence has expired or someone else has changed it; `invalid`
 */
export function changeSilence(ctx: Context, id: string, change: SilenceChange, now: number): void {
  const before = requireSilence(ctx, id)
  if (statusOf(before, now) === 'expired') {
    throw new IncmonError('conflict', 'this silence has expired: create a new one')
  }
  if (change.revision !== undefined && change.revision !== before.revision) {
    const differences = differencesOf(before, change)
    throw new IncmonError(
      'conflict',
      `somebody else has changed this silence${differences}: reload the silence, then make your change again`,
    )
  }
  const { revision: _, ...fields } = change
  const named = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const after: LiveSilence = { ...before, ...named }
  refuseFaults(after, now)
  if (change.matchers) refuseExpressions(ctx, after.matchers, before.rowId, now)
  replace(ctx, { ...after, changesAt: nextChangeOf(after, now) })
  evaluateAffected(ctx, now)
}

/** Describes the fields in `change` that someone else has changed: ` (comment is now "Upgrade")`. */
function differencesOf(before: LiveSilence, { matchers, comment, startsAt, endsAt }: SilenceChange): string {
  const isOther = (wanted: unknown, is: unknown) =>
    wanted !== undefined && JSON.stringify(wanted) !== JSON.stringify(is)
  const texts = [
    isOther(comment, before.comment) ? [`comment is now "${before.comment.slice(0, SHOWN)}"`] : [],
    isOther(startsAt, before.startsAt) ? [`startsAt is now ${formatInstant(before.startsAt)}`] : [],
    isOther(endsAt, before.endsAt) ? [`endsAt is now ${formatInstant(before.endsAt)}`] : [],
    isOther(matchers, before.matchers) ? [`matchers are now ${formatMatchers(before.matchers).slice(0, SHOWN)}`] : [],
  ].flat()
  return texts.length === 0 ? '' : ` (${texts.join('; ')})`
}

/**
 * Creates a silence, or replaces the silence `id`, by Alertmanager's rules: if the matchers or the start of an active
 * silence differ, the silence ends, and a new one starts. Returns the UUID of the resulting silence.
 * @throws IncmonError `not-found`; `conflict` if the silence is weekly and the times differ; `invalid`
 */
export function setSilence(
  ctx: Context,
  id: string | null,
  sent: WantedSilence,
  createdBy: string,
  now: number,
): string {
  const before = id === null ? null : requireSilence(ctx, id)
  const kept = before && replacementOf(before, sent, now)
  if (!before || !kept) {
    const made = createSilence(ctx, { ...sent, startsAt: Math.max(sent.startsAt, now) }, createdBy, now)
    if (before) expireSilence(ctx, before.id, now, createdBy)
    return made
  }
  refuseFaults(kept, now)
  replace(ctx, { ...kept, createdBy, changesAt: nextChangeOf(kept, now) })
  evaluateAffected(ctx, now)
  return kept.id
}

/** Returns the changed silence, or null if the change requires a new silence. */
function replacementOf(before: LiveSilence, sent: WantedSilence, now: number): LiveSilence | null {
  const { comment, startsAt, endsAt, annotations = {} } = sent
  if (JSON.stringify(before.matchers) !== JSON.stringify(sent.matchers)) return null
  if (before.schedule === null) {
    const status = statusOf(before, now)
    const isKept = status === 'pending' ? startsAt >= now : status === 'active' && startsAt === before.startsAt
    return isKept ? { ...before, comment, annotations, startsAt, endsAt } : null
  }
  const shown = windowOf(before, now)
  if (startsAt === shown.startsAt && endsAt === shown.endsAt) return { ...before, comment, annotations }
  throw new IncmonError('conflict', 'this silence repeats every week: change its times on the Silences page')
}

/**
 * Ends a silence now. Does nothing if the silence has already expired. `by`: the user who ended it; null for the end of a
 * deploy.
 * @throws IncmonError `not-found`
 */
export function expireSilence(ctx: Context, id: string, now: number, by: string | null = null): void {
  const before = requireSilence(ctx, id)
  if (statusOf(before, now) === 'expired') return
  const removed = by === null ? {} : { removed: { by, until: before.endsAt } }
  replace(ctx, { ...before, ...removed, endsAt: now, changesAt: null })
  evaluateAffected(ctx, now)
}

function replace(ctx: Context, silence: LiveSilence): void {
  ctx.put.silence({ ...silence, revision: silence.revision + 1 })
}

/** Creates the silences that do not exist yet. Silences that exist or have expired are skipped. */
export function importSilences(
  ctx: Context,
  silences: readonly (WantedSilence & { readonly createdBy: string })[],
  now: number,
): { readonly created: number; readonly skipped: number } {
  let created = 0
  for (const wanted of silences) {
    if (wanted.endsAt <= now || hasEqual(ctx, wanted)) continue
    ctx.put.silence(newSilence(ctx, wanted, wanted.createdBy, now))
    created += 1
  }
  if (created > 0) evaluateAffected(ctx, now)
  return { created, skipped: silences.length - created }
}

/** Returns whether an equal silence exists. Repeating an import therefore adds no silences. */
function hasEqual({ state }: Context, wanted: WantedSilence): boolean {
  const textOf = ({ matchers, startsAt, endsAt, comment }: WantedSilence) =>
    JSON.stringify([matchers, startsAt, endsAt, comment])
  const text = textOf(wanted)
  return [...state.silences.values()].some(({ silence }) => textOf(silence) === text)
}

/**
 * Starts and ends the silences that are due, each at its own time: incmon may have been stopped then. Evaluates the services
 * as of these times, as far as they fit in a batch, so that nothing counts as silenced for longer than it was.
 */
export function applyDueSilences(ctx: Context, now: number): void {
  const most = ctx.workload() + MAX_EVALUATION_WORK
  for (let at = nextDueSilence(ctx, now); at !== null; at = nextDueSilence(ctx, now)) {
    // What does not fit is evaluated by the sweep, as of then.
    const until = ctx.workload() < most ? at : now
    for (const { silence } of [...ctx.state.silences.values()])
      if (silence.changesAt !== null && silence.changesAt <= until)
        ctx.put.silence({ ...silence, changesAt: nextChangeOf(silence, until) })
    // The sweep reports a service that cannot be evaluated.
    ctx.attempt(
      () => evaluateAffected(ctx, until, most),
      () => makeServicesDue(ctx, now),
    )
  }
}

/** Returns the earliest time at which a silence was due to start or end, or null if none was. */
function nextDueSilence({ state }: Context, now: number): number | null {
  let first: number | null = null
  for (const { silence } of state.silences.values()) {
    const { changesAt } = silence
    if (changesAt !== null && changesAt <= now && (first === null || changesAt < first)) first = changesAt
  }
  return first
}

/** Evaluates as many affected services as fit in a batch. The sweep evaluates the rest. */
function evaluateAffected(ctx: Context, now: number, most = ctx.workload() + MAX_EVALUATION_WORK): void {
  const { first } = splitServices(ctx.state, makeServicesDue(ctx, now))
  for (const serviceId of first) evaluateOrPostpone(ctx, serviceId, now, most)
}

/**
 * Schedules the evaluation of every service with live alerts. The result is sorted, so that a restart does not change
 * the order.
 */
function makeServicesDue(ctx: Context, now: number): number[] {
  const serviceIds = [...ctx.state.alertsOfService.keys()]
    .filter((id) => ctx.state.services.get(id) !== undefined)
    .sort((a, b) => a - b)
  for (const serviceId of serviceIds) makeDue(ctx, serviceId, now)
  return serviceIds
}

function requireSilence(ctx: Context, id: string): LiveSilence {
  const known = [...ctx.state.silences.values()].find(({ silence }) => silence.id === id)?.silence
  const silence = known ?? ctx.fact('silence', { id })
  if (!silence)
    throw new IncmonError('not-found', 'this organization has no such silence; GET /api/silences lists all silences')
  return silence
}

// Checks a silence that somebody wants.

export type WantedSilence = {
  readonly matchers: readonly Matcher[]
  readonly startsAt: number
  readonly endsAt: number
  readonly schedule: Schedule | null
  readonly comment: string
  /** See `LiveSilence`. Default: false. */
  readonly labelsOnly?: boolean
  /** Default: none. */
  readonly annotations?: Labels
}

const MAX_EXPRESSIONS = BUDGETS.expressions.value

/** Refuses regular expressions beyond the limit of the organization, because each alert is compared with all of them. */
function refuseExpressions({ state }: Context, matchers: readonly Matcher[], except: number | null, now: number): void {
  const own = expressionSizeOf(matchers)
  if (own === 0) return
  const others = [...state.silences.values()].filter(({ silence }) => silence.endsAt > now && silence.rowId !== except)
  const used = others.reduce((sum, { compiled }) => sum + compiled.expressionSize, 0)
  if (used + own <= MAX_EXPRESSIONS) return
  throw new IncmonError(
    'conflict',
    'the regular expressions of all silences together are too large: use = instead of =~, or expire silences',
  )
}

function refuseFaults({ matchers, startsAt, endsAt, schedule }: WantedSilence, now: number): void {
  const unusable = matchersFault(matchers)
  if (unusable !== null) throw invalid('matchers', unusable)
  if (endsAt <= now) throw invalid('endsAt', 'is in the past; send a later time')
  if (endsAt <= startsAt) throw invalid('endsAt', 'must be later than startsAt')
  const fault = schedule && scheduleFault(schedule)
  if (fault) throw invalid(`schedule.${fault.path}`, fault.message)
  const impossible = schedule && windowFault({ startsAt, endsAt, schedule }, now)
  if (!impossible) return
  const message = `${impossible}: send a later endsAt`
  throw new IncmonError('unprocessable', `schedule: ${message}`, [{ path: 'schedule', message }])
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', `body: ${path}: ${message}`, [{ path, message }])
}
