/** Computes the times to detect, acknowledge and resolve an incident. */

import type { IncidentFact } from '../incident/facts.ts'
import { formatSeconds, secondsBetween } from '../text.ts'
import type { Metric } from './document.ts'

/** The name and the definition of each metric. */
export const METRIC_NAMES = { ttd: 'time to detect', tta: 'time to acknowledge', ttr: 'time to resolve' } as const
export const DEFINITIONS = {
  ttd: 'from the start of the problem until the incident was opened',
  tta: 'from the opening of the incident until somebody acknowledged it',
  ttr: 'from the start of the problem (or from the opening, if the opening was earlier) until the incident was resolved',
} as const

export type Timing = Pick<IncidentFact, 'origin' | 'createdAt' | 'startedAt' | 'acknowledgedAt' | 'resolvedAt'> & {
  /** The start of the incident's first symptom; null if there are no alerts. */
  readonly firstAlertAt: number | null
  /** When the first of several merged incidents was opened. Default: `createdAt`. */
  readonly openedAt?: number
  /** Whether the incident was closed because it was merged into another one. Default: false. */
  readonly wasMerged?: boolean
}

/** Durations in seconds, never negative; null if unknown. */
type Durations = { readonly ttd: number | null; readonly tta: number | null; readonly ttr: number | null }

/**
 * Returns the time of the evidence that opened the incident. If the incident's start is before its creation, or incmon
 * opened it, returns the incident's start, even if an alert started earlier. Otherwise, returns the start of the first
 * alert, or null if that alert started after the incident was created.
 */
export function firstEvidenceAt({
  origin,
  createdAt,
  startedAt,
  firstAlertAt,
  openedAt = createdAt,
}: Timing): number | null {
  // A user declared the problem in an incident that was merged into this one.
  if (openedAt < createdAt && openedAt <= startedAt) return null
  const isEvidence =
    startedAt < createdAt || (startedAt === createdAt && origin === 'automatic' && firstAlertAt !== null)
  if (isEvidence) return startedAt
  return firstAlertAt !== null && firstAlertAt <= createdAt ? firstAlertAt : null
}

/** The server's clock hides steps back of at most this many milliseconds. A resolution can be reported that late, too. */
const TOLERATED = 5 * 60_000

/**
 * Returns whether the incident was acknowledged or resolved before it was opened. This is only possible if the server's
 * clock was set back in between. Then no duration between the times means anything. A problem whose reports arrive late
 * can end before the opening, but not before its start.
 */
export function wasClockSetBack(timing: Omit<Timing, 'origin' | 'firstAlertAt'>) {
  const { createdAt, startedAt, acknowledgedAt, resolvedAt } = timing
  const ended = resolvedAt === null || resolvedAt >= startedAt ? createdAt : resolvedAt
  return Math.min(acknowledgedAt ?? createdAt, ended) < createdAt - TOLERATED
}

export function durationsOf(timing: Timing): Durations {
  if (wasClockSetBack(timing)) return { ttd: null, tta: null, ttr: null }
  const { createdAt, acknowledgedAt, resolvedAt, openedAt = createdAt } = timing
  const evidenceAt = firstEvidenceAt(timing)
  return {
    ttd: span(evidenceAt, openedAt),
    tta: span(createdAt, acknowledgedAt),
    ttr: timing.wasMerged ? null : span(evidenceAt ?? openedAt, resolvedAt),
  }
}

/** Returns a duration of `ms` in seconds. The duration of a whole period is the difference of its times, as they are shown. */
export function secondsOf(ms: number, from: number, to: number): number {
  const [seconds, whole] = [Math.floor(ms / 1000), secondsBetween(from, to)]
  return Math.abs(whole - seconds) <= 1 ? whole : seconds
}

function span(from: number | null, to: number | null): number | null {
  return from === null || to === null || to < from ? null : secondsBetween(from, to)
}

