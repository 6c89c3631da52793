/** Services by hand: made, named, given aliases, merged. */

import { eventFingerprint } from '../domain/alert/signal.ts'
import { IncmonError } from '../domain/error.ts'
import type { AliasRef } from '../domain/service/service.ts'
import { listFiringEventAlerts } from '../store/active-alerts.ts'
import { addFingerprint } from '../store/active-fingerprints.ts'
import { findAlias, listAliases, replaceAliases } from '../store/aliases.ts'
import { awaitedName, linkAwaiting } from '../store/event-rows.ts'
import { moveService } from '../store/merge.ts'
import { findServiceRow, insertService, renameService, type ServiceRow } from '../store/service-rows.ts'
import { errorCode } from '../store/sqlite/fault.ts'
import type { Deps } from './deps.ts'
import { evaluate } from './evaluate.ts'
import { inTransaction } from './transaction.ts'

const NO_SERVICE = 'no such service'

/** The UUID of the new service. Refuses a key that is taken, and an alias that another service has: 'conflict'. */
export function createService(
  deps: Deps,
  organizationId: number,
  wanted: {
    readonly name: string
    readonly namespace: string
    readonly cluster?: string
    readonly aliases?: readonly AliasRef[]
  },
): string {
  const uuid = deps.newId()
  const { name, namespace, cluster = '', aliases = [] } = wanted
  deps.db.transaction(() => {
    const key = { organizationId, cluster, namespace, name }
    const service = unique(`a service ${namespace}/${name} exists already`, () =>
      insertService(deps.db, { uuid, ...key }, deps.now()),
    )
    setAliases(deps, service, aliases)
    linkAwaiting(deps.db, organizationId, awaitedName(key), service.id)
  })
  deps.announce({ kind: 'service', id: uuid, organizationId })
  return uuid
}

/** Changes the name; `aliases` becomes the whole list. */
export function updateService(
  deps: Deps,
  organizationId: number,
  uuid: string,
  wanted: { readonly name?: string | undefined; readonly aliases?: readonly AliasRef[] | undefined },
): void {
  deps.db.transaction(() => {
    const service = required(deps, organizationId, uuid)
    const { name, aliases } = wanted
    if (name !== undefined && name !== service.name) {
      unique(`a service ${service.namespace}/${name} exists already: merge the two instead`, () =>
        renameService(deps.db, service.id, name),
      )
      linkAwaiting(deps.db, organizationId, awaitedName({ ...service, name }), service.id)
      // What is sent under the old name still means this service.
      const old: AliasRef = { kind: 'workload', value: `${service.namespace}/${service.name}` }
      if (!aliases) addAlias(deps, service, old)
    }
    if (aliases) setAliases(deps, service, aliases)
  })
  deps.announce({ kind: 'service', id: uuid, organizationId })
}

/** Moves history, aliases and incidents of one service to another, for good; what is sent under its name follows. */
export function mergeServices(deps: Deps, organizationId: number, fromUuid: string, intoUuid: string): void {
  inTransaction(deps, (inside) => {
    const from = required(deps, organizationId, fromUuid)
    const into = findServiceRow(deps.db, organizationId, intoUuid)
    if (!into) throw new IncmonError('unprocessable', 'into: no such service', [{ path: 'into', message: NO_SERVICE }])
    if (from.id === into.id) throw new IncmonError('conflict', 'a service cannot be merged into itself')
    mergeRows(inside, from, into)
    inside.announce({ kind: 'service', id: intoUuid, organizationId })
  })
}

function mergeRows(deps: Deps, from: ServiceRow, into: ServiceRow): void {
  addAlias(deps, into, { kind: 'workload', value: `${from.namespace}/${from.name}` })
  moveAll(deps, from, into)
}

/** All that one service has becomes the other's, inside a transaction. */
export function moveAll(deps: Deps, from: ServiceRow, into: ServiceRow): void {
  moveService(deps.db, from.id, into.id)
  // The next event of a condition comes under the name of the service that it has now.
  for (const active of listFiringEventAlerts(deps.db, into.id)) {
    const { name, labels } = active.alert
    const { container = null, kind = '' } = labels
    addFingerprint(deps.db, active, eventFingerprint(into, name, { container, kind }))
  }
  evaluate(deps, into.id, deps.now())
}

function required(deps: Deps, organizationId: number, uuid: string): ServiceRow {
  const service = findServiceRow(deps.db, organizationId, uuid)
  if (!service) throw new IncmonError('not-found', NO_SERVICE)
  return service
}

function addAlias(deps: Deps, service: ServiceRow, alias: AliasRef): void {
  const taken = findAlias(deps.db, service.organizationId, [alias])
  if (!taken) setAliases(deps, service, [...listAliases(deps.db, service.id), alias])
}

function setAliases(deps: Deps, service: ServiceRow, aliases: readonly AliasRef[]): void {
  unique('an alias belongs to another service already: take it from there first', () =>
    replaceAliases(deps.db, service.organizationId, service.id, aliases),
  )
}

/** A constraint that the work breaks is a conflict with what is stored. */
function unique<Result>(message: string, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (errorCode(error).startsWith('SQLITE_CONSTRAINT')) throw new IncmonError('conflict', message)
    throw error
  }
}
