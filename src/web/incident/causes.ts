/**
 * Caches the likely causes of incidents, because ranking suspects is slow and many people look at the same incident.
 */
import type { IncidentRecord } from '../../store/incident/incidents.ts'
import { findCauses } from '../../store/incident/suspects.ts'
import type { Visit } from '../page.ts'

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
