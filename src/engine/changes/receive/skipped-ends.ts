/** Ends alerts whose end the sender did not report, before they fire anew. */
import { skippedEndOf } from '../../../domain/alert/ending.ts'
import type { Draft } from '../../../domain/event/event.ts'
import { beatsFor, isMovedByStop } from '../../../domain/sender/beats.ts'
import type { Context } from '../../state/context.ts'
import { fingerprintScope } from '../../state/state.ts'
import { changeAlert } from '../alerts.ts'
import { evaluateOrPostpone, MAX_EVALUATION_WORK } from '../evaluate.ts'
import type { SenderFacts } from './senders.ts'

/**
 * Ends each alert that fires anew in these items, all before the first of them fires: their problem was over in between.
 * @param cluster the cluster assigned to the token, or ''
 */
export function endSkipped(
  ctx: Context,
  { delivery, beats }: SenderFacts,
  cluster: string,
  drafted: readonly { readonly draft: Draft }[],
  now: number,
): void {
  if (delivery === null) return
  const { alertByFingerprint, alerts } = ctx.state
  const serviceIds = new Set<number>()
  for (const { draft } of drafted) {
    if (draft.source !== 'metrics' || draft.status !== 'firing' || draft.expiry || draft.isStartUnknown) continue
    const live = alerts.get(alertByFingerprint.get(fingerprintScope('metrics', cluster), draft.fingerprint) ?? 0)
    // What a user resolved since that start is not over.
    const resolvedAt = ctx.state.incidents.get(live?.incidentId ?? 0)?.resolvedAt ?? 0
    if (draft.startsAt <= resolvedAt) continue
    const endsAt = live ? skippedEndOf(live.alert, live.fingerprints, draft, delivery) : null
    if (!live || endsAt === null) continue
    const moved = { lastSeenAt: live.alert.lastSeenAt, startsAt: draft.startsAt, within: delivery.repeatTimeout }
    if (isMovedByStop(beatsFor(beats, ctx.state.services.get(live.serviceId)?.cluster ?? ''), moved)) continue
    const alert = { ...live.alert, status: 'resolved', resolution: 'inferred', endsAt, endedAt: now } as const
    changeAlert(ctx, live, { ...live, alert }, now)
    serviceIds.add(live.serviceId)
  }
  for (const id of serviceIds) evaluateOrPostpone(ctx, id, now, MAX_EVALUATION_WORK)
}
