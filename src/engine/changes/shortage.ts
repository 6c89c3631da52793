/**
 * Reports an organization without room for another alert or service: as an alert of the service `incmon`, and in the
 * answers to the senders.
 */

import { IncmonError } from '../../domain/error.ts'
import type { AlertDraft } from '../../domain/event/event.ts'
import type { Limits } from '../../domain/limits.ts'
import { countOf, formatCount } from '../../domain/text.ts'
import type { Context } from '../state/context.ts'
import { fingerprintScope, type OrganizationState } from '../state/state.ts'
import { decideItem } from './receive/item.ts'
import { NO_SENDER } from './receive/senders.ts'
import type { Shortage } from './room.ts'

/** The alert of a shortage is over when less than this share of the limit is in use. */
const OVER_BELOW = 0.9

const SHORTAGES = ['live-alerts', 'services'] as const satisfies readonly Shortage[]
const NAMES = { 'live-alerts': 'TooManyLiveAlerts', services: 'TooManyServices' } as const
const NOUNS: Readonly<Record<Shortage, string>> = { 'live-alerts': 'live alert', services: 'service' }

/** Opens the alert of each shortage unless it is firing. Returns the services to evaluate. */
export function reportShortages(ctx: Context, found: ReadonlySet<Shortage>, now: number): readonly number[] {
  return [...found].flatMap((shortage) => {
    if (isReported(ctx.state, shortage)) return []
    const limit = formatCount(ctx.limits()[shortage])
    const summary =
      shortage === 'services'
        ? `the limit of ${limit} services is reached: items about new services are not processed`
        : `the limit of ${limit} live alerts is reached: new alerts are not processed until others end`
    return report(ctx, shortage, 'firing', summary, now)
  })
}

/** Returns whether the alert of a shortage is firing although the shortage is over. */
export function hasEndedShortage(state: OrganizationState, limits: Limits): boolean {
  return SHORTAGES.some((shortage) => isReported(state, shortage) && isOver(state, shortage, limits))
}

/** Ends the alerts of the shortages that are over. Returns the services to evaluate. */
export function endShortages(ctx: Context, now: number): readonly number[] {
  const over = SHORTAGES.filter((one) => isReported(ctx.state, one) && isOver(ctx.state, one, ctx.limits()))
  return over.flatMap((shortage) =>
    report(ctx, shortage, 'resolved', `there is room for new ${NOUNS[shortage]}s again`, now),
  )
}

function isOver(state: OrganizationState, shortage: Shortage, limits: Limits): boolean {
  // Ended alerts make room for new ones.
  const used = shortage === 'services' ? state.services.size() : state.firing.size()
  return used < OVER_BELOW * limits[shortage]
}

function isReported(state: OrganizationState, shortage: Shortage): boolean {
  const rowId = state.alertByFingerprint.get(fingerprintScope('metrics', ''), fingerprintOf(shortage))
  return rowId !== undefined && state.alerts.get(rowId)?.alert.status === 'firing'
}

function fingerprintOf(shortage: Shortage): string {
  return `incmon-limit-${shortage}`
}

function report(
  ctx: Context,
  shortage: Shortage,
  status: AlertDraft['status'],
  summary: string,
  now: number,
): readonly number[] {
  const labels = { alertname: NAMES[shortage], service: 'incmon', severity: 'critical' }
  const endsAt = status === 'resolved' ? now : null
  const texts = { status, labels, annotations: { summary } }
  const draft: AlertDraft = {
    ...texts,
    ...{ source: 'metrics', nature: 'alert', name: NAMES[shortage], links: {} },
    fingerprint: fingerprintOf(shortage),
    ...{ at: now, startsAt: now, endsAt, payload: JSON.stringify(texts) },
  }
  const item = { ...NO_SENDER, cluster: '', draft, receivedAt: now, isFromCache: false, isOwn: true }
  const result = decideItem(ctx, item)
  return 'refused' in result ? [] : result.serviceIds
}

/** Returns the warning about a stored item that opened no alert. */
export function shortageWarning(shortage: Shortage, limits: Limits): string {
  return `the event was stored without opening an alert, because ${reasonOf(shortage, limits)}`
}

/** Returns the error for a request of which some items were not stored. */
export function refusedError(
  { eventIds }: { readonly eventIds: readonly string[] },
  refused: { readonly items: number; readonly shortage: Shortage },
  limits: Limits,
): IncmonError {
  const { items, shortage } = refused
  const rest = eventIds.length > 0 ? `, and ${countOf(eventIds.length, 'other')} stored` : ''
  return new IncmonError(
    'unavailable',
    `${countOf(items, 'new alert')} not stored${rest}: ${reasonOf(shortage, limits)}; send the request again later`,
  )
}

function reasonOf(shortage: Shortage, limits: Limits): string {
  const what = shortage === 'services' ? 'merge services' : 'resolve alerts'
  const used = countOf(limits[shortage], NOUNS[shortage])
  return `this organization has ${used}, the limit; ${what} or raise the setting limits (${shortage})`
}
