/** Silences: created, changed and ended by people, and applied to the alerts of a service. */
import { IncmonError } from '../error.ts'
import { formatInstant } from '../instant.ts'
import { countOf } from '../postmortem/words.ts'
import { formatMatchers, type Matcher, matchersFault } from '../silence/matcher.ts'
import { nextChangeOf, type Schedule, scheduleFault, silencesOf, statusOf } from '../silence/silence.ts'
import type { Context } from '../state/context.ts'
import type { LiveAlert, LiveIncident, LiveService, LiveSilence } from '../state/live.ts'
import type { Condition } from './conditions.ts'
import { evaluate, makeDue } from './evaluate.ts'
import { addEntry } from './incidents.ts'

export type WantedSilence = {
  readonly matchers: readonly Matcher[]
  readonly startsAt: number
  readonly endsAt: number
  readonly schedule: Schedule | null
  readonly comment: string
}

/** The maximum number of services that are evaluated at once after a silence changes. The sweep evaluates the rest. */
const AT_ONCE = 50
/** The maximum number of characters of a value in an error message. */
const SHOWN = 200

/**
 * Creates a silence and returns its UUID.
 * @throws IncmonError `invalid` if a matcher, the period or the schedule cannot be used
 */
export function createSilence(ctx: Context, wanted: WantedSilence, actor: string, now: number): string {
  const silence = newSilence(ctx, wanted, actor, now)
  ctx.emit({ kind: 'silence-saved', silence, isNew: true })
  evaluateAffected(ctx, now)
  return silence.id
}

function newSilence(ctx: Context, wanted: WantedSilence, createdBy: string, now: number): LiveSilence {
  refuseFaults(wanted, now)
  const { matchers, startsAt, endsAt, schedule, comment } = wanted
  return {
    ...{ matchers, startsAt, endsAt, schedule, comment, createdBy },
    rowId: ctx.rowId('silences'),
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    createdAt: now,
    revision: 1,
    changesAt: nextChangeOf(wanted, now),
  }
}

export type SilenceChange = { readonly [Name in keyof WantedSilence]?: WantedSilence[Name] | undefined } & {
  /** The revision that the caller has read. Without a revision, the change is applied unconditionally. */
  readonly revision?: number | undefined
}

/**
 * Changes a silence that has not expired.
 * @throws IncmonError `not-found`; `conflict` if it has expired or somebody else has changed it; `invalid`
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
      `somebody else has changed this silence${differences}: read it again, then change it`,
    )
  }
  const { revision: _, ...fields } = change
  const named = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
  const after: LiveSilence = { ...before, ...named }
  refuseFaults(after, now)
  replace(ctx, { ...after, changesAt: nextChangeOf(after, now) })
  evaluateAffected(ctx, now)
}

/**
 * Returns the fields that the caller wants to change and that somebody else has changed: ` (comment is now "Upgrade")`.
 */
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

/** Ends a silence now. A silence that has ended stays unchanged. @throws IncmonError `not-found` */
export function expireSilence(ctx: Context, id: string, now: number): void {
  const before = requireSilence(ctx, id)
  if (statusOf(before, now) === 'expired') return
  replace(ctx, { ...before, endsAt: now, changesAt: null })
  evaluateAffected(ctx, now)
}

function replace(ctx: Context, silence: LiveSilence): void {
  ctx.emit({ kind: 'silence-saved', silence: { ...silence, revision: silence.revision + 1 }, isNew: false })
}

/** Creates missing silences. Returns the number of created silences, and of silences that exist or have expired. */
export function importSilences(
  ctx: Context,
  silences: readonly (WantedSilence & { readonly createdBy: string })[],
  now: number,
): { readonly created: number; readonly skipped: number } {
  let created = 0
  for (const wanted of silences) {
    if (wanted.endsAt <= now || hasEqual(ctx, wanted)) continue
    ctx.emit({ kind: 'silence-saved', silence: newSilence(ctx, wanted, wanted.createdBy, now), isNew: true })
    created += 1
  }
  if (created > 0) evaluateAffected(ctx, now)
  return { created, skipped: silences.length - created }
}

/** Returns whether a silence with the same matchers, period and comment exists, so that an import can be repeated. */
function hasEqual({ state }: Context, wanted: WantedSilence): boolean {
  const textOf = ({ matchers, startsAt, endsAt, comment }: WantedSilence) =>
    JSON.stringify([matchers, startsAt, endsAt, comment])
  const text = textOf(wanted)
  return [...state.silences.values()].some(({ silence }) => textOf(silence) === text)
}

/** Updates the silences that begin or end now. Returns the row ids of the services to evaluate. */
export function applyDueSilences(ctx: Context, now: number): readonly number[] {
  const due = [...ctx.state.silences.values()].filter(
    ({ silence: { changesAt } }) => changesAt !== null && changesAt <= now,
  )
  for (const { silence } of due) {
    ctx.emit({ kind: 'silence-saved', silence: { ...silence, changesAt: nextChangeOf(silence, now) }, isNew: false })
  }
  return due.length > 0 ? makeServicesDue(ctx, now) : []
}

