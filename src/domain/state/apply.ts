/** Applying: the only code that changes the live state. */

import { compileSilence } from '../silence/silence.ts'
import type { Effect, StoredEvent } from './effect.ts'
import { endingEventOf } from './effect.ts'
import type { LiveAlert, LiveIncident, LiveService, LiveSilence } from './live.ts'
import {
  aliasKey,
  awaitedName,
  dueStep,
  fingerprintKey,
  groupKey,
  logicalKey,
  namesakeKey,
  namespaceKey,
  type OrganizationState,
  senderKey,
  serviceKey,
} from './state.ts'

/** Changes the live state of an organization by one effect. */
export function apply(state: OrganizationState, effect: Effect): void {
  switch (effect.kind) {
    case 'service-created':
      createService(state, effect.service)
      break
    case 'service-loaded':
    case 'service-changed':
      replaceService(state, effect.before, effect.after)
      break
    case 'service-merged':
      mergeService(state, effect.from, effect.into)
      for (const [rowId, labels] of effect.labels) state.unsavedLabels.set(rowId, labels)
      break
    case 'aliases-set':
      setAliases(state, effect.serviceId, effect.aliases)
      break
    case 'alert-opened':
      state.unsavedLabels.set(effect.alert.rowId, effect.texts.labels)
      putAlert(state, effect.alert)
      break
    case 'alert-silenced':
      state.alerts.set(effect.after.rowId, effect.after)
      break
    case 'alert-postponed':
    case 'alert-changed':
      replaceAlert(state, effect.before, effect.after)
      break
    case 'alert-settled':
      dropAlert(state, effect.alert)
      break
    case 'event-stored':
      noteEvent(state, effect.event)
      break
    case 'sender-changed':
      state.senders.set(senderKey(effect.sender), effect.sender)
      break
    case 'group-changed':
      state.groupKeys.set(effect.group.rowId, groupKey(effect.group.senderId, effect.group.key))
      state.groups.set(groupKey(effect.group.senderId, effect.group.key), effect.group)
      break
    case 'group-dropped':
      state.groupKeys.delete(effect.group.rowId)
      state.groups.delete(groupKey(effect.group.senderId, effect.group.key))
      break
    case 'image-pulled':
      noteImage(state, effect)
      break
    case 'pipeline-changed':
      state.pipelines.set(effect.pipeline.ref, effect.pipeline)
      noteChange(state, effect.pipeline.serviceId, effect.pipeline.endsAt)
      break
    case 'incident-opened':
      putIncident(state, effect.incident)
      break
    case 'incident-changed':
      putIncident(state, effect.after)
      break
    case 'answer-stored':
      state.unsavedAnswers.set(`${effect.answer.source} ${effect.answer.key}`, effect.answer.answer)
      break
    case 'incident-merged':
      mergeIncident(state, effect.from, effect.into)
      break
    case 'silence-saved':
      putSilence(state, effect.silence)
      break
    case 'organization-changed':
      state.plan.set('plan', effect.plan)
      state.settings.set('settings', effect.settings)
      break
    case 'state-recorded':
    case 'item-rejected':
    case 'timeline-added':
    case 'postmortem-due':
    case 'news-due':
    case 'links-due':
      return
  }
}

/** Forgets what only the batch that is being decided needs: it is on disk now. */
export function settleBatch(state: OrganizationState): void {
  state.unsavedNews.clear()
  state.unsavedLabels.clear()
  state.unsavedAnswers.clear()
}

/** Events that waited for the service are its own from now on. */
function createService(state: OrganizationState, service: LiveService): void {
  putService(state, service)
  const news = state.unsavedNews.get(awaitedName(service))
  if (news) state.unsavedNews.set(service.rowId, news)
}

export function putService(state: OrganizationState, service: LiveService): void {
  state.services.set(service.rowId, service)
  state.serviceById.set(service.id, service.rowId)
  state.serviceByKey.set(serviceKey(service), service.rowId)
  state.servicesByName.add(service.name, service.rowId)
  state.servicesByNamespace.add(namespaceKey(service), service.rowId)
  const step = dueStep(service.evaluateAt)
  if (step !== null) state.dueServices.add(step, service.rowId)
}

function dropService(state: OrganizationState, service: LiveService): void {
  state.services.delete(service.rowId)
  state.serviceById.delete(service.id)
  state.serviceByKey.delete(serviceKey(service))
  state.servicesByName.remove(service.name, service.rowId)
  state.servicesByNamespace.remove(namespaceKey(service), service.rowId)
  const step = dueStep(service.evaluateAt)
  if (step !== null) state.dueServices.remove(step, service.rowId)
}

