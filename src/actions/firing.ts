/** Lists firing alerts. The search uses the live state, and the records come from the database. */
import type { ServiceState } from '../domain/health/headline.ts'
import type { Listed, Page } from '../domain/pagination.ts'
import { type FiringFilter, isFiring, listFiring } from '../engine/state/firing.ts'
import { type AlertRecord, listAlertsByRowId } from '../store/alerts.ts'
import type { ServiceRecord } from '../store/service/services.ts'
import type { Deps } from './deps.ts'

/** Returns one page of firing alerts that match the filter, latest start first. */
export async function listFiringAlerts(
  { db, engine }: Deps,
  organizationId: number,
  filter: FiringFilter,
  page: Page,
): Promise<Listed<AlertRecord>> {
  const { rowIds, total } = await engine.read(organizationId, (state) => listFiring(state, filter, page))
  return { items: listAlertsByRowId(db, rowIds, page), total }
}

/** A service with the status that pages show. */
export type ShownService = Omit<ServiceRecord, 'status'> & { readonly status: ServiceState }

/**
 * Returns the services with the status that pages show: `recovering` if a service is degraded only because alerts lower
 * the score until 30 minutes after they end.
 */
export async function withRecovering(
  { engine }: Deps,
  organizationId: number,
  services: readonly ServiceRecord[],
): Promise<readonly ShownService[]> {
  return engine.read(organizationId, (state) =>
    services.map((service) => {
      const isOver = service.status === 'degraded' && !isFiring(state, service.id)
      return isOver ? { ...service, status: 'recovering' } : service
    }),
  )
}
