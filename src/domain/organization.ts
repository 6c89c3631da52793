export const PLANS = ['Free', 'Team', 'Pro'] as const
export type Plan = (typeof PLANS)[number]

/** Plans that include postmortems. */
export const POSTMORTEM_PLANS: readonly Plan[] = ['Team', 'Pro']

export function hasPostmortems(plan: Plan): boolean {
  return POSTMORTEM_PLANS.includes(plan)
}

type Named = { readonly name: string }

/** Returns the organization with this name, or the only one if the name is ''. Returns null if there is none. */
export function chooseOrganization<T extends Named>(all: readonly T[], name: string): T | null {
  const [found, ...others] = name === '' ? all : all.filter((one) => one.name === name)
  return found && others.length === 0 ? found : null
}

/** Says why a setting names no organization, and to what it must be set; null if it names one. */
export function unclearOrganization(
  all: readonly Named[],
  name: string,
  setting: string,
): readonly [wrong: string, remedy: string] | null {
  if (chooseOrganization(all, name)) return null
  const wrong = name === '' ? 'there are several organizations' : `there is no organization ${name}`
  return [wrong, `set ${setting} to ${all.map((one) => one.name).join(' or ')}`]
}

/** Control characters, line separators, and characters that reverse the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u

/** Returns whether a name contains only printable characters. Names appear in terminals and logs. */
export function isPrintable(name: string): boolean {
  return !UNPRINTABLE.test(name)
}

export type Settings = {
  /** Whether to open incidents automatically for critical services. */
  readonly 'auto-incidents': 'critical' | 'off'
  /** How many minutes after its recovery an incident is resolved if no user has touched it. */
  readonly 'auto-resolve': number | 'off'
  /** Whether to open an incident when heartbeats stop arriving. */
  readonly heartbeats: boolean
  /** How long a deploy may silence its service, in minutes; 0 to disable. */
  readonly 'deploy-silence-minutes': number
  /** The name of the time zone used on pages, for example Europe/Berlin. */
  readonly 'time-zone': string
  /** How many days to keep unreferenced events. */
  readonly 'retention-events-days': number
  /** How many days to keep unreferenced alerts and incidents. Must be at least `retention-events-days`. */
  readonly 'retention-alerts-days': number
  /** How many days to keep resolved incidents with a postmortem; 0 to keep them forever. */
  readonly 'retention-incidents-days': number
  /** The URL of Prometheus, for the graphs of alerts; '' for no graphs. */
  readonly 'prometheus-url': string
  /** The labels by which Alertmanager's API groups alerts. */
  readonly 'group-by': readonly string[]
}

export const DEFAULT_SETTINGS: Settings = {
  'auto-incidents': 'critical',
  'auto-resolve': 30,
  heartbeats: true,
  'deploy-silence-minutes': 0,
  'time-zone': 'UTC',
  'retention-events-days': 30,
  'retention-alerts-days': 400,
  'retention-incidents-days': 730,
  'prometheus-url': '',
  'group-by': ['alertname', 'namespace'],
}
export const MAX_RETENTION_DAYS = 3650

/** Earlier versions had a boolean: true was the default, and false was off. */
export function toAutoResolve(value: number | 'off' | boolean): number | 'off' {
  if (typeof value !== 'boolean') return value
  return value ? DEFAULT_SETTINGS['auto-resolve'] : 'off'
}

/** Fills in the defaults for missing settings. */
export function withDefaults(stored: Partial<Settings>): Settings {
  const settings = { ...DEFAULT_SETTINGS, ...stored }
  return { ...settings, 'auto-resolve': toAutoResolve(settings['auto-resolve']) }
}
