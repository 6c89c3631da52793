/** The rules that decided about an alert, as data. `rulesText` is the only place that turns them into sentences. */
import { ruleText, type ServiceRule } from '../service/service.ts'

/** The rules that determined the service, the severity and the identity of an alert. */
export type Rules = {
  readonly service: ServiceRule
  readonly severity: string
  readonly identity: keyof typeof IDENTITIES
}

const IDENTITIES = {
  object: 'service, reason and container',
  labels: 'the sender’s fingerprint, or the labels that survive a restart if no alert has this fingerprint',
  fingerprint: 'the sender’s fingerprint',
  environment: 'project and environment',
  ref: 'project and ref',
} as const

/** Names the rule by which one item belongs to an alert. @param byLabels whether no alert had its fingerprint */
export function identityText({ identity }: Rules, byLabels: boolean): string {
  if (identity !== 'labels') return IDENTITIES[identity] ?? identity
  return byLabels ? 'the labels that survive a restart, because no alert has this fingerprint' : IDENTITIES.fingerprint
}

/** Returns the rules as shown to people. A rule that an older version stored as a sentence stays as it is. */
export function rulesText({ service, severity, identity }: Rules): { [Rule in keyof Rules]: string } {
  return { service: ruleText(service), severity, identity: IDENTITIES[identity] ?? identity }
}
