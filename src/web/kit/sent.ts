/** The severity that a sender reported, if another one counts. */
import type { Severity } from '../../domain/severity.ts'

type Sent = { readonly sentAs?: Severity | undefined; readonly severity: Severity }

/** Returns `Sent as warning, counts as critical.`, or '' if the severities are equal. */
export function sentText({ sentAs, severity }: Sent): string {
  return sentAs ? `Sent as ${sentAs}, counts as ${severity}.` : ''
}