/** `firing`: see `whileFiring`. `later`: seconds from the end of the problem, or its last report, to the resolution. */
type Ends = Readonly<
  { firing: string; later: number; countsFromEnd: 'before' | 'after' | null } & Record<
    'isReported' | 'wasReopened' | 'isTaken',
    boolean
  >
>

/**
 * Returns an incident's metrics, each with its definition and a sentence with evidence.
 */
export function metricsOf(
  timing: Timing,
  refs: Readonly<{ incident: string; evidence: readonly string[]; last: readonly string[] }>,
  { firing, later, isReported, countsFromEnd, wasReopened, isTaken }: Ends,
) {
  const { ttd, tta, ttr } = durationsOf(timing)
  const known = firstEvidenceAt(timing) !== null
  const moved = wasClockSetBack(timing) ? 'the clock was probably set back during the incident' : null
  const detected = known ? 'the opening is earlier than the evidence' : 'no evidence before the opening was recorded'
  const answered =
    timing.acknowledgedAt === null
      ? `nobody acknowledged the incident${timing.resolvedAt === null ? '' : ` before it was ${timing.wasMerged ? 'merged' : wasReopened ? 'first resolved' : 'resolved'}`}`
      : 'the acknowledgement is earlier than the opening'
  const ended =
    timing.resolvedAt === null ? 'the incident is not resolved' : 'the resolution is earlier than the evidence'
  // A problem that was reported once has no known length.
  const isUnknown = ttr === 0 && countsFromEnd !== null && !isReported
  const unknown = isUnknown ? 'no end of the problem was reported' : ended
  const recovered = timing.wasMerged ? 'the incident was merged into another one' : unknown
  const early = firing === '' || timing.resolvedAt === null || timing.wasMerged ? '' : `, ${firing}`
  const what = isReported ? 'the end of the problem' : 'the last report of the problem'
  const ofIt = isReported ? 'its end' : 'its last report'
  const from = later === 0 ? ofIt : `${formatSeconds(later)} after ${ofIt}`
  const end = countsFromEnd === 'before' ? `${from}, before which incmon` : `${from}, after which incmon`
  const late =
    countsFromEnd !== null || later === 0 || timing.wasMerged ? '' : `, ${formatSeconds(later)} after ${what}`
  const isFirst = (timing.openedAt ?? timing.createdAt) < timing.createdAt
  const both = [...refs.evidence, refs.incident]
  return {
    ttd: metric(
      ttd,
      isFirst ? `${DEFINITIONS.ttd}; the first of the merged incidents counts` : DEFINITIONS.ttd,
      moved ?? detected,
      known ? both : [refs.incident],
    ),
    tta: metric(
      tta,
      `${DEFINITIONS.tta}${isTaken ? ' or an incident that was merged into it' : ''}`,
      moved ?? answered,
      [refs.incident],
    ),
    ttr: metric(
      isUnknown ? null : ttr,
      `${definitionOf(timing, countsFromEnd && end)}${late}${early}`,
      moved ?? recovered,
      [...(known ? both : [refs.incident]), ...refs.last],
      // The figure of an incident that incmon resolved ends there, and people compare them.
      late === '' || ttr === null || ttr < later ? '' : `; ${formatSeconds(ttr - later)} until ${what}`,
    ),
  }
}

/** Returns the definition of the time to resolve. `end`: what counts as the resolution if incmon resolved the incident. */
function definitionOf(timing: Timing, end: string | null): string {
  const { openedAt = timing.createdAt } = timing
  const isFromOpening = openedAt < (firstEvidenceAt(timing) ?? openedAt)
  const from = `from the ${isFromOpening ? 'opening of the incident' : 'start of the problem'} until`
  if (end !== null) return `${from} ${end} resolved the incident`
  return `${from} ${isFromOpening ? 'it' : 'the incident'} was resolved`
}

function metric(seconds: number | null, definition: string, why: string, refs: readonly string[], more = ''): Metric {
  const text = seconds === null ? `Undefined: ${why}.` : `${formatSeconds(seconds)}${more}`
  return { seconds, definition, sentence: { text, refs } }
}
