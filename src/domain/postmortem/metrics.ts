/** Computes the times to detect, acknowledge and resolve an incident. */
import type { Metric } from './document.ts'
import type { IncidentFact } from './facts.ts'
import { formatSeconds, secondsBetween, stillFiringText } from './words.ts'

/** The definition of each metric. */
export const DEFINITIONS = {
  ttd: 'time to detect: from the evidence that opened the incident (or from the first alert, if there is no such evidence) until the incident was opened',
  tta: 'time to acknowledge: from the opening of the incident until somebody acknowledged it',
  ttr: 'time to resolve: from the evidence that opened the incident (or from the opening, if the opening was earlier) until the incident was resolved',
} as const

export type Timing = Pick<IncidentFact, 'createdAt' | 'startedAt' | 'acknowledgedAt' | 'resolvedAt'> & {
  /** The start of the incident's first symptom; null if there are no alerts. */
  readonly firstAlertAt: number | null
}

/** Durations in seconds, never negative; null if unknown. */
export type Durations = { readonly ttd: number | null; readonly tta: number | null; readonly ttr: number | null }

/**
 * Returns the time of the evidence that opened the incident. If the incident's start is before its creation, returns
 * the incident's start, even if an alert started earlier. Otherwise, returns the start of the first alert, or null if
 * that alert started after the incident was created.
 */
export function firstEvidenceAt({ createdAt, startedAt, firstAlertAt }: Timing): number | null {
  if (startedAt < createdAt) return startedAt
  return firstAlertAt !== null && firstAlertAt <= createdAt ? firstAlertAt : null
}

export function durationsOf(timing: Timing): Durations {
  const { createdAt, acknowledgedAt, resolvedAt } = timing
  const evidenceAt = firstEvidenceAt(timing)
  return {
    ttd: span(evidenceAt, createdAt),
    tta: span(createdAt, acknowledgedAt),
    ttr: span(evidenceAt ?? createdAt, resolvedAt),
  }
}

function span(from: number | null, to: number | null): number | null {
  return from === null || to === null || to < from ? null : secondsBetween(from, to)
}

/**
 * Returns an incident's metrics, each with its definition and a sentence with evidence.
 * @param firing the number of alerts that were firing when the incident was resolved
 * @param later how many seconds after the end of the problem the incident was resolved
 */
export function metricsOf(
  timing: Timing,
  refs: { readonly incident: string; readonly evidence: readonly string[] },
  { firing, later }: { readonly firing: number; readonly later: number },
) {
  const { ttd, tta, ttr } = durationsOf(timing)
  const known = firstEvidenceAt(timing) !== null
  const detected = known ? 'the opening is earlier than the evidence' : 'no evidence before the opening was recorded'
  const answered =
    timing.acknowledgedAt === null
      ? 'no acknowledgement was recorded'
      : 'the acknowledgement is earlier than the opening'
  const recovered =
    timing.resolvedAt === null ? 'the incident is not resolved' : 'the resolution is earlier than the evidence'
  const early = firing === 0 || timing.resolvedAt === null ? '' : `. When it was resolved, ${stillFiringText(firing)}`
  const late = later === 0 ? '' : `. The problem had ended ${formatSeconds(later)} earlier`
  const both = [...refs.evidence, refs.incident]
  return {
    ttd: metric(ttd, DEFINITIONS.ttd, detected, known ? both : [refs.incident]),
    tta: metric(tta, DEFINITIONS.tta, answered, [refs.incident]),
    ttr: metric(ttr, `${DEFINITIONS.ttr}${early}${late}`, recovered, known ? both : [refs.incident]),
  }
}

function metric(seconds: number | null, definition: string, why: string, refs: readonly string[]): Metric {
  const text = seconds === null ? `Undefined: ${why}.` : formatSeconds(seconds)
  return { seconds, definition, sentence: { text, refs } }
}
