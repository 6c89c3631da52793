/** Opens and resolves the incident of a missing heartbeat. */
import { alarmed, closed, NO_PROBLEM } from '../../../domain/incident/problem.ts'
import type { LiveSender } from '../../../domain/sender/sender.ts'
import { receiverName } from '../../../domain/sender/sender-name.ts'
import type { Context } from '../../state/context.ts'
import { settingsOf } from '../../state/state.ts'
import { findService } from '../attribution.ts'
import { moveIncident, oldestOpenIncident, openIncident } from '../incidents/incidents.ts'
import { createLiveService } from '../live-service.ts'

/** Opens an incident for a missing heartbeat. A sender that stops sending heartbeats cannot report problems either. */
export function openHeartbeatIncident(ctx: Context, sender: LiveSender, now: number): void {
  ctx.put.sender({ ...sender, heartbeatDueAt: null })
  if (!settingsOf(ctx.state).heartbeats) return
  const key = serviceKeyOf(sender)
  const service = findService(ctx.state, key) ?? createLiveService(ctx, key, now)
  if (oldestOpenIncident(ctx.state, service.rowId)) return
  const lastBeat = sender.heartbeatAt ?? now
  const minutes = Math.round((now - lastBeat) / 60_000)
  openIncident(
    ctx,
    {
      serviceId: service.rowId,
      title: `sender silent: ${receiverName(sender)}`,
      ...{ severity: 'critical', origin: 'automatic', cause: 'silence' },
      startedAt: lastBeat,
      touchedAt: null,
      problem: { ...alarmed(NO_PROBLEM, now), since: lastBeat },
      previous: null,
      text: `opened: no heartbeat for ${minutes} minutes; problems may go unreported`,
      actor: null,
    },
    now,
  )
}

/** Resolves the incident for a missing heartbeat when the heartbeat returns. */
export function resolveHeartbeatIncident(ctx: Context, sender: LiveSender, now: number): void {
  const service = findService(ctx.state, serviceKeyOf(sender))
  const incident = service && oldestOpenIncident(ctx.state, service.rowId)
  if (incident?.cause !== 'silence') return
  const problem = closed(incident.problem, now)
  const after = { ...incident, status: 'resolved', resolvedAt: now, problem } as const
  moveIncident(ctx, { before: incident, after, why: 'the heartbeat is back', actor: null, now })
}

function serviceKeyOf({ cluster, source, receiver }: LiveSender) {
  return { cluster, namespace: '', name: ['source', source, receiver].filter((part) => part !== '').join('/') }
}
