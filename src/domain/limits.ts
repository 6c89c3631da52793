/** The limits of an organization, which the setting `limits` can change. */
import { BUDGETS } from './budgets.ts'

/** The limits that the setting `limits` can change. */
export const LIMIT_NAMES = ['live-alerts', 'services', 'incidents'] as const

export type Limits = Readonly<Record<(typeof LIMIT_NAMES)[number], number>>

export const DEFAULT_LIMITS = Object.fromEntries(LIMIT_NAMES.map((name) => [name, BUDGETS[name].value])) as Limits

/** Returns the limits for the setting `limits`, whose items look like `live-alerts=100000`. */
export function limitsFrom(items: readonly string[]): Limits {
  const changed = items.map((item) => {
    const [name = '', value = ''] = item.split('=', 2)
    return [name, Number(value)] as const
  })
  return { ...DEFAULT_LIMITS, ...Object.fromEntries(changed) }
}

/** Returns whether an item of the setting `limits` is valid. */
export function isLimit(item: string): boolean {
  const [, name = '', value = ''] = /^([a-z-]+)=(\d{1,9})$/.exec(item) ?? []
  return (LIMIT_NAMES as readonly string[]).includes(name) && Number(value) > 0
}
