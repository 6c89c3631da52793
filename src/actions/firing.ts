/** Lists firing alerts. The search uses the live state, and the records come from the database. */
import type { Listed, Page } from '../domain/pagination.ts'
import { type FiringFilter, listFiring } from '../engine/state/firing.ts'
import { type AlertRecord, listAlertsByRowId } from '../store/alerts.ts'
import type { Deps } from './deps.ts'

/** Returns one page of firing alerts that match the filter, latest start first. */
export async function listFiringAlerts(
  { db, engine }: Deps,
  organizationId: number,
  filter: FiringFilter,
  page: Page,
): Promise<Listed<AlertRecord>> {
  const { rowIds, total } = await engine.read(organizationId, (state) => listFiring(state, filter, page))
  return { items: listAlertsByRowId(db, rowIds), total }
}
