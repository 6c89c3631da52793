/** Writes the reason for a penalty. */
import { type Penalty, type PenaltyRule, penaltySeverity } from './health.ts'

/** Returns a condition and the rule, for example `CartDown: an event and an alert agree`. */
export function reasonText({ name, rule }: Pick<Penalty, 'name' | 'rule'>): string {
  return rule.code === 'text' ? rule.text : `${name}: ${ruleText(rule)}`
}

/** A penalty as the API returns it. */
export function shownPenalty(one: Penalty) {
  return { alertId: one.alertId, reason: reasonText(one), penalty: one.penalty }
}

/** Returns the rule. A severity that the sender did not choose is named before it: `critical: an event and an alert agree`. */
export function weighedText({ rule, penalty }: Pick<Penalty, 'rule' | 'penalty'>): string {
  const severity = penaltySeverity(penalty)
  return 'severity' in rule && rule.severity === severity ? ruleText(rule) : `${severity}: ${ruleText(rule)}`
}

function ruleText(rule: PenaltyRule): string {
  switch (rule.code) {
    case 'severity':
      return rule.severity
    case 'ended':
      return `${rule.severity}, ended in the last 30 min`
    case 'agreement':
      return 'an event and an alert agree'
    case 'lasting':
      return 'warning for 15 minutes'
    case 'unavailable':
      return `unavailable, ${rule.why}`
    case 'text':
      return rule.text
  }
}
