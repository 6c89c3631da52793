/** Organizations: the tenants, their plans and their settings. */

export const PLANS = ['Free', 'Team', 'Pro'] as const
export type Plan = (typeof PLANS)[number]

export type Settings = {
  /** Whether incidents open by themselves when a service turns critical. */
  readonly 'auto-incidents': 'critical' | 'off'
  /** Whether an incident that recovered, and that nobody touched for a day, is resolved by itself. */
  readonly 'auto-resolve': boolean
  /** Whether the silence of a heartbeat, once one was seen, opens an incident. */
  readonly heartbeats: boolean
  /** How long events are kept that nothing cites. */
  readonly 'retention-events-days': number
  /** How long alerts and incidents are kept that nothing cites; at least as long as events. */
  readonly 'retention-alerts-days': number
}

export const DEFAULT_SETTINGS: Settings = {
  'auto-incidents': 'critical',
  'auto-resolve': true,
  heartbeats: true,
  'retention-events-days': 30,
  'retention-alerts-days': 400,
}
export const MOST_RETENTION_DAYS = 3650

/** Settings as stored, with the defaults for what was never set. */
export function withDefaults(stored: Partial<Settings>): Settings {
  return { ...DEFAULT_SETTINGS, ...stored }
}
