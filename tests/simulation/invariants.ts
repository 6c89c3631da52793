/** Invariants that hold at any time in a simulation. */
import assert from 'node:assert/strict'
import type { LiveAlert } from '../../src/domain/alert/alert.ts'
import { fingerprintsOf } from '../../src/domain/alert/fingerprints.ts'
import { IncmonError } from '../../src/domain/error.ts'
import type { Delivery } from '../../src/engine/changes/receive/delivery.ts'
import type { Receipt } from '../../src/engine/changes/receive/receipt.ts'
import type { createNames } from '../../src/engine/state/journal.ts'
import {
  dueStep,
  fingerprintScope,
  namesakeKey,
  namespaceKey,
  type OrganizationState,
  serviceKey,
} from '../../src/engine/state/state.ts'
import { MINUTE } from '../helpers/factory.ts'
import type { Records } from './records.ts'
import type { Snapshot } from './snapshot.ts'

/** Every index contains exactly what is in the tables. */
export function checkIndexes(state: OrganizationState): void {
  const services = [...state.services.values()]
  const alerts = [...state.alerts.values()]
  const firing = alerts.filter(({ alert }) => alert.status === 'firing')
  const incidents = [...state.incidents.values()]
  same(
    'serviceById',
    tableOf(state.serviceById),
    services.map((one) => [one.id, one.rowId]),
  )
  same(
    'serviceByKey',
    tableOf(state.serviceByKey),
    services.map((one) => [serviceKey(one), one.rowId]),
  )
  same(
    'servicesByName',
    indexOf(state.servicesByName),
    services.map((one) => [one.name, one.rowId]),
  )
  same(
    'servicesByNamespace',
    indexOf(state.servicesByNamespace),
    services.map((one) => [namespaceKey(one), one.rowId]),
  )
  same('dueServices', indexOf(state.dueServices), stepsOf(services.map((one) => [dueStep(one.evaluateAt), one.rowId])))
  same(
    'alertsOfService',
    indexOf(state.alertsOfService),
    alerts.map((one) => [one.serviceId, one.rowId]),
  )
  same('alertsOfGroup', indexOf(state.alertsOfGroup), stepsOf(alerts.map((one) => [one.groupId, one.rowId])))
  same('dueAlerts', indexOf(state.dueAlerts), stepsOf(alerts.map((one) => [dueStep(one.dueAt), one.rowId])))
  same(
    'namesakes',
    tableOf(state.namesakes),
    [...Map.groupBy(firing, (one) => namesakeKey(one.serviceId, one.alert, one.alert.severity))].map(
      ([key, { length }]) => [key, length],
    ),
  )
  same(
    'incidentById',
    tableOf(state.incidentById),
    incidents.map((one) => [one.id, one.rowId]),
  )
  same(
    'incidentsOfService',
    indexOf(state.incidentsOfService),
    incidents.map((one) => [one.serviceId, one.rowId]),
  )
  const inOrder = firing.toSorted((a, b) => a.alert.startsAt - b.alert.startsAt || a.rowId - b.rowId)
  const positions = Array.from({ length: state.firing.size() }, (_, position) => state.firing.at(position))
  assert.deepEqual(
    positions,
    inOrder.map(({ rowId }) => rowId),
    'the firing alerts are in order of their start',
  )
  checkNames(state, alerts)
}

/** Of several alerts with the same name, the newest is found. */
function checkNames({ alertByFingerprint, alertByLogicalKey }: OrganizationState, alerts: readonly LiveAlert[]): void {
  const byId = alerts.toSorted((a, b) => a.rowId - b.rowId)
  const byReceipt = byId.toSorted((a, b) => a.alert.receivedAt - b.alert.receivedAt)
  const fingerprinted = byReceipt.flatMap(({ rowId, cluster, alert, fingerprints }) => {
    const scope = fingerprintScope(alert.source, cluster)
    return fingerprintsOf(alert, fingerprints).map(({ fingerprint }) => [`${scope}\0${fingerprint}`, rowId] as const)
  })
  const keyed = byId.map(({ rowId, alert: { source, logicalKey } }) => [`${source}\0${logicalKey}`, rowId] as const)
  const pairsOf = (names: ReturnType<typeof createNames>) =>
    [...names.entries()].map(([scope, name, rowId]) => [`${scope}\0${name}`, rowId] as const)
  same('alertByFingerprint', pairsOf(alertByFingerprint), [...new Map(fingerprinted)])
  same('alertByLogicalKey', pairsOf(alertByLogicalKey), [...new Map(keyed)])
}

type Pair = readonly [unknown, unknown]
type Keyed<Found> = { readonly keys: () => Iterable<unknown>; readonly get: (key: never) => Found }

function tableOf({ keys, get }: Keyed<unknown>): Pair[] {
  return [...keys()].map((key) => [key, get(key as never)])
}

function indexOf({ keys, get }: Keyed<ReadonlySet<unknown>>): Pair[] {
  return [...keys()].flatMap((key) => [...get(key as never)].map((value) => [key, value] as const))
}

function stepsOf(pairs: readonly Pair[]): Pair[] {
  return pairs.filter(([key]) => key !== null)
}

function same(name: string, found: readonly Pair[], wanted: readonly Pair[]): void {
  const sorted = (pairs: readonly Pair[]) => pairs.map((pair) => JSON.stringify(pair)).toSorted()
  assert.deepEqual(sorted(found), sorted(wanted), `the index ${name} matches the tables`)
}

