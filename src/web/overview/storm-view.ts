/** Builds the data for the card of a group or storm. */
import type { Cluster } from '../../domain/incident/storm.ts'
import { MINUTE } from '../../domain/units.ts'
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import type { ServiceRecord } from '../../store/service/services.ts'
import { incidentPath } from '../incident/find.ts'
import type { OpenIncidentView, StormView } from './view.ts'

const MAX_LISTED = 30
const MAX_BARS = 60

export function stormView(
  { leader, cause, members }: Cluster<IncidentRecord>,
  first: OpenIncidentView,
  services: readonly ServiceRecord[],
  now: number,
): StormView {
  const names = new Map(services.map(({ id, namespace, name }) => [id, { namespace, name }]))
  const inOrder = members.toSorted((a, b) => a.startedAt - b.startedAt || a.number - b.number)
  return {
    ...{ first, cause, members: inOrder.map(({ number }) => number) },
    shown: inOrder.slice(0, MAX_LISTED).map((incident) => ({
      ...{ href: incidentPath(incident), severity: incident.severity, status: incident.status },
      service: {
        ...(names.get(incident.serviceId) ?? { namespace: '', name: 'unknown service' }),
        href: `/services/${incident.serviceId}`,
      },
    })),
    unowned: inOrder.flatMap(({ status, number }) => (status === 'open' ? [number] : [])),
    wentFirst: inOrder.every(({ startedAt }) => startedAt >= leader.startedAt),
    followers: new Set(inOrder.map(({ serviceId }) => serviceId)).size - 1,
    alerts: inOrder.reduce((sum, { alertCount }) => sum + alertCount, 0),
    newestAt: Math.max(...inOrder.map(({ createdAt }) => createdAt)),
    bars: barsOf(
      inOrder.map(({ startedAt }) => startedAt),
      now,
    ),
  }
}

/** Counts starts in periods of whole minutes. `starts` are in order. */
function barsOf(starts: readonly number[], now: number): StormView['bars'] {
  const from = starts[0] ?? now
  const ms = MINUTE * Math.max(1, Math.ceil((now - from) / MINUTE / MAX_BARS))
  const counts: number[] = Array(Math.max(1, Math.ceil((now - from) / ms))).fill(0)
  for (const at of starts) {
    const index = Math.min(counts.length - 1, Math.floor((at - from) / ms))
    counts[index] = (counts[index] ?? 0) + 1
  }
  return { ms, counts }
}
