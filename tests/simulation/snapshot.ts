/** The live state of an organization as plain values that can be compared. */
import type { OrganizationState } from '../../src/engine/state/state.ts'

type Keyed<Found> = { readonly keys: () => Iterable<unknown>; readonly get: (key: never) => Found }

const TABLES = [
  ...(['settings', 'plan', 'services', 'serviceById', 'serviceByKey', 'aliases', 'alerts', 'incidents'] as const),
  ...(['incidentById', 'silences', 'senders', 'groups', 'groupKeys', 'namesakes'] as const),
] as const
const INDEXES = [
  ...(['servicesByName', 'servicesByNamespace', 'projects', 'alertsOfService', 'alertsOfGroup'] as const),
  ...(['incidentsOfService', 'dueServices'] as const),
] as const

export type Snapshot = Readonly<Record<string, Readonly<Record<string, unknown>> | readonly unknown[]>>

const HOUR = 3_600_000

/** Returns the live state at `now` as plain values, without records that no longer have to be in memory. */
export function takeSnapshot(state: OrganizationState, now: number): Snapshot {
  const oldIncidents = [...state.incidents.values()].filter(
    ({ resolvedAt }) => resolvedAt !== null && resolvedAt <= now - 24 * HOUR,
  )
  const oldIds = new Set(oldIncidents.map(({ rowId }) => rowId))
  const old = new Set(oldIncidents.flatMap(({ id, rowId }) => [`incidents ${rowId}`, `incidentById ${id}`]))
  for (const { silence } of state.silences.values()) {
    if (silence.endsAt <= now - HOUR && silence.changesAt === null) old.add(`silences ${silence.rowId}`)
  }
  const tableOf = (name: string, { keys, get }: Keyed<unknown>) =>
    Object.fromEntries(
      [...keys()]
        .filter((key) => !old.has(`${name} ${key}`))
        .map((key) => [String(key), lasting(get(key as never))])
        .toSorted(byKey),
    )
  const indexOf = (name: string, { keys, get }: Keyed<ReadonlySet<unknown>>) =>
    Object.fromEntries(
      [...keys()]
        .map((key) => [String(key), [...get(key as never)].map(Number).toSorted((a, b) => a - b)] as const)
        .map(([key, ids]) => [key, name === 'incidentsOfService' ? ids.filter((id) => !oldIds.has(id)) : ids])
        .filter(([, ids]) => (ids?.length ?? 0) > 0)
        .toSorted(byKey),
    )
  return {
    ...Object.fromEntries(TABLES.map((name) => [name, tableOf(name, state[name])])),
    ...Object.fromEntries(INDEXES.map((name) => [name, indexOf(name, state[name])])),
    firing: Array.from({ length: state.firing.size() }, (_, position) => state.firing.at(position)),
  }
}

/** Omits what is loaded only on demand, and the time of an alert's next check, which a repeat does not change. */
function lasting(value: unknown): unknown {
  if (!(value instanceof Object)) return value
  if ('compiled' in value && 'silence' in value) return value.silence
  const { changeAt: _, endingEventAt: __, hasOnlyCi: ___, dueAt: ____, ...rest } = value as Record<string, unknown>
  return rest
}

function byKey([a]: readonly unknown[], [b]: readonly unknown[]): number {
  return String(a) < String(b) ? -1 : 1
}