function replaceService(state: OrganizationState, before: LiveService, after: LiveService): void {
  const isRenamed = before.name !== after.name || before.cluster !== after.cluster
  if (isRenamed || dueStep(before.evaluateAt) !== dueStep(after.evaluateAt)) {
    dropService(state, before)
    putService(state, after)
  } else state.services.set(after.rowId, after)
}

function setAliases(
  state: OrganizationState,
  serviceId: number,
  aliases: readonly { readonly kind: string; readonly value: string }[],
): void {
  for (const key of [...state.aliases.keys()]) if (state.aliases.get(key) === serviceId) state.aliases.delete(key)
  for (const alias of aliases) state.aliases.set(aliasKey(alias), serviceId)
}

export function putAlert(state: OrganizationState, one: LiveAlert): void {
  const { rowId, alert, serviceId, groupId } = one
  state.alerts.set(rowId, one)
  for (const { fingerprint } of one.fingerprints) {
    state.alertByFingerprint.set(fingerprintKey(alert.source, one.cluster, fingerprint), rowId)
  }
  state.alertByLogicalKey.set(logicalKey(alert.source, alert.logicalKey), rowId)
  state.alertsOfService.add(serviceId, rowId)
  if (groupId !== null) state.alertsOfGroup.add(groupId, rowId)
  if (alert.status === 'firing') putFiring(state, one)
  const step = dueStep(one.dueAt)
  if (step !== null) state.dueAlerts.add(step, rowId)
}

function putFiring(state: OrganizationState, { rowId, serviceId, alert }: LiveAlert): void {
  state.firing.add(alert.startsAt, rowId)
  state.namesakes.add(namesakeKey(serviceId, alert, alert.severity), rowId)
}

function dropFiring(state: OrganizationState, { rowId, serviceId, alert }: LiveAlert): void {
  state.firing.remove(alert.startsAt, rowId)
  state.namesakes.remove(namesakeKey(serviceId, alert, alert.severity), rowId)
}

/** Most changes are repeats: nothing by which the alert is found has changed then. */
function replaceAlert(state: OrganizationState, before: LiveAlert, after: LiveAlert): void {
  const { rowId } = after
  const [was, is] = [before.alert, after.alert]
  state.alerts.set(rowId, after)
  if (before.fingerprints !== after.fingerprints) {
    const kept = new Set(after.fingerprints.map(({ fingerprint }) => fingerprint))
    for (const { fingerprint } of before.fingerprints) if (!kept.has(fingerprint)) unname(state, before, fingerprint)
    for (const name of kept) state.alertByFingerprint.set(fingerprintKey(is.source, after.cluster, name), rowId)
  }
  const isMoved = before.serviceId !== after.serviceId
  if (isMoved || was.status !== is.status || was.startsAt !== is.startsAt || was.severity !== is.severity) {
    if (was.status === 'firing') dropFiring(state, before)
    if (is.status === 'firing') putFiring(state, after)
  }
  if (isMoved) {
    state.alertsOfService.remove(before.serviceId, rowId)
    state.alertsOfService.add(after.serviceId, rowId)
  }
  if (before.groupId !== after.groupId) {
    if (before.groupId !== null) state.alertsOfGroup.remove(before.groupId, rowId)
    if (after.groupId !== null) state.alertsOfGroup.add(after.groupId, rowId)
  }
  moveDue(state.dueAlerts, rowId, before.dueAt, after.dueAt)
}

function moveDue(due: OrganizationState['dueAlerts'], rowId: number, before: number, after: number): void {
  const [from, to] = [dueStep(before), dueStep(after)]
  if (from === to) return
  if (from !== null) due.remove(from, rowId)
  if (to !== null) due.add(to, rowId)
}

function dropAlert(state: OrganizationState, one: LiveAlert): void {
  const { rowId, alert, serviceId, groupId } = one
  state.alerts.delete(rowId)
  for (const { fingerprint } of one.fingerprints) unname(state, one, fingerprint)
  const key = logicalKey(alert.source, alert.logicalKey)
  if (state.alertByLogicalKey.get(key) === rowId) state.alertByLogicalKey.delete(key)
  state.alertsOfService.remove(serviceId, rowId)
  if (groupId !== null) state.alertsOfGroup.remove(groupId, rowId)
  if (alert.status === 'firing') dropFiring(state, one)
  const step = dueStep(one.dueAt)
  if (step !== null) state.dueAlerts.remove(step, rowId)
}

