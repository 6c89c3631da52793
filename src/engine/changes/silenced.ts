/** Applies the active silences to the alerts of a service. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { newSteps } from '../../domain/silence/matcher.ts'
import {
  type LiveSilence,
  lastWindowOf,
  nextChangeOf,
  silenceName,
  silencesOf,
  statusOf,
  type Window,
  withSaid,
} from '../../domain/silence/silence.ts'
import { countOf, formatPeriod, formatTime } from '../../domain/text.ts'
import type { Context } from '../state/context.ts'
import type { Condition } from './conditions.ts'
import { addEntry } from './incidents/incidents.ts'

/** Matching one alert against this many silences takes as long as saving one effect. */
const SILENCES_PER_EFFECT = 50

/** The maximum number of alerts whose labels are loaded for an evaluation that can be continued later. */
const AT_ONCE = 500

/** So many steps take as long as saving one effect; see `Steps`. */
const STEPS_PER_EFFECT = 10_000

/** Returns the names of a service, and the active silences that may match its alerts. */
function silencingOf({ state }: Context, { rowId, name, namespace, cluster }: LiveService, now: number) {
  const labels = { service: name, aliases: [...state.otherNames.get(rowId)], namespace, cluster }
  const active = [...state.silences.values()].filter(
    ({ silence, compiled }) => statusOf(silence, now) === 'active' && compiled.mayMatch(labels),
  )
  return { labels, active }
}

/** Returns a key that changes whenever different silences may match the service's alerts. Each service stores one. */
function keyOf({ hashOf }: Context, { labels, active }: Silencing): number {
  return hashOf(JSON.stringify([labels, active.map(({ silence: { rowId, revision } }) => [rowId, revision])]))
}

/**
 * Returns a predicate that tells whether an alert has to be matched against the silences. If not, the alert's
 * `silencedBy` is still correct from an earlier evaluation with the same silences.
 */
function isUncompared({ state }: Context, serviceId: number, key: number): (live: LiveAlert) => boolean {
  const compared = state.compared.get(serviceId)
  const changed = state.uncompared.get(serviceId)
  return ({ alert, rowId }) =>
    alert.status === 'firing' && (compared?.key !== key || rowId > compared.last || changed.has(rowId))
}

/** An alert before and after a change of its silences. */
export type Resilenced = { readonly before: LiveAlert; readonly after: LiveAlert }

/**
 * Updates which alerts of a service are silenced. Returns the alerts that are not silenced, and the changes.
 * @param most the workload at which to stop. Then nothing is updated, null is returned, and the next call continues.
 */
export function withoutSilenced(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  now: number,
  most: number,
): { readonly conditions: readonly Condition[]; readonly resilenced: readonly Resilenced[] } | null {
  const resilenced: Resilenced[] = []
  const silencing = silencingOf(ctx, service, now)
  if (silencing.active.length === 0 && conditions.every(({ live }) => live.silencedBy.length === 0))
    return { conditions, resilenced }
  const after = compare(ctx, service.rowId, silencing, { conditions, most })
  if (after === null) return null
  const unsilenced = conditions.flatMap((condition) => {
    const { live } = condition
    const silencedBy = after.get(live.rowId) ?? live.silencedBy
    if (silencedBy.join() !== live.silencedBy.join()) {
      const change = { before: live, after: { ...live, silencedBy } }
      resilenced.push(change)
      ctx.put.alert(change.after)
    }
    return silencedBy.length > 0 ? [] : [{ ...condition, freed: freedFrom(ctx, condition, now) }]
  })
  return { conditions: unsilenced, resilenced }
}

/** Returns the period in which silences covered a condition since it last began; null if none did. */
export function freedFrom({ state }: Context, { live, begunAt }: Condition, now: number): Window | null {
  const windows = live.silencedBy.flatMap((rowId): Window[] => {
    const silence = state.silences.get(rowId)?.silence
    if (silence === undefined) return [{ startsAt: begunAt, endsAt: now }]
    const { startsAt, endsAt } = lastWindowOf(silence, now)
    const window = { startsAt: Math.max(startsAt, silence.createdAt), endsAt }
    // An active silence covers the condition no more because the silence or the labels changed.
    if (statusOf(silence, now) === 'active') return [window]
    return (nextChangeOf(silence, begunAt) ?? Number.POSITIVE_INFINITY) <= now ? [window] : []
  })
  if (windows.length === 0) return null
  const from = Math.min(...windows.map(({ startsAt }) => startsAt))
  return { startsAt: Math.max(begunAt, from), endsAt: Math.max(...windows.map(({ endsAt }) => endsAt)) }
}

type Silencing = ReturnType<typeof silencingOf>

