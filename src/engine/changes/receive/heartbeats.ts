/** Follows the heartbeats of senders, such as Watchdog: a sender whose heartbeat is missing cannot report problems. */
import { type AlertDraft, type Draft, expiryOf } from '../../../domain/event/event.ts'
import { alarmed, begun, closed, NO_PROBLEM } from '../../../domain/incident/problem.ts'
import { type Beat, beatNames, endedBeats, isOver, lastBeatOf, withBeat } from '../../../domain/sender/beats.ts'
import { corrected, type LiveSender, type Past, withHeartbeat } from '../../../domain/sender/sender.ts'
import { receiverName, senderService } from '../../../domain/sender/sender-name.ts'
import { formatDuration } from '../../../domain/shown-time.ts'
import { joinNames } from '../../../domain/text.ts'
import type { Context } from '../../state/context.ts'
import { settingsOf } from '../../state/state.ts'
import { clusterOf, findService } from '../attribution.ts'
import { incidentsOf, moveIncident, oldestOpenIncident, openIncident } from '../incidents/incidents.ts'
import { createLiveService } from '../live-service.ts'

/**
 * `at`: when the delivery was received. `clockOffset`: how far the sender's clock is ahead, in milliseconds. `awaited`: a
 * stop of incmon.
 */
type Received = Pick<Past, 'awaited'> & { readonly at: number; readonly clockOffset: number }

/**
 * Returns a sender after the heartbeats of a delivery. The incident about their absence opens at once if the sender
 * reported the end of all of them, or if one of several ended, and is resolved when they are back.
 */
export function followHeartbeats(
  ctx: Context,
  sender: LiveSender,
  drafts: readonly Draft[],
  { at, clockOffset, awaited }: Received,
): LiveSender {
  const told = drafts.filter(isHeartbeat)
  const { heartbeatAt } = sender
  const fires = told.filter(({ status }) => status === 'firing')
  const isFiring = fires.length > 0
  const beats = told
    // A heartbeat that was never seen to fire says nothing with its end.
    .filter(({ status }) => status === 'firing' || heartbeatAt !== null)
    .reduce<readonly Beat[]>(
      (known, draft) => withBeat(known, beatOf(sender, draft, clockOffset, at), at, sender.heartbeatGap),
      sender.beats,
    )
  const known = sender.beats.find((beat) => fires.some(({ fingerprint }) => fingerprint === beat.fingerprint))
  const past = { pause: known?.pause, count: known?.count, awaited }
  const after = { ...sender, beats, ...(isFiring ? withHeartbeat(sender, at, sender.deliveryInterval, past) : {}) }
  if (told.length === 0 || heartbeatAt === null) return after
  const { missing, newly } = endedBeats(sender.beats, beats, { heardAt: heartbeatAt, at, awaited })
  if (missing.length === beats.length && !isFiring)
    return { ...after, heartbeatDueAt: sender.heartbeatDueAt === null ? null : at }
  const isBack = isFiring && resolveHeartbeatIncident(ctx, sender, missing.length > 0, at)
  if (missing.length > 0 && (isBack || newly.length > 0)) openHeartbeatIncident(ctx, after, at, missing)
  return after
}

function beatOf({ cluster }: LiveSender, draft: AlertDraft, clockOffset: number, at: number) {
  const { startsAt, endsAt: end } = corrected(draft, clockOffset, at)
  const endsAt = draft.status === 'firing' ? expiryOf(draft.expiry ?? null, at) : end
  const ended = draft.status === 'firing' ? {} : { isReported: true }
  return { fingerprint: draft.fingerprint, cluster: cluster || clusterOf(draft), startsAt, endsAt, ...ended }
}

/** Returns whether a draft is a heartbeat, such as Watchdog. InfoInhibitor is none because it does not always fire. */
export function isHeartbeat(draft: Draft): draft is AlertDraft {
  return 'nature' in draft && draft.nature === 'heartbeat' && draft.name !== 'InfoInhibitor'
}

/**
 * Opens an incident for a missing heartbeat. A sender that stops sending heartbeats cannot report problems either.
 * @param missing the heartbeats that have ended, if others go on
 */
export function openHeartbeatIncident(
  ctx: Context,
  sender: LiveSender,
  now: number,
  missing: readonly Beat[] = [],
): void {
  if (missing.length === 0) ctx.put.sender({ ...sender, heartbeatDueAt: null })
  if (!settingsOf(ctx.state).heartbeats) return
  const key = serviceKeyOf(sender)
  const service = findService(ctx.state, key) ?? createLiveService(ctx, key, now)
  if (oldestOpenIncident(ctx.state, service.rowId)) return
  const lastBeat = lastBeatOf(missing.length > 0 ? missing : sender.beats, now) ?? sender.heartbeatAt ?? now
  const had = beatNames(missing)
  openIncident(
    ctx,
    {
      serviceId: service.rowId,
      title: `${missing.length > 0 ? 'heartbeat ended' : 'sender silent'}: ${receiverName(sender)}`,
      ...{ severity: 'critical', origin: 'automatic', cause: 'silence' },
      startedAt: lastBeat,
      touchedAt: null,
      problem: { ...begun(alarmed(NO_PROBLEM, now), lastBeat), had },
      previous: null,
      text: `opened: ${had.length > 0 ? `${joinNames(had)} has not been sent` : 'no heartbeat'} for ${formatDuration(now - lastBeat)}; problems may go unreported`,
      actor: null,
    },
    now,
  )
}

/**
 * Resolves the incident for a missing heartbeat when the heartbeat returns, or ends its problem. Returns whether it did.
 * @param isPart whether others are still missing, for which an incident goes on
 */
function resolveHeartbeatIncident(ctx: Context, sender: LiveSender, isPart: boolean, now: number): boolean {
  if (sender.heartbeatDueAt !== null && !sender.beats.some((beat) => isOver(beat, now))) return false
  const service = findService(ctx.state, serviceKeyOf(sender))
  const own = service ? incidentsOf(ctx.state, service.rowId).filter(({ cause }) => cause === 'silence') : []
  const back = own.filter(({ problem }) => problem.since !== null && !(isPart && problem.had.length > 0))
  for (const before of back) {
    // A user may have resolved it before.
    const { resolvedAt } = before
    const after = {
      ...before,
      status: 'resolved',
      resolvedAt: resolvedAt ?? now,
      problem: closed(before.problem, now),
    } as const
    moveIncident(ctx, { before, after, why: 'the heartbeat is back', actor: null, now })
  }
  return back.length > 0
}

function serviceKeyOf({ cluster, source, receiver }: LiveSender) {
  return { cluster, namespace: '', name: senderService({ source, receiver }) }
}
