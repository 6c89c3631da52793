/** Applies what a decision appends to the live state, merges records, and clears what is no longer needed. */
import type { StoredEvent } from '../../domain/event/event.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import type { LiveGroup, LiveSender } from '../../domain/sender/sender.ts'
import type { AliasRef } from '../../domain/service/service.ts'
import { compileSilence, type LiveSilence } from '../../domain/silence/silence.ts'
import { DAY, HOUR } from '../../domain/units.ts'
import { replaceAlert } from './alerts.ts'
import { type Effect, endingEventOf } from './effect.ts'
import { dropService, putAlias, replaceService } from './services.ts'
import { groupKey, type OrganizationState, senderKey } from './state.ts'

/** Applies one effect to an organization's live state. Most effects only concern the store. */
export function apply(state: OrganizationState, effect: Effect): void {
  switch (effect.kind) {
    case 'service-merged':
      mergeService(state, effect.from, effect.into)
      for (const [rowId, labels] of effect.labels) state.unsavedLabels.set(rowId, labels)
      break
    case 'aliases-set':
      setAliases(state, effect.serviceId, effect.aliases)
      break
    case 'event-stored':
      noteEvent(state, effect.event)
      break
    case 'image-pulled':
      if (effect.isNew) for (const project of effect.image.projects) state.projects.add(project, effect.serviceId)
      break
    case 'pipeline-changed':
      state.pipelines.set(effect.pipeline.ref, effect.pipeline)
      noteChange(state, effect.pipeline.serviceId, effect.pipeline.endsAt)
      break
    case 'answer-stored':
      state.unsavedAnswers.set(`${effect.answer.source} ${effect.answer.key}`, effect.answer.answer)
      break
    case 'incident-merged':
      mergeIncident(state, effect.from, effect.into)
      break
    case 'organization-changed':
      state.plan.set('plan', effect.plan)
      state.settings.set('settings', effect.settings)
      break
    default:
  }
}

/** Clears the unsaved records once a batch has been saved. */
export function settleBatch(state: OrganizationState): void {
  state.unsavedEndings.clear()
  state.unsavedLabels.clear()
  state.unsavedAnswers.clear()
}

function setAliases(state: OrganizationState, serviceId: number, aliases: readonly AliasRef[]): void {
  for (const key of [...state.aliases.keys()]) if (state.aliases.get(key) === serviceId) state.aliases.delete(key)
  for (const name of [...state.otherNames.get(serviceId)]) state.otherNames.remove(serviceId, name)
  for (const alias of aliases) putAlias(state, serviceId, alias)
}

/** Keeps an unsaved event for later decisions in the same batch. */
function noteEvent(state: OrganizationState, event: StoredEvent): void {
  const { serviceId, awaited, source, at } = event
  const ending = endingEventOf(event)
  const key = serviceId ?? awaited
  if (ending && key !== null) state.unsavedEndings.set(key, [...(state.unsavedEndings.get(key) ?? []), ending])
  const service = serviceId === null ? undefined : state.services.get(serviceId)
  if (!service) return
  const endingEventAt =
    ending && service.endingEventAt !== null ? Math.max(service.endingEventAt, at) : service.endingEventAt
  const hasOnlyCi = source === 'ci' ? service.hasOnlyCi : false
  if (endingEventAt !== service.endingEventAt || hasOnlyCi !== service.hasOnlyCi) {
    state.services.set(service.rowId, { ...service, endingEventAt, hasOnlyCi })
  }
  if (event.kind === 'change') noteChange(state, service.rowId, at)
}

function noteChange(state: OrganizationState, serviceId: number, at: number): void {
  const service = state.services.get(serviceId)
  if (!service || service.changeAt === null || service.changeAt >= at) return
  state.services.set(serviceId, { ...service, changeAt: at })
}

export function putSender(state: OrganizationState, sender: LiveSender): void {
  const key = senderKey(sender)
  state.senders.set(key, sender)
  if (state.senderKeys.get(sender.rowId) !== key) state.senderKeys.set(sender.rowId, key)
}

export function putGroup(state: OrganizationState, group: LiveGroup): void {
  const key = groupKey(group.senderId, group.key)
  state.groups.set(key, group)
  state.groupKeys.set(group.rowId, key)
}

export function dropGroup(state: OrganizationState, group: LiveGroup): void {
  state.groupKeys.delete(group.rowId)
  state.groups.delete(groupKey(group.senderId, group.key))
}

export function putSilence(state: OrganizationState, silence: LiveSilence): void {
  state.silences.set(silence.rowId, { silence, compiled: compileSilence(silence) })
}

const MAX_PIPELINES = 2_000

/** Evicts old pipelines, expired silences, and long-resolved incidents from the live state. */
export function evict(state: OrganizationState, now: number): void {
  const refs = [...state.pipelines.keys()]
  for (const [index, ref] of refs.entries()) {
    const isOld = (state.pipelines.get(ref)?.endsAt ?? 0) < now - 2 * DAY
    // An evicted pipeline is read from the history when it is needed.
    if (isOld || index < refs.length - MAX_PIPELINES) state.pipelines.delete(ref)
  }
  for (const { silence } of [...state.silences.values()]) {
    // An alert that ended while silenced is still evaluated for up to half an hour.
    // If the server was stopped, the end of an alert may not have been processed yet.
    if (silence.changesAt === null && silence.endsAt < now - HOUR) state.silences.delete(silence.rowId)
  }
  for (const incident of [...state.incidents.values()]) {
    const { resolvedAt, problem } = incident
    if (resolvedAt !== null && resolvedAt < now - 2 * DAY && problem.since === null) dropIncident(state, incident)
  }
}

/** Moves an incident's alerts to another incident. */
function mergeIncident(state: OrganizationState, from: number, into: number): void {
  for (const one of [...state.alerts.values()]) {
    if (one.incidentId === from) state.alerts.set(one.rowId, { ...one, incidentId: into })
  }
}

/** Moves all records of one service to another, and removes the first service. */
function mergeService(state: OrganizationState, from: LiveService, into: LiveService): void {
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
  for (const name of [...state.otherNames.get(from.rowId)]) {
    state.otherNames.remove(from.rowId, name)
    state.otherNames.add(into.rowId, name)
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

/** Adds or replaces an incident. A replaced incident keeps its UUID. */
export function putIncident(state: OrganizationState, incident: LiveIncident): void {
  const before = state.incidents.get(incident.rowId)
  state.incidents.set(incident.rowId, incident)
  if (before?.serviceId === incident.serviceId) return
  if (before) state.incidentsOfService.remove(before.serviceId, before.rowId)
  indexIncident(state, incident)
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
function dropIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidents.delete(incident.rowId)
  state.incidentById.delete(incident.id)
  state.incidentsOfService.remove(incident.serviceId, incident.rowId)
}