/** A fingerprint that a newer alert has got stays that one's. */
function unname(state: OrganizationState, { rowId, alert, cluster }: LiveAlert, fingerprint: string): void {
  const key = fingerprintKey(alert.source, cluster, fingerprint)
  if (state.alertByFingerprint.get(key) === rowId) state.alertByFingerprint.delete(key)
}

/** Keeps what later events of the same batch must know of this one, which is not on disk yet. */
function noteEvent(state: OrganizationState, event: StoredEvent): void {
  const { serviceId, awaited, source, at } = event
  const news = endingEventOf(event)
  const key = serviceId ?? awaited
  if (news && key !== null) state.unsavedNews.set(key, [...(state.unsavedNews.get(key) ?? []), news])
  const service = serviceId === null ? undefined : state.services.get(serviceId)
  if (!service) return
  const newsAt = news && service.newsAt !== null ? Math.max(service.newsAt, at) : service.newsAt
  const isOfCiAlone = source === 'ci' ? service.isOfCiAlone : false
  if (newsAt !== service.newsAt || isOfCiAlone !== service.isOfCiAlone) {
    state.services.set(service.rowId, { ...service, newsAt, isOfCiAlone })
  }
  if (event.kind === 'change') noteChange(state, service.rowId, at)
}

function noteChange(state: OrganizationState, serviceId: number, at: number): void {
  const service = state.services.get(serviceId)
  if (!service || service.changeAt === null || service.changeAt >= at) return
  state.services.set(serviceId, { ...service, changeAt: at })
}

function noteImage(state: OrganizationState, effect: Extract<Effect, { kind: 'image-pulled' }>): void {
  const { serviceId, image, images, isNew } = effect
  state.images.set(serviceId, images)
  if (isNew) for (const project of image.projects) state.projects.add(project, serviceId)
}

export function putIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidents.set(incident.rowId, incident)
  state.incidentById.set(incident.id, incident.rowId)
  state.incidentsOfService.add(incident.serviceId, incident.rowId)
}

export function putSilence(state: OrganizationState, silence: LiveSilence): void {
  state.silences.set(silence.rowId, { silence, compiled: compileSilence(silence) })
}

/** A resolved incident that can no longer be reopened by itself leaves the live state. */
export function dropIncident(state: OrganizationState, incident: LiveIncident): void {
  state.incidents.delete(incident.rowId)
  state.incidentById.delete(incident.id)
  state.incidentsOfService.remove(incident.serviceId, incident.rowId)
}

function mergeIncident(state: OrganizationState, from: number, into: number): void {
  for (const one of [...state.alerts.values()]) {
    if (one.incidentId === from) state.alerts.set(one.rowId, { ...one, incidentId: into })
  }
}

function mergeService(state: OrganizationState, from: LiveService, into: LiveService): void {
  for (const rowId of [...state.alertsOfService.get(from.rowId)]) {
    const one = state.alerts.get(rowId)
    if (one) replaceAlert(state, one, { ...one, serviceId: into.rowId })
  }
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
  const news = [...(state.unsavedNews.get(into.rowId) ?? []), ...(state.unsavedNews.get(from.rowId) ?? [])]
  if (news.length > 0) state.unsavedNews.set(into.rowId, news)
  // Their images and times are read from the file again when they are needed.
  state.images.delete(from.rowId)
  state.images.delete(into.rowId)
  dropService(state, from)
  const newest = (a: number | null, b: number | null) => (a === null || b === null ? (a ?? b) : Math.max(a, b))
  replaceService(state, into, {
    ...into,
    lastAlertAt: newest(from.lastAlertAt, into.lastAlertAt),
    lastEventAt: newest(from.lastEventAt, into.lastEventAt),
    ...{ newsAt: null, changeAt: null, isOfCiAlone: null },
  })
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/**
 * Drops from memory what no rule can need any more: old pipelines, silences that ended, and
 * incidents that were resolved long ago.
 */
export function evict(state: OrganizationState, now: number): void {
  for (const ref of [...state.pipelines.keys()]) {
    if ((state.pipelines.get(ref)?.endsAt ?? 0) < now - 2 * DAY) state.pipelines.delete(ref)
  }
  for (const { silence } of [...state.silences.values()]) {
    // An alert that ended while it was silenced may still be evaluated for half an hour. An end that was not applied yet,
    // because the server was stopped, is still to come.
    if (silence.changesAt === null && silence.endsAt < now - HOUR) state.silences.delete(silence.rowId)
  }
  for (const incident of [...state.incidents.values()]) {
    if (incident.resolvedAt !== null && incident.resolvedAt < now - 2 * DAY) dropIncident(state, incident)
  }
}
