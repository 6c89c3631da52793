/** The limits of an organization, which the setting `limits` can change. */
import { BUDGETS, type Budget } from './budgets.ts'

/** The limits that the setting `limits` can change. */
type LimitName = {
  [Name in keyof typeof BUDGETS]: (typeof BUDGETS)[Name] extends { readonly isAdjustable: true } ? Name : never
}[keyof typeof BUDGETS]

export type Limits = Readonly<Record<LimitName, number>>

export const LIMIT_NAMES = Object.entries<Budget>(BUDGETS).flatMap(([name, { isAdjustable }]) =>
  isAdjustable ? [name as LimitName] : [],
)

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