/** Returns whether any silence of the organization is active. */
export function hasActiveSilence({ state }: Context, now: number): boolean {
  return [...state.silences.values()].some(({ silence }) => statusOf(silence, now) === 'active')
}

/** An alert before and after the silences that apply to it changed. */
export type Resilenced = { readonly before: LiveAlert; readonly after: LiveAlert }

/** Updates which alerts of a service are silenced. Returns the alerts that are not silenced, and what changed. */
export function withoutSilenced(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  now: number,
): { readonly conditions: readonly Condition[]; readonly resilenced: readonly Resilenced[] } {
  const resilenced: Resilenced[] = []
  const silences = [...ctx.state.silences.values()]
  const { namespace, cluster } = service
  const serviceLabels = { service: service.name, namespace, cluster }
  const active = silences
    .filter(({ silence, compiled }) => statusOf(silence, now) === 'active' && compiled.mayMatch(serviceLabels))
    .map(({ compiled }) => compiled)
  if (active.length === 0 && conditions.every(({ live }) => live.silencedBy.length === 0))
    return { conditions, resilenced }
  const saved = active.length === 0 ? null : ctx.fact('labels', { serviceId: service.rowId })
  const heard = conditions.filter(({ live, source, severity, status, name }) => {
    const labels = ctx.state.unsavedLabels.get(live.rowId) ?? saved?.get(live.rowId) ?? {}
    const { silencedBy } = live
    const alert = { ...serviceLabels, source, severity, alertname: name, labels }
    const after = silencesOf({ ...alert, status, silencedBy }, active)
    if (after.join() !== silencedBy.join()) {
      const change = { before: live, after: { ...live, silencedBy: after } }
      resilenced.push(change)
      ctx.emit({ kind: 'alert-silenced', ...change })
    }
    return after.length === 0
  })
  return { conditions: heard, resilenced }
}

/** The maximum number of characters of a silence's comment in a timeline. */
const NAMED = 100

/** Notes in the timeline of an incident which of its alerts are silenced now, and which are no longer silenced. */
export function noteSilences(
  ctx: Context,
  incident: LiveIncident,
  resilenced: readonly Resilenced[],
  now: number,
): void {
  const incidentOf = ({ rowId }: LiveAlert) => ctx.state.alerts.get(rowId)?.incidentId ?? null
  const firing = resilenced.filter(({ after: { alert } }) => alert.status === 'firing' && alert.severity !== 'info')
  // If there are many alerts, some join the incident only in the next batch.
  const freed = firing.filter(
    ({ after }) => after.silencedBy.length === 0 && [null, incident.rowId].includes(incidentOf(after)),
  )
  const silenced = firing.filter(
    ({ before }) => before.silencedBy.length === 0 && incidentOf(before) === incident.rowId,
  )
  noteEach(ctx, incident, freed, 'no longer applies to', now)
  noteEach(ctx, incident, silenced, 'applies to', now)
}

function noteEach(ctx: Context, incident: LiveIncident, found: readonly Resilenced[], what: string, now: number): void {
  const bySilence = Map.groupBy(found, ({ before, after }) => [...before.silencedBy, ...after.silencedBy][0])
  for (const [rowId = 0, [first, ...more]] of bySilence) {
    const comment = ctx.state.silences.get(rowId)?.silence.comment.slice(0, NAMED)
    const name = comment === undefined ? 'a silence' : `the silence “${comment}”`
    const alerts = more.length === 0 ? first?.after.alert.name : countOf(more.length + 1, 'alert')
    addEntry(ctx, incident, { at: now, kind: 'silence', text: `${name} ${what} ${alerts}`, actor: null, ref: null })
  }
}

function evaluateAffected(ctx: Context, now: number): void {
  for (const serviceId of makeServicesDue(ctx, now).slice(0, AT_ONCE)) evaluate(ctx, serviceId, now)
}

/** Schedules the evaluation of every service with live alerts. */
function makeServicesDue(ctx: Context, now: number): number[] {
  const serviceIds = [...ctx.state.alertsOfService.keys()].filter((id) => ctx.state.services.get(id) !== undefined)
  for (const serviceId of serviceIds) makeDue(ctx, serviceId, now)
  return serviceIds
}

function refuseFaults({ matchers, startsAt, endsAt, schedule }: WantedSilence, now: number): void {
  const unusable = matchersFault(matchers)
  if (unusable !== null) throw invalid('matchers', unusable)
  if (endsAt <= now) throw invalid('endsAt', 'is in the past; send a later time')
  if (endsAt <= startsAt) throw invalid('endsAt', 'must be later than startsAt')
  const fault = schedule && scheduleFault(schedule)
  if (fault) throw invalid(`schedule.${fault.path}`, fault.message)
}

function invalid(path: string, message: string): IncmonError {
  return new IncmonError('invalid', `body: ${path}: ${message}`, [{ path, message }])
}

function requireSilence(ctx: Context, id: string): LiveSilence {
  const known = [...ctx.state.silences.values()].find(({ silence }) => silence.id === id)?.silence
  const silence = known ?? ctx.fact('silence', { id })
  if (!silence) throw new IncmonError('not-found', 'no such silence in this organization; GET /api/silences lists them')
  return silence
}
