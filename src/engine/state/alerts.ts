/** Live alerts and their indexes: by fingerprint, logical key, service, group, name, start, and due time. */
import type { LiveAlert } from '../../domain/alert/alert.ts'
import { indexNode } from './services.ts'
import { dueStep, fingerprintScope, namesakeKey, type OrganizationState } from './state.ts'

/** Adds an alert and indexes it. */
export function putAlert(state: OrganizationState, one: LiveAlert): void {
  const { rowId, alert, serviceId, groupId } = one
  state.alerts.set(rowId, one)
  nameAlert(state, one)
  state.alertByLogicalKey.add(alert.source, alert.logicalKey, rowId)
  addToService(state, serviceId, rowId)
  if (groupId !== null) state.alertsOfGroup.add(groupId, rowId)
  if (alert.status === 'firing') putFiring(state, one)
  const step = dueStep(one.dueAt)
  if (step !== null) state.dueAlerts.add(step, rowId)
}

/**
 * Indexes an alert by its fingerprints. If alerts share a fingerprint, lookups return the most recently received alert.
 */
function nameAlert(state: OrganizationState, one: LiveAlert): void {
  const scope = fingerprintScope(one.alert.source, one.cluster)
  for (const name of namesOf(one)) state.alertByFingerprint.add(scope, name, one.rowId)
}

function namesOf({ alert, fingerprints }: LiveAlert): readonly string[] {
  return fingerprints === null ? [alert.fingerprint] : fingerprints.map(({ fingerprint }) => fingerprint)
}

function addToService(state: OrganizationState, serviceId: number, rowId: number): void {
  state.alertsOfService.add(serviceId, rowId)
  reindexNode(state, serviceId)
}

function removeFromService(state: OrganizationState, serviceId: number, rowId: number): void {
  state.alertsOfService.remove(serviceId, rowId)
  reindexNode(state, serviceId)
}

function reindexNode(state: OrganizationState, serviceId: number): void {
  const service = state.services.get(serviceId)
  if (service) indexNode(state, service)
}

function putFiring(state: OrganizationState, one: LiveAlert): void {
  state.firing.add(one.alert.startsAt, one.rowId)
  if (isOnNode(one)) state.alertsOnNode.add(one.alert.node ?? '', one.rowId)
  countNamesakes(state, one, 1)
}

function dropFiring(state: OrganizationState, one: LiveAlert): void {
  state.firing.remove(one.alert.startsAt, one.rowId)
  if (isOnNode(one)) state.alertsOnNode.remove(one.alert.node ?? '', one.rowId)
  countNamesakes(state, one, -1)
}

function isOnNode({ alert: { source, node } }: LiveAlert): boolean {
  return source === 'cluster' || node !== null
}

function countNamesakes({ namesakes }: OrganizationState, { serviceId, alert }: LiveAlert, more: number): void {
  const key = namesakeKey(serviceId, alert, alert.severity)
  const count = (namesakes.get(key) ?? 0) + more
  if (count > 0) namesakes.set(key, count)
  else namesakes.delete(key)
}

/** Replaces an alert. Most changes are repeats, which do not affect the indexes. */
export function replaceAlert(state: OrganizationState, before: LiveAlert, after: LiveAlert): void {
  const { rowId } = after
  const [was, is] = [before.alert, after.alert]
  state.alerts.set(rowId, after)
  if (before.fingerprints !== after.fingerprints) {
    const kept = new Set(namesOf(after))
    for (const name of namesOf(before)) if (!kept.has(name)) unname(state, before, name)
    nameAlert(state, after)
  } else if (was.receivedAt !== is.receivedAt) nameAlert(state, after)
  const isMoved = before.serviceId !== after.serviceId
  const isElsewhere = isMoved || was.node !== is.node
  if (isElsewhere || was.status !== is.status || was.startsAt !== is.startsAt || was.severity !== is.severity) {
    if (was.status === 'firing') dropFiring(state, before)
    if (is.status === 'firing') putFiring(state, after)
    // Different silences may now apply to the alert.
    if (is.status === 'firing' && state.compared.get(after.serviceId)) state.uncompared.add(after.serviceId, rowId)
  }
  if (isMoved) {
    removeFromService(state, before.serviceId, rowId)
    state.uncompared.remove(before.serviceId, rowId)
    addToService(state, after.serviceId, rowId)
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

/** Removes an alert that can no longer be reopened. */
export function dropAlert(state: OrganizationState, one: LiveAlert): void {
  const { rowId, alert, serviceId, groupId } = one
  state.alerts.delete(rowId)
  for (const name of namesOf(one)) unname(state, one, name)
  state.alertByLogicalKey.remove(alert.source, alert.logicalKey, rowId)
  removeFromService(state, serviceId, rowId)
  state.uncompared.remove(serviceId, rowId)
  if (groupId !== null) state.alertsOfGroup.remove(groupId, rowId)
  if (alert.status === 'firing') dropFiring(state, one)
  const step = dueStep(one.dueAt)
  if (step !== null) state.dueAlerts.remove(step, rowId)
}

function unname(state: OrganizationState, { rowId, alert, cluster }: LiveAlert, fingerprint: string): void {
  state.alertByFingerprint.remove(fingerprintScope(alert.source, cluster), fingerprint, rowId)
}
