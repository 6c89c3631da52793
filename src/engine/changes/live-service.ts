/** Creates services, loads what the live state does not contain about them, and schedules their evaluation. */

import type { ReceivedEvent } from '../../domain/alert/late-events.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import { copyOf } from '../../domain/memoize.ts'
import type { ServiceKey } from '../../domain/service/service.ts'
import type { Context } from '../state/context.ts'
import { awaitedName } from '../state/state.ts'

/** Creates a service. New services are healthy. */
export function createLiveService(ctx: Context, key: ServiceKey, now: number): LiveService {
  const { cluster, namespace, name } = key
  // Earlier events may belong to the new service. Null means that the value is not loaded yet.
  const newest = ctx.state.unsavedEndings.get(awaitedName(key)) !== undefined || ctx.fact('hasAwaited', {}) ? null : 0
  const service: LiveService = {
    rowId: ctx.rowId('services'),
    id: ctx.newId(),
    organizationId: ctx.state.rowId,
    ...{ cluster: copyOf(cluster), namespace: copyOf(namespace), name: copyOf(name) },
    health: { status: 'healthy', score: 100, penalties: [] },
    healthySince: now,
    suppressed: false,
    lastAlertAt: null,
    lastEventAt: null,
    createdAt: now,
    evaluateAt: null,
    ...{ endingEventAt: newest, changeAt: newest, hasOnlyCi: null },
  }
  ctx.put.service(service)
  return service
}

/** Returns the times (ms UTC) of the service's newest change and of its newest event that can end a condition. */
export function newestOf(
  ctx: Context,
  { rowId }: LiveService,
): { readonly endingEventAt: number; readonly changeAt: number } {
  const before = ctx.state.services.get(rowId)
  if (!before) return { endingEventAt: 0, changeAt: 0 }
  const { endingEventAt, changeAt } = before
  if (endingEventAt !== null && changeAt !== null) return { endingEventAt, changeAt }
  const saved = ctx.fact('newest', { serviceId: rowId, awaited: awaitedName(before) })
  const unsaved = ctx.state.unsavedEndings.get(rowId) ?? []
  const times = (of: readonly ReceivedEvent[]) => of.map(({ at }) => at)
  const found = {
    endingEventAt: Math.max(saved.endingEventAt, ...times(unsaved)),
    changeAt: Math.max(saved.changeAt, ...times(unsaved.filter(({ kind }) => kind === 'change'))),
  }
  ctx.put.service({ ...before, ...found })
  return found
}

/** Schedules the evaluation of a service unless it is already due. */
export function makeDue(ctx: Context, serviceId: number, now: number): void {
  const before = ctx.state.services.get(serviceId)
  if (!before || (before.evaluateAt !== null && before.evaluateAt <= now)) return
  ctx.put.service({ ...before, evaluateAt: now })
}
