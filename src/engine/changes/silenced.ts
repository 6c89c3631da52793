/** Applies the active silences to the alerts of a service. */

import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { newSteps } from '../../domain/silence/matcher.ts'
import { lastEndOf, nextChangeOf, silenceName, silencesOf, statusOf, withSaid } from '../../domain/silence/silence.ts'
import { countOf, formatTime } from '../../domain/text.ts'
import type { Context } from '../state/context.ts'
import type { Condition } from './conditions.ts'
import { addEntry } from './incidents/incidents.ts'

/** Matching one alert against this many silences takes as long as saving one effect. */
const SILENCES_PER_EFFECT = 50

/** So many steps take as long as saving one effect; see `Steps`. */
const STEPS_PER_EFFECT = 25_000

/** Returns whether the organization has an active silence. */
export function hasActiveSilence({ state }: Context, now: number): boolean {
  return [...state.silences.values()].some(({ silence }) => statusOf(silence, now) === 'active')
}

/** Returns the labels of a service, and the active silences that may match its alerts. */
function silencingOf({ state }: Context, { name, namespace, cluster }: LiveService, now: number) {
  const labels = { service: name, namespace, cluster }
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
  return ({ alert, rowId }) => alert.status === 'firing' && (compared?.key !== key || rowId > compared.last)
}

/** An alert before and after a change of its silences. */
export type Resilenced = { readonly before: LiveAlert; readonly after: LiveAlert }

/** Updates which alerts of a service are silenced. Returns the alerts that are not silenced, and the changes. */
export function withoutSilenced(
  ctx: Context,
  service: LiveService,
  conditions: readonly Condition[],
  now: number,
): { readonly conditions: readonly Condition[]; readonly resilenced: readonly Resilenced[] } {
  const resilenced: Resilenced[] = []
  const silencing = silencingOf(ctx, service, now)
  if (silencing.active.length === 0 && conditions.every(({ live }) => live.silencedBy.length === 0))
    return { conditions, resilenced }
  const after = compare(ctx, service.rowId, silencing, conditions)
  const unsilenced = conditions.flatMap((condition) => {
    const { live } = condition
    const silencedBy = after.get(live.rowId) ?? live.silencedBy
    if (silencedBy.join() !== live.silencedBy.join()) {
      const change = { before: live, after: { ...live, silencedBy } }
      resilenced.push(change)
      ctx.put.alert(change.after)
    }
    return silencedBy.length > 0 ? [] : [{ ...condition, freedAt: freedAt(ctx, condition, now) }]
  })
  return { conditions: unsilenced, resilenced }
}

/** Returns when the silences that covered a condition since it last began ended; null if none did. */
function freedAt({ state }: Context, { live, begunAt }: Condition, now: number): number | null {
  const ends = live.silencedBy.flatMap((rowId) => {
    const silence = state.silences.get(rowId)?.silence
    // An active silence covers the condition no more because the silence or the labels changed.
    if (silence === undefined || statusOf(silence, now) === 'active') return [now]
    return (nextChangeOf(silence, begunAt) ?? Number.POSITIVE_INFINITY) <= now ? [lastEndOf(silence, now)] : []
  })
  return ends.length === 0 ? null : Math.max(...ends)
}

type Silencing = ReturnType<typeof silencingOf>

/** Returns the matching silences for each alert that has to be checked, keyed by the alert's row id. */
function compare(
  ctx: Context,
  serviceId: number,
  silencing: Silencing,
  conditions: readonly Condition[],
): ReadonlyMap<number, readonly number[]> {
  const { state } = ctx
  const key = keyOf(ctx, silencing)
  const active = silencing.active.map(({ compiled }) => compiled)
  const isOpen = isUncompared(ctx, serviceId, key)
  const open = conditions.filter(({ live }) => isOpen(live))
  const needsSaved = active.length > 0 && open.some(({ live }) => ctx.state.unsavedLabels.get(live.rowId) === undefined)
  const saved = needsSaved ? ctx.fact('labels', { serviceId }) : null
  const found = new Map<number, readonly number[]>()
  for (const { live, source, severity, status, name } of open) {
    const { rowId, silencedBy } = live
    const labels = withSaid(state.unsavedLabels.get(rowId) ?? saved?.get(rowId) ?? {}, live.alert.said)
    const steps = newSteps()
    const most = steps.left
    const compared = { ...silencing.labels, source, severity, alertname: name, labels, status, silencedBy }
    found.set(rowId, silencesOf(compared, active, steps))
    ctx.addWork((most - steps.left) / STEPS_PER_EFFECT)
  }
  ctx.addWork((open.length * active.length) / SILENCES_PER_EFFECT)
  const last = open.reduce((most, { live }) => Math.max(most, live.rowId), state.compared.get(serviceId)?.last ?? 0)
  if (open.length > 0) ctx.put.compared(serviceId, { key, last })
  return found
}

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
  const bySilence = Map.groupBy(found, ({ before, after }) => [...before.silencedBy, ...after.silencedBy][0])
  for (const [rowId = 0, [first, ...more]] of bySilence) {
    const silence = ctx.state.silences.get(rowId)?.silence
    const alerts = more.length === 0 ? first?.after.alert.name : countOf(more.length + 1, 'alert')
    addEntry(ctx, incident, {
      at: now,
      kind: 'silence',
      code,
      text: `${silenceName(silence)} ${isOver ? 'no longer applies to' : 'applies to'} ${alerts}${isOver && silence ? `; ${silence.createdBy ?? 'a user'} set it from ${formatTime(silence.startsAt)}` : ''}`,
      // Whoever created a silence did nothing when it ended.
      actor: isOver ? null : (silence?.createdBy ?? null),
      ref: silence ? `silence/${silence.id}` : null,
    })
  }
}
