/** A penalty of a service's score, as pages show it. */
import { type Penalty, penaltySeverity } from '../../domain/health/health.ts'
import { weighedText } from '../../domain/health/penalty-text.ts'
import type { Severity } from '../../domain/severity.ts'

export type PenaltyView = {
  readonly name: string
  /** The rule behind the penalty, for example `an event and an alert agree`. */
  readonly rule: string
  readonly penalty: number
  readonly severity: Severity
  readonly href: string
  /** When the condition started; null if unknown. */
  readonly since: number | null
}

/** Returns a penalty with its condition, and the start of the condition if `starts` has its alert or its name. */
export function penaltyOf(one: Penalty, starts: ReadonlyMap<string, number>): PenaltyView {
  const { alertId, name, penalty } = one
  const since = starts.get(alertId) ?? starts.get(name) ?? null
  return {
    name,
    rule: weighedText(one),
    penalty,
    severity: penaltySeverity(penalty),
    href: `/alerts/${alertId}`,
    since,
  }
}

// The severity that a sender reported, if another one counts.

type Sent = { readonly sentAs?: Severity | undefined; readonly severity: Severity }

/** Returns `Sent as warning, counts as critical.`, or '' if the severities are equal. */
export function sentText({ sentAs, severity }: Sent): string {
  return sentAs ? `Sent as ${sentAs}, counts as ${severity}.` : ''
}
