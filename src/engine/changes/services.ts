/** Manual service changes: create, rename, set aliases, merge. */

import { fingerprintsOf, withStart } from '../../domain/alert/fingerprints.ts'
import { eventFingerprint } from '../../domain/alert/signal.ts'
import { IncmonError } from '../../domain/error.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { AliasRef } from '../../domain/service/service.ts'
import { serviceName } from '../../domain/text.ts'
import type { Context } from '../state/context.ts'
import { fingerprintScope } from '../state/state.ts'
import { changeAlert } from './alerts.ts'
import { findAlias, findService, inCluster } from './attribution.ts'
import { firingEventAlerts } from './conditions.ts'
import { evaluate } from './evaluate.ts'
import { addEntry, unresolvedIncidents } from './incidents/incidents.ts'
import { mergeIncidents } from './incidents/merge.ts'
import { renameParts } from './incidents/renamed.ts'
import { createLiveService } from './live-service.ts'

const NO_SERVICE = 'no such service'

/**
 * Creates a service and returns its UUID.
 * @throws IncmonError `conflict` if its key is taken or an alias belongs to another service
 */
export function createService(
  ctx: Context,
  wanted: {
    readonly name: string
    readonly namespace: string
    readonly cluster?: string
    readonly aliases?: readonly AliasRef[]
  },
  now: number,
): string {
  const { name, namespace, cluster = '', aliases = [] } = wanted
  const key = { cluster, namespace, name }
  if (findService(ctx.state, key)) throw taken(`a service ${serviceName(key)} already exists`)
  const service = createLiveService(ctx, key, now)
  setAliases(ctx, service, aliases)
  return service.id
}

/**
 * Renames a service. `aliases`, if given, replaces all aliases of the service.
 * @throws IncmonError `not-found`; `conflict` as in `createService`
 */
export function updateService(
  ctx: Context,
  id: string,
  wanted: { readonly name?: string | undefined; readonly aliases?: readonly AliasRef[] | undefined },
  now: number,
): void {
  const service = requireService(ctx, id)
  const { name, aliases } = wanted
  if (name !== undefined && name !== service.name) {
    const after = { ...service, name }
    if (findService(ctx.state, after)) {
      throw taken(`a service ${serviceName(after)} already exists: merge the two services instead`)
    }
    ctx.put.service(after)
    renameParts(ctx, service, after)
    // Items that still use the old name belong to this service.
    if (!aliases) keepName(ctx, after, service)
  }
  if (aliases) setAliases(ctx, requireService(ctx, id), aliases)
  // After a rename, different silences may match the service.
  evaluate(ctx, service.rowId, now)
}

/**
 * Moves the history, aliases and incidents of one service into another. Later items that name the first service go to
 * the other service. The open incidents of both services are merged into one incident. `actor`: the token's name; null
 * for automatic merges.
 * @throws IncmonError `not-found`; `unprocessable` if the target does not exist; `conflict` if both are the same
 * service
 */
export function mergeServices(
  ctx: Context,
  fromId: string,
  intoId: string,
  now: number,
  actor: string | null = null,
): void {
  const from = requireService(ctx, fromId)
  const into = serviceOf(ctx, intoId)
  if (!into) throw new IncmonError('unprocessable', `into: ${NO_SERVICE}`, [{ path: 'into', message: NO_SERVICE }])
  if (from.rowId === into.rowId) throw new IncmonError('conflict', 'a service cannot be merged into itself')
  keepName(ctx, into, from)
  moveAll(ctx, from, into, now, actor)
  if (actor === null) return
  const text = `merged the service ${serviceName(from)} into ${serviceName(into)}`
  for (const incident of unresolvedIncidents(ctx.state, into.rowId))
    addEntry(ctx, incident, { at: now, kind: 'edited', code: null, text, actor, ref: null })
}

/** Moves all records of one service to another, and merges their open incidents. */
export function moveAll(
  ctx: Context,
  { rowId: fromId }: LiveService,
  { rowId: intoId }: LiveService,
  now: number,
  actor: string | null = null,
): void {
  // An earlier step for the same item may have changed these services.
  const [from, into] = [ctx.state.services.get(fromId), ctx.state.services.get(intoId)]
  if (!from || !into) return
  const incidents = incidentsToMerge(ctx, from, into)
  const labels =
    ctx.state.silences.size() === 0
      ? new Map()
      : ctx.fact('labels', { rowIds: [...ctx.state.alertsOfService.get(from.rowId)] })
  ctx.emit({ kind: 'service-merged', from, into, labels })
  renameParts(ctx, from, into)
  addOwnFingerprints(ctx, into)
  for (const ids of incidents) mergeIncidents(ctx, ids, actor, now)
  const kept = ctx.state.services.get(into.rowId)
  // What a user left on does not come back with the merge.
  if (kept && from.suppressed) ctx.put.service({ ...kept, suppressed: true })
  evaluate(ctx, into.rowId, now)
}

