/** Decides when a channel sends a message, retries, and gives up. */
import { BUDGETS } from '../budgets.ts'
import { timeoutOf } from '../sender/delivery-interval.ts'
import { HOUR, MINUTE, SECOND } from '../units.ts'
import type { Report } from './alert-texts.ts'

/** A channel sends this many messages in this period at once. Further notifications are collected into a digest. */
const AT_ONCE = BUDGETS['channel-messages'].value
export const AT_ONCE_WITHIN = 30 * SECOND
/** A channel gets at most one message about a group in this time. */
export const GROUP_PAUSE = MINUTE
/** Undelivered messages are marked as failed after this time. */
export const GIVE_UP_AFTER = 24 * HOUR

const FIRST_RETRY = 5 * SECOND
const FACTOR = 3
const MAX_RETRY = 5 * MINUTE
/** The longest pause that a receiver can ask for. */
const MAX_ASKED = HOUR
const JITTER = 0.1

/**
 * Returns the delay before the next attempt in milliseconds: 5 s, 15 s, 45 s and so on up to 5 minutes, with 10 % jitter.
 * @param attempts the number of failed attempts, at least 1
 * @param jitter from 0 to 1
 * @param askedFor the receiver's `Retry-After` in milliseconds, capped at an hour; 0 if absent
 */
export function retryPause(attempts: number, jitter: number, askedFor: number): number {
  const pause = Math.min(FIRST_RETRY * FACTOR ** Math.min(attempts - 1, 20), MAX_RETRY)
  return Math.max(Math.round(pause * (1 - JITTER + 2 * JITTER * jitter)), Math.min(askedFor, MAX_ASKED))
}

export const MESSAGE_STATUSES = ['pending', 'delivered', 'failed'] as const
export type MessageStatus = (typeof MESSAGE_STATUSES)[number]

/** How the failure of a channel begins whose receiver does not exist any more. */
export const SWITCHED_OFF = 'incmon has disabled the channel, because '

type Result = 'delivered' | 'retry' | 'failed' | 'disable'

/**
 * Returns the result of an attempt. `status` is null if there was no response. Status 410 disables the channel. A
 * message rejected with 400, 413 or 422 is not retried.
 * @param isLast whether there is no time left for another attempt
 */
export function resultOf(status: number | null, isLast: boolean): Result {
  if (status !== null && status >= 200 && status < 300) return 'delivered'
  if (status === 410) return 'disable'
  if (status === 400 || status === 413 || status === 422) return 'failed'
  return isLast ? 'failed' : 'retry'
}

/**
 * `remindAfter`: the minutes until the first reminder about an unacknowledged incident. `remindEvery`: the minutes
 * between further reminders. 0 disables reminders.
 */
export type Reminders = { readonly remindAfter: number; readonly remindEvery: number }

/**
 * Returns when the next reminder is due, as Unix time in milliseconds, or null for never.
 * @param sent the number of reminders since the problem began or came back
 * @param lastAt the time of the last message about the incident
 */
export function nextReminder({ remindAfter, remindEvery }: Reminders, sent: number, lastAt: number): number | null {
  const minutes = sent === 0 ? remindAfter : remindEvery
  return minutes === 0 ? null : lastAt + minutes * MINUTE
}

/**
 * Returns for how long a channel's other messages wait after a failed attempt, in milliseconds: a receiver that does not
 * answer gets at most one attempt in this time, except for a new incident.
 */
export function othersPause(askedFor: number): number {
  return Math.max(FIRST_RETRY, Math.min(askedFor, MAX_ASKED))
}

/** While a receiver does not answer, new incidents are tried at once, but at most every so many milliseconds. */
export const TRY_EVERY = 30 * SECOND

/**
 * Returns which of a channel's due messages to send next: `one` message, all of them in a `digest`, or none yet. The
 * first three messages in 30 seconds are sent at once. What had to wait is sent in one digest.
 * @param sentAt when the channel's last messages were sent
 * @param oldest when the oldest pending message was due, and when it was queued
 */
export function paceOf(
  sentAt: readonly number[],
  { dueAt, createdAt }: { readonly dueAt: number; readonly createdAt: number },
  now: number,
): 'one' | 'digest' | 'wait' {
  // Setting the clock back must not block the channel.
  const sentSince = (from: number) => sentAt.filter((at) => at > from && at <= now).length
  if (sentSince(now - AT_ONCE_WITHIN) >= AT_ONCE) return 'wait'
  // The channel had quiet hours, or its receiver did not answer.
  if (now - createdAt > AT_ONCE_WITHIN) return 'digest'
  return sentSince(Math.min(dueAt, now) - AT_ONCE_WITHIN) >= AT_ONCE ? 'digest' : 'one'
}

/**
 * The last report of alerts that fire. `heardAt`: when their sender last delivered anything; null if unknown.
 * `hasHeartbeat`: whether it is known to be broken if it delivers nothing. `isOverElsewhere`: for a Kubernetes condition,
 * whether an alert about the same failure has ended since.
 */
export type LastReport = Report & {
  readonly heardAt: number | null
  readonly hasHeartbeat: boolean
  readonly isOverElsewhere: boolean
}

/** Returns whether no alert of a problem was repeated since a time, so that it may be over. Kubernetes repeats nothing. */
export function isUnheardSince(reports: readonly LastReport[], since: number): boolean {
  return reports.length > 0 && reports.every((one) => one.source !== 'cluster' && one.receivedAt < since)
}

/**
 * Returns whether a problem may be over or muted, so that nobody is reminded of it: incmon was stopped and its alerts
 * were not repeated since, or repeats are missing. Alertmanager leaves out what it silences, and does not report its end.
 * @param reports the last reports of what is critical; none if no alert fires
 * @param awaitedSince since when repeats are awaited after a stop, in ms UTC; null if they are not
 */
export function isDoubtful(reports: readonly LastReport[], awaitedSince: number | null, now: number): boolean {
  return reports.length > 0 && reports.every((one) => isMissed(one, awaitedSince, now))
}

function isMissed(last: LastReport, awaitedSince: number | null, now: number): boolean {
  const { source, receivedAt, heardAt, hasHeartbeat, delivery, isOverElsewhere } = last
  if (source === 'cluster') return isOverElsewhere
  if (awaitedSince !== null && receivedAt < awaitedSince) return true
  if (delivery.interval === null || heardAt === null) return false
  // A sender that delivers nothing at all may be broken. Without ends and a heartbeat, nobody can tell.
  const until = delivery.reportsEnds || hasHeartbeat ? heardAt : now
  return until >= receivedAt + timeoutOf(delivery.interval)
}
