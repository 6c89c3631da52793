/** Organizations, their plans and their settings. */

export const PLANS = ['Free', 'Team', 'Pro'] as const
export type Plan = (typeof PLANS)[number]

/** Plans whose resolved incidents get a postmortem. */
export const POSTMORTEM_PLANS: readonly Plan[] = ['Team', 'Pro']

export function hasPostmortems(plan: Plan): boolean {
  return POSTMORTEM_PLANS.includes(plan)
}

export type Settings = {
  /** Whether incidents open automatically for critical services. */
  readonly 'auto-incidents': 'critical' | 'off'
  /** Whether a recovered incident is resolved after 24 hours without a change by a person. */
  readonly 'auto-resolve': boolean
  /** Whether an incident opens when the heartbeat alert stops arriving. */
  readonly heartbeats: boolean
  /** The maximum duration of a deploy's silence in minutes; 0: never. */
  readonly 'deploy-silence-minutes': number
  /** The time zone in which pages show times, such as Europe/Berlin. */
  readonly 'time-zone': string
  /** Days to keep events without references. */
  readonly 'retention-events-days': number
  /** Days to keep alerts and incidents without references; at least as long as events. */
  readonly 'retention-alerts-days': number
}

export const DEFAULT_SETTINGS: Settings = {
  'auto-incidents': 'critical',
  'auto-resolve': true,
  heartbeats: true,
  'deploy-silence-minutes': 0,
  'time-zone': 'UTC',
  'retention-events-days': 30,
  'retention-alerts-days': 400,
}
export const MAX_RETENTION_DAYS = 3650

/** Returns settings with the defaults for missing values. */
export function withDefaults(stored: Partial<Settings>): Settings {
  return { ...DEFAULT_SETTINGS, ...stored }
}
