/** Finds an incident, its address, and the facts that its pages show. */
import { mayFlap, withGaps } from '../../domain/alert/groups.ts'
import { countedGroups } from '../../domain/health/counted-severity.ts'
import { DAY } from '../../domain/units.ts'
import { required } from '../../http/middleware/problem.ts'
import { findAlertGaps } from '../../store/history/alert-gaps.ts'
import { findIncidentView } from '../../store/incident/incident-view.ts'
import { findIncident, findIncidentByNumber, type IncidentRecord } from '../../store/incident/incidents.ts'
import { findCauses } from '../../store/incident/suspects.ts'
import { findServices } from '../../store/views.ts'
import type { Visit } from '../page.ts'
import { silencedOfGroup, silenceEndsOfGroups } from '../silences/silenced.ts'
import type { IncidentFacts } from './data.ts'

/** Finds an incident by its number or its UUID. */
export function findNamedIncident({ own }: Visit, name: string): Promise<IncidentRecord | undefined> {
  return /^\d{1,9}$/.test(name) ? own.read(findIncidentByNumber, Number(name)) : own.read(findIncident, name)
}

/** Returns the incident whose ID is in the path. @throws IncmonError `not-found` */
export function requireIncident(visit: Visit): Promise<IncidentRecord> {
  return required(findNamedIncident(visit, visit.id), 'incident', 'the page Incidents')
}

/** Loads the data for an incident page. */
export async function incidentFacts(visit: Visit, incident: IncidentRecord): Promise<IncidentFacts> {
  const { own, now } = visit
  const [view, causes] = await Promise.all([
    own.read(findIncidentView, incident, { from: incident.startedAt - DAY, now }),
    causesOf(visit, incident),
  ])
  const ends = await silenceEndsOfGroups(visit, view.groups)
  const groups = countedGroups(view.groups, view.service).map((group) => ({
    ...group,
    silenced: silencedOfGroup(group, ends),
  }))
  const gaps = await own.read(findAlertGaps, mayFlap(groups))
  const others = groups.map(({ serviceId }) => serviceId).filter((id) => id !== incident.serviceId)
  const names = new Map(others.length === 0 ? [] : await own.read(findServices, others, now))
  if (view.service) names.set(view.service.id, view.service)
  return { incident, ...view, ...causes, groups: withGaps(groups, gaps), names, ...incidentLink(incident) }
}

export function incidentPath({ number }: IncidentRecord): string {
  return `/incidents/${number}`
}

/** Returns the incident's number as it is shown to people, and the URL of its page. */
export function incidentLink(incident: IncidentRecord) {
  return { number: `${incident.number}`, href: incidentPath(incident) }
}

type Causes = ReturnType<typeof findCauses>
type Entry = { readonly at: number; readonly causes: Promise<Causes> }

/** The maximum age of cached causes. A new alert or status invalidates the cached causes immediately. */
const MAX_AGE_MS = 10_000
const MAX_ENTRIES = 200

const caches = new WeakMap<Visit['store'], Map<string, Entry>>()

/** Returns an incident's suspects and the changes around its start, from a cache that is at most ten seconds old. */
export function causesOf({ own, store, now }: Visit, incident: IncidentRecord): Promise<Causes> {
  const cache = caches.get(store) ?? new Map<string, Entry>()
  caches.set(store, cache)
  const key = `${incident.id} ${incident.status} ${incident.alertCount} ${incident.firingAlerts}`
  const cached = cache.get(key)
  if (cached && cached.at <= now && now < cached.at + MAX_AGE_MS) return cached.causes
  const causes = own.read(findCauses, incident, now)
  causes.catch(() => cache.delete(key))
  cache.delete(key)
  cache.set(key, { at: now, causes })
  for (const oldest of cache.keys()) if (cache.size > MAX_ENTRIES) cache.delete(oldest)
  return causes
}
