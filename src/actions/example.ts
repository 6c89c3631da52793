/** Loads example data into an organization, and removes it again. */
import { IncmonError } from '../domain/error.ts'
import type { Intake, Source } from '../domain/event/event.ts'
import { EXAMPLE_CLUSTER } from '../domain/example/recorded.ts'
import { findOrganization } from '../store/organizations.ts'
import { deleteCluster, findClusterUse } from '../store/service/cluster.ts'
import type { Deps } from './deps.ts'

/** A request from an example sender. `at`: the Unix time of the request in milliseconds. */
type ExampleDelivery = { readonly at: number; readonly source: Source; readonly intake: Intake }

/**
 * Stores the example deliveries as if they had been received from real senders.
 * @throws IncmonError `conflict` if the example is already loaded
 */
export async function loadExample(deps: Deps, organizationId: number, deliveries: readonly ExampleDelivery[]) {
  if (findClusterUse(deps.db, organizationId, EXAMPLE_CLUSTER)) {
    throw new IncmonError('conflict', 'The example is already loaded. Remove it first.')
  }
  const common = { organizationId, cluster: EXAMPLE_CLUSTER, idempotencyKey: null, dryRun: false, isFromCache: false }
  await Promise.all(
    deliveries.map(({ at, source, intake }) => deps.engine.submit({ ...common, source, intake, receivedAt: at })),
  )
}

/** Deletes the example data. Does nothing if no example data is loaded. */
export async function removeExample(deps: Deps, organizationId: number): Promise<void> {
  const organization = findOrganization(deps.db, organizationId)
  if (!organization) throw new IncmonError('not-found', 'no such organization')
  await deps.engine.reload(() => deps.db.transaction(() => deleteCluster(deps.db, organizationId, EXAMPLE_CLUSTER)))
  deps.announce({ kind: 'organization', id: organization.id, organizationId })
}