/** No reference leads to a missing record or to another organization. */
export function checkReferences(records: Records): void {
  const { services, alerts, incidents, senders, groups, events } = records
  const owned = (what: string, from: { readonly organizationId: number }, to: { organizationId: number } | undefined) =>
    assert.equal(to?.organizationId, from.organizationId, `${what} belongs to the same organization`)
  for (const { live, settledAt } of alerts.values()) {
    owned('the service of an alert', live, services.get(live.serviceId))
    if (live.incidentId !== null) owned('the incident of an alert', live, incidents.get(live.incidentId))
    const group = live.groupId === null ? undefined : groups.get(live.groupId)
    if (live.groupId !== null && settledAt === null)
      owned('the group of an alert', live, senders.get(group?.senderId ?? -1))
    if (live.lastEvent) owned('the last event of an alert', live, events.get(live.lastEvent.rowId))
  }
  for (const incident of incidents.values())
    owned('the service of an incident', incident, services.get(incident.serviceId))
  for (const event of events.values()) {
    if (event.serviceId !== null) owned('the service of an event', event, services.get(event.serviceId))
    if (event.alertId !== null) owned('the alert of an event', event, alerts.get(event.alertId)?.live)
  }
  for (const link of records.links.values()) {
    owned('the alert of a link', link, alerts.get(link.alertId)?.live)
    owned('the service of a link', link, services.get(link.serviceId))
  }
  for (const alias of records.aliases.values()) owned('the service of an alias', alias, services.get(alias.serviceId))
  for (const project of records.projects.values())
    owned('the service of a project', project, services.get(project.serviceId))
  for (const { incidentId } of records.timeline) assert.ok(incidents.get(incidentId), 'an entry has its incident')
}

/** Incidents are consistent with their alerts, timeline and postmortems. */
export function checkIncidents({ incidents, alerts, timeline, postmortems, services }: Records): void {
  for (const incident of incidents.values()) {
    const { rowId, status, resolvedAt, alertCount } = incident
    assert.equal(resolvedAt !== null, status === 'resolved', `incident ${rowId} has an end if it is resolved`)
    const joined = [...alerts.values()].filter(({ live }) => live.incidentId === rowId).length
    const resolutions = timeline.filter(
      ({ incidentId, kind, code }) => incidentId === rowId && kind === 'status' && code === 'resolved',
    )
    // An alert of a resolved incident can join another one. Reopening the first incident does not bring it back.
    if (resolutions.length === 0) assert.equal(alertCount, joined, `incident ${rowId} counts its alerts`)
    else assert.ok(alertCount >= joined, `incident ${rowId} counts at least the alerts that it still has`)
    const written = postmortems.filter((one) => one.incident.rowId === rowId)
    // A postmortem is written again when the last alert ends that fired at the resolution.
    const [least, most] = [resolutions.length, 2 * resolutions.length]
    assert.ok(written.length >= least, `incident ${rowId} has a postmortem for each resolution`)
    assert.ok(written.length <= most, `incident ${rowId} has at most two postmortems for each resolution`)
    assert.ok(services.has(incident.serviceId))
  }
}

/** Every acknowledged event is stored, in the organization whose token sent it. */
export function checkNothingLost(
  { events }: Records,
  sent: readonly { readonly delivery: Delivery; readonly receipt: Receipt }[],
): void {
  const owners = new Map([...events.values()].map(({ id, organizationId }) => [id, organizationId]))
  for (const { delivery, receipt } of sent) {
    for (const id of receipt.eventIds) assert.equal(owners.get(id), delivery.organizationId, `event ${id} is stored`)
  }
}

const DAY = 24 * 60 * MINUTE
/** An incident that nobody touched is resolved half an hour after its recovery, any other after a day. */
const HALF_HOUR = 30 * MINUTE

/** An incident that nobody changed does not outlast the recovery of its service. Must be called after a sweep. */
export function checkResolved({ incidents, incidentsOfService, services }: OrganizationState, now: number): void {
  for (const { status, origin, cause, touchedAt, serviceId, title, problem } of incidents.values()) {
    // If merging services left several incidents, the oldest is resolved first, possibly by a person.
    const isOnly = incidentsOfService.get(serviceId).size === 1
    if (status === 'resolved' || origin !== 'automatic' || cause !== 'service' || !isOnly) continue
    // A silence does not end the problem, and what a user declared is on until a user resolves it.
    if (problem.isMuted || problem.declared.length > 0) continue
    // A merged incident also waits for the services of the incidents that were merged into it.
    const wells = [serviceId, ...problem.others].map((id) => services.get(id)?.healthySince ?? Number.POSITIVE_INFINITY)
    // An inferred end can become known much later.
    const wait = now - Math.max(Math.max(...wells) + HALF_HOUR, touchedAt ?? 0, problem.knownAt ?? 0)
    assert.ok(wait < DAY, `"${title}" is resolved after a healthy day without a touch`)
  }
}

/** Fields of senders and their groups that are counts or intervals. Others belong to an alert or a service. */
const COUNTERS = new Set([
  ...[
    'senders',
    'groups',
    'occurrences',
    'lastSeenAt',
    'receivedAt',
    'lastEventAt',
    'lastEvent',
    'said',
    'fingerprints',
  ],
])

/** Returns a snapshot without counters and without the times that measure the interval of repeats. */
export function withoutCounters(snapshot: Snapshot): unknown {
  return JSON.parse(JSON.stringify(snapshot, (name, value) => (COUNTERS.has(name) ? undefined : value)))
}

/** Throws an error unless it tells the sender to retry. */
export function assertUnavailable(error: unknown): void {
  const isRefusal = error instanceof IncmonError && error.code === 'unavailable'
  if (!isRefusal && !/told to fail/.test(String(error))) throw error
}

/** Compares the text first, because most are equal. */
export function assertSame(found: unknown, wanted: unknown, message: string): void {
  if (JSON.stringify(found) !== JSON.stringify(wanted)) assert.deepEqual(found, wanted, message)
}
