/** Merges one service or incident into another. */

import type { LiveService } from '../../domain/health/live-service.ts'
import { replaceAlert } from './alerts.ts'
import { dropIncident, putIncident } from './incidents.ts'
import { dropService, replaceService } from './services.ts'
import type { OrganizationState } from './state.ts'

/** Moves an incident's alerts to another incident. */
export function mergeIncident(state: OrganizationState, from: number, into: number): void {
  for (const one of [...state.alerts.values()]) {
    if (one.incidentId === from) state.alerts.set(one.rowId, { ...one, incidentId: into })
  }
}

/** Moves all records of one service to another, and removes the first service. */
export function mergeService(state: OrganizationState, from: LiveService, into: LiveService): void {
  for (const rowId of [...state.alertsOfService.get(from.rowId)]) {
    const one = state.alerts.get(rowId)
    if (one) replaceAlert(state, one, { ...one, serviceId: into.rowId })
  }
  state.compared.delete(from.rowId)
  for (const rowId of [...state.incidentsOfService.get(from.rowId)]) {
    const incident = state.incidents.get(rowId)
    if (!incident) continue
    dropIncident(state, incident)
    putIncident(state, { ...incident, serviceId: into.rowId })
  }
  for (const key of [...state.aliases.keys()]) {
    if (state.aliases.get(key) === from.rowId) state.aliases.set(key, into.rowId)
  }
  for (const project of [...state.projects.keys()]) {
    if (!state.projects.get(project).has(from.rowId)) continue
    state.projects.remove(project, from.rowId)
    state.projects.add(project, into.rowId)
  }
  for (const [ref, pipeline] of [...state.pipelines.keys()].map((key) => [key, state.pipelines.get(key)] as const)) {
    if (pipeline?.serviceId === from.rowId) {
      state.pipelines.set(ref, { ...pipeline, serviceId: into.rowId, service: into.id })
    }
  }
  const endings = [...(state.unsavedEndings.get(into.rowId) ?? []), ...(state.unsavedEndings.get(from.rowId) ?? [])]
  if (endings.length > 0) state.unsavedEndings.set(into.rowId, endings)
  // Images and times of services are reloaded from the database when needed.
  state.images.delete(from.rowId)
  state.images.delete(into.rowId)
  dropService(state, from)
  const newest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b))
  replaceService(state, into, {
    ...into,
    lastAlertAt: newest(from.lastAlertAt, into.lastAlertAt),
    lastEventAt: newest(from.lastEventAt, into.lastEventAt),
    ...{ endingEventAt: null, changeAt: null, hasOnlyCi: null },
  })
}
