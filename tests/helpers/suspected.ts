import { findIncident } from '../../src/store/incident/incidents.ts'
import { findSuspects } from '../../src/store/incident/suspects.ts'
import type { Flow } from './flow.ts'

/** Returns the suspects of the newest incident of a service in Acme, the most likely first. */
export function suspectsOf(flow: Flow, service: string) {
  const { key } = flow.service(service) ?? {}
  const incident = flow.incidents().findLast(({ service_id }) => service_id === key)
  const record = incident && findIncident(flow.deps.db, flow.acme.key, incident.id)
  return record ? findSuspects(flow.deps.db, flow.acme.key, record, flow.clock.now) : []
}
