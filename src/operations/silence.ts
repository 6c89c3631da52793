/** Silence: an incident for a sender whose heartbeat stopped, and its end when it beats again. Inside a transaction. */

import { findOldestOpenIncident, insertIncident } from '../store/incident-rows.ts'
import { loadSettings } from '../store/organizations.ts'
import { type SenderRow, updateSender } from '../store/sender-rows.ts'
import { findServiceByKey, insertService } from '../store/service-rows.ts'
import { insertTimelineEntry } from '../store/timeline.ts'
import type { Deps } from './deps.ts'
import { moveIncident } from './incident-moves.ts'

/** The heartbeat is overdue: nobody would tell of trouble now, and that is trouble. */
export function beginSilence(deps: Deps, sender: SenderRow, now: number): void {
  const { organizationId } = sender
  updateSender(deps.db, { ...sender, heartbeatDueAt: null })
  if (!loadSettings(deps.db, organizationId).heartbeats) return
  const service = serviceOf(deps, sender, now)
  if (findOldestOpenIncident(deps.db, service.id)) return
  const lastBeat = sender.heartbeatAt ?? now
  const incident = insertIncident(deps.db, {
    uuid: deps.newId(),
    organizationId,
    serviceId: service.id,
    title: `source silent: ${nameOf(sender)}`,
    severity: 'critical',
    status: 'open',
    origin: 'automatic',
    cause: 'silence',
    createdAt: now,
    startedAt: lastBeat,
    acknowledgedAt: null,
    resolvedAt: null,
    touchedAt: null,
  })
  const minutes = Math.round((now - lastBeat) / 60_000)
  const text = `opened: no heartbeat for ${minutes} minutes; trouble would not be reported now`
  insertTimelineEntry(deps.db, incident.id, { at: now, kind: 'opened', text, actor: null, ref: null })
  deps.announce({ kind: 'incident', id: incident.uuid, organizationId })
}

/** The heart beats again: the incident of its silence is over, unless a person has ended it. */
export function endSilence(deps: Deps, sender: SenderRow, now: number): void {
  const service = findServiceByKey(deps.db, keyOf(sender))
  const incident = service && findOldestOpenIncident(deps.db, service.id)
  if (incident?.cause !== 'silence') return
  const after = { ...incident, status: 'resolved', resolvedAt: now } as const
  moveIncident(deps, { before: incident, after, why: 'the heartbeat is back', actor: null, now })
}

function serviceOf(deps: Deps, sender: SenderRow, now: number) {
  const key = keyOf(sender)
  return findServiceByKey(deps.db, key) ?? insertService(deps.db, { uuid: deps.newId(), ...key }, now)
}

function keyOf(sender: SenderRow) {
  const { organizationId, cluster } = sender
  return { organizationId, cluster, namespace: '', name: `source/${nameOf(sender)}` }
}

function nameOf({ source, receiver }: SenderRow): string {
  return receiver === '' ? source : `${source}/${receiver}`
}
