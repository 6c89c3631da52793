/** Decisions: what a dry run answers of each item, every part with the rule that decided. */
import type { Alert, Change } from '../domain/alert/alert.ts'
import type { Judgement } from '../domain/alert/judgement.ts'
import type { Penalty } from '../domain/health/health.ts'
import type { LinkSummary } from '../store/correlation-rows.ts'
import type { Place } from './attribution.ts'

/** What became of an item, each part with the rule that decided. */
export type ItemDecision = {
  readonly index: number
  readonly event: Judgement['event']
  readonly service: {
    readonly cluster: string
    readonly namespace: string
    readonly name: string
    readonly rule: string
    readonly isNew: boolean
  }
  readonly alert: null | {
    readonly change: Change
    readonly name: string
    readonly severity: string
    readonly status: string
    readonly fingerprint: string
    readonly rules: Alert['rules']
  }
  readonly health: null | { readonly status: string; readonly score: number; readonly penalties: readonly Penalty[] }
  readonly correlations: readonly LinkSummary[]
}

/** The decision about one item, before health is known. */
export function explainItem(
  item: { readonly index: number; readonly place: Place; readonly event: Judgement['event'] },
  result: { readonly alert: Alert; readonly change: Change } | null,
  correlations: readonly LinkSummary[],
): ItemDecision {
  const { index, place, event } = item
  const { cluster, namespace, name } = place.key
  return {
    index,
    event,
    service: { cluster, namespace, name, rule: place.attribution.rule, isNew: place.service === null },
    alert: result && {
      change: result.change,
      name: result.alert.name,
      severity: result.alert.severity,
      status: result.alert.status,
      fingerprint: result.alert.fingerprint,
      rules: result.alert.rules,
    },
    health: null,
    correlations,
  }
}
