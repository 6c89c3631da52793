import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { OrganizationState } from './state.ts'

/** Adds or replaces an incident. A replaced incident keeps its UUID and its service. */
export function putIncident(state: OrganizationState, incident: LiveIncident): void {
  const isNew = state.incidents.get(incident.rowId) === undefined
  state.incidents.set(incident.rowId, incident)
  if (isNew) indexIncident(state, incident)
}

/** Adds a saved incident that was not in the live state. */
export function loadIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidents.load(incident.rowId, incident)
  indexIncident(state, incident)
}

function indexIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidentById.set(incident.id, incident.rowId)
  state.incidentsOfService.add(incident.serviceId, incident.rowId)
}

/** Removes a resolved incident that can no longer be reopened automatically. */
export function dropIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidents.delete(incident.rowId)
  state.incidentById.delete(incident.id)
  state.incidentsOfService.remove(incident.serviceId, incident.rowId)
}
