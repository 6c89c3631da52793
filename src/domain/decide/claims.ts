/** Merges a persistent volume claim into the workload that uses it, so that the claim is not a separate service. */
import type { Draft } from '../event/event.ts'
import { claimNamesOf } from '../service/pod-name.ts'
import type { Context } from '../state/context.ts'
import type { LiveService } from '../state/live.ts'
import type { OrganizationState } from '../state/state.ts'
import { findService } from './attribution.ts'
import { alertsOf } from './conditions.ts'
import { mergeServices, moveAll } from './services.ts'

const CLAIM = 'PersistentVolumeClaim'
/** Matches scheduler and kubelet messages that name the claim a pod is waiting for. */
const NAMED = /\bpersistentvolumeclaim "([a-z0-9.-]+)"/i

/**
 * Merges volume claims into an item's workload. If the workload is new, merges all claims whose names match the
 * workload. Also merges the claim that the item's message names.
 */
export function joinClaims(ctx: Context, draft: Draft, service: LiveService, isNew: boolean, now: number): void {
  if (draft.source === 'cluster' && draft.object.kind === CLAIM) return
  const { cluster, namespace } = service
  if (isNew) {
    for (const name of claimNamesOf(service.name)) {
      const claim = findService(ctx.state, { cluster, namespace, name })
      if (claim && isClaim(ctx.state, claim)) moveAll(ctx, claim, service, now)
    }
  }
  const name = draft.source === 'cluster' && draft.object.kind === 'Pod' ? NAMED.exec(draft.message)?.[1] : undefined
  const used = name === undefined ? null : findService(ctx.state, { cluster, namespace, name })
  // The workload cannot be found from the claim's name, so this merge adds an alias.
  if (used && used.rowId !== service.rowId && isClaim(ctx.state, used)) mergeServices(ctx, used.id, service.id, now)
}

function isClaim(state: OrganizationState, { rowId }: LiveService): boolean {
  const alerts = alertsOf(state, rowId)
  return (
    alerts.length > 0 &&
    alerts.every(({ part, alert }) => part?.kind === CLAIM || alert.rules.service.includes(' persistentvolumeclaim'))
  )
}