/**
 * Returns the incidents to merge. The target is the oldest open incident of the two services. The sources are all open
 * incidents of the service that does not have the target.
 */
function incidentsToMerge(ctx: Context, from: LiveService, into: LiveService): { from: string; into: string }[] {
  const open = [from, into]
    .flatMap(({ rowId }) => unresolvedIncidents(ctx.state, rowId))
    .filter(({ cause }) => cause === 'service')
  const [first, ...others] = open.sort((a, b) => a.createdAt - b.createdAt || a.rowId - b.rowId)
  if (!first) return []
  return others.filter(({ serviceId }) => serviceId !== first.serviceId).map(({ id }) => ({ from: id, into: first.id }))
}

/** Adds fingerprints with the new name and cluster, so that later events find the service's alerts. */
export function addOwnFingerprints(ctx: Context, service: LiveService): void {
  for (const live of firingEventAlerts(ctx.state, service)) {
    if (!live.part) continue
    const fingerprint = eventFingerprint(service, live.alert.name, live.part)
    if (ctx.state.alertByFingerprint.get(fingerprintScope('cluster', live.cluster), fingerprint) !== undefined) continue
    const own = { ...live.alert, fingerprint, expiry: null }
    const known = fingerprintsOf(live.alert, live.fingerprints)
    const fingerprints = withStart(known, own, live.alert.receivedAt, false)
    changeAlert(ctx, live, { ...live, fingerprints }, live.alert.receivedAt)
  }
}

function serviceOf(ctx: Context, id: string): LiveService | undefined {
  const rowId = ctx.state.serviceById.get(id)
  return rowId === undefined ? undefined : ctx.state.services.get(rowId)
}

function requireService(ctx: Context, id: string): LiveService {
  const service = serviceOf(ctx, id)
  if (!service) throw new IncmonError('not-found', NO_SERVICE)
  return service
}

function aliasesOf(ctx: Context, { rowId }: LiveService): AliasRef[] {
  return [...ctx.state.aliases.keys()].flatMap((key) => {
    if (ctx.state.aliases.get(key) !== rowId) return []
    const space = key.indexOf(' ')
    return [{ kind: key.slice(0, space), value: key.slice(space + 1) } as AliasRef]
  })
}

function addAlias(ctx: Context, service: LiveService, alias: AliasRef): void {
  if (!findAlias(ctx.state, [alias])) setAliases(ctx, service, [...aliasesOf(ctx, service), alias])
}

/** Lets items with an earlier name belong to a service. A name that several clusters have is that of the own cluster. */
function keepName(ctx: Context, service: LiveService, { cluster, namespace, name }: LiveService): void {
  const alias = { kind: 'workload', value: `${namespace}/${name}` } as const
  const owner = findAlias(ctx.state, [alias])?.service.rowId ?? service.rowId
  const isApart = cluster !== '' && ((service.cluster !== '' && service.cluster !== cluster) || owner !== service.rowId)
  addAlias(ctx, service, isApart ? inCluster(alias, cluster) : alias)
}

/** Adds an alias to a service. Throws if the alias belongs to another service. */
export function assignAlias(ctx: Context, serviceId: string, alias: AliasRef, conflict: string): void {
  const service = requireService(ctx, serviceId)
  const owner = findAlias(ctx.state, [alias])
  if (owner && owner.service.rowId !== service.rowId) throw taken(conflict)
  addAlias(ctx, service, alias)
}

function setAliases(ctx: Context, service: LiveService, aliases: readonly AliasRef[]): void {
  const isOfAnother = aliases.some((alias) => {
    const owner = findAlias(ctx.state, [alias])
    return owner !== null && owner.service.rowId !== service.rowId
  })
  if (isOfAnother) throw taken('this alias already belongs to another service: remove it from that service first')
  const different = [...new Map(aliases.map((one) => [`${one.kind} ${one.value}`, one])).values()]
  ctx.emit({
    kind: 'aliases-set',
    organizationId: service.organizationId,
    serviceId: service.rowId,
    aliases: different,
  })
}

function taken(message: string): IncmonError {
  return new IncmonError('conflict', message)
}