/** Returns the matching silences for each alert that has to be checked, keyed by the alert's row id; null if some are left. */
function compare(
  ctx: Context,
  serviceId: number,
  silencing: Silencing,
  { conditions, most }: { readonly conditions: readonly Condition[]; readonly most: number },
): ReadonlyMap<number, readonly number[]> | null {
  const { state } = ctx
  const key = keyOf(ctx, silencing)
  const active = silencing.active.map(({ compiled }) => compiled)
  const isOpen = isUncompared(ctx, serviceId, key)
  const open = conditions.filter(({ live }) => isOpen(live)).sort((a, b) => a.live.rowId - b.live.rowId)
  const some = most === Number.POSITIVE_INFINITY ? open : open.slice(0, AT_ONCE)
  const unknown = some.flatMap(({ live: { rowId } }) => (state.unsavedLabels.get(rowId) === undefined ? rowId : []))
  const saved = active.length > 0 && unknown.length > 0 ? ctx.fact('labels', { rowIds: unknown }) : null
  const before = state.compared.get(serviceId)
  const isSame = before?.key === key
  const found = new Map(isSame ? before.ahead : NONE)
  let last = isSame ? before.last : 0
  const done: number[] = []
  for (const [index, { live, source, severity, status, name }] of some.entries()) {
    const { rowId, silencedBy } = live
    const labels = withSaid(state.unsavedLabels.get(rowId) ?? saved?.get(rowId) ?? {}, live.alert.said)
    const steps = newSteps()
    const all = steps.left
    const compared = { ...silencing.labels, source, severity, alertname: name, labels, status, silencedBy }
    found.set(rowId, silencesOf(compared, active, steps))
    last = Math.max(last, rowId)
    done.push(rowId)
    ctx.addWork((all - steps.left) / STEPS_PER_EFFECT + active.length / SILENCES_PER_EFFECT)
    if (index + 1 === open.length || (index + 1 < some.length && ctx.workload() < most)) continue
    ctx.put.compared(serviceId, { key, last, ahead: found }, done)
    return null
  }
  if (open.length > 0 || found.size > 0) ctx.put.compared(serviceId, { key, last, ahead: NONE }, done)
  return found
}

const NONE: ReadonlyMap<number, readonly number[]> = new Map()

/** Records in the incident timeline which alerts became silenced and which are no longer silenced. */
export function noteSilences(
  ctx: Context,
  incident: LiveIncident,
  resilenced: readonly Resilenced[],
  now: number,
): void {
  const incidentOf = ({ rowId }: LiveAlert) => ctx.state.alerts.get(rowId)?.incidentId ?? null
  const firing = resilenced.filter(({ after: { alert } }) => alert.status === 'firing' && alert.severity !== 'info')
  // If there are many alerts, some of them do not join the incident until the next batch.
  const freed = firing.filter(
    ({ after }) => after.silencedBy.length === 0 && [null, incident.rowId].includes(incidentOf(after)),
  )
  const silenced = firing.filter(
    ({ before }) => before.silencedBy.length === 0 && incidentOf(before) === incident.rowId,
  )
  noteEach(ctx, incident, freed, 'unsilenced', now)
  noteEach(ctx, incident, silenced, 'silenced', now)
}

function noteEach(
  ctx: Context,
  incident: LiveIncident,
  found: readonly Resilenced[],
  code: 'silenced' | 'unsilenced',
  now: number,
): void {
  const isOver = code === 'unsilenced'
  // incmon can notice the end later, for example after a restart.
  const whenOf = ({ startsAt, endsAt }: LiveSilence) =>
    endsAt < now ? formatPeriod(startsAt, endsAt) : formatTime(startsAt)
  const bySilence = Map.groupBy(found, ({ before, after }) => [...before.silencedBy, ...after.silencedBy][0])
  for (const [rowId = 0, [first, ...more]] of bySilence) {
    const silence = ctx.state.silences.get(rowId)?.silence
    const alerts = more.length === 0 ? first?.after.alert.name : countOf(more.length + 1, 'alert')
    const removed = isOver ? silence?.removed : undefined
    const set = silence ? `; ${silence.createdBy ?? 'a user'} set it from ${whenOf(silence)}` : ''
    const text = removed
      ? `removed ${silenceName(silence)} (set until ${formatTime(removed.until)}), which applied to ${alerts}`
      : `${silenceName(silence)} ${isOver ? 'no longer applies to' : 'applies to'} ${alerts}${isOver ? set : ''}`
    addEntry(ctx, incident, {
      at: now,
      kind: 'silence',
      code,
      text,
      // Whoever created a silence did nothing when it ended.
      actor: isOver ? (removed?.by ?? null) : (silence?.createdBy ?? null),
      ref: silence ? `silence/${silence.id}` : null,
    })
  }
}
