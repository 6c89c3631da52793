/** Says how near each organization is to its limits. */
import { BUDGETS, type Budget } from '../budgets.ts'
import type { Limits } from '../limits.ts'
import { formatCount } from '../text.ts'
import { type DoctorFacts, type Finding, ok, type UsageFact, warn } from './facts.ts'

/** From this share of a limit on, there is a warning. */
const NEAR = 0.8

export function diagnoseLimits({ content, limits }: DoctorFacts): Finding[] {
  const usage = content?.state === 'read' ? (content.history?.usage ?? []) : []
  const all = usage.map((one) => ({ ...one, value: limitOf(one, limits) })).sort((a, b) => share(b) - share(a))
  const [fullest] = all
  if (!fullest) return []
  const near = all.filter((one) => share(one) >= NEAR)
  if (near.length === 0) return [ok('limits', `none is nearly reached; the nearest is ${textOf(fullest)}`)]
  return near.map((one) => warn('limits', `${textOf(one)}; at the limit, ${effectOf(one)}`, remedyOf(one)))
}

type Counted = UsageFact & { readonly value: number }

function limitOf({ limit }: UsageFact, limits: Limits): number {
  return isAdjustable(limit) ? limits[limit] : BUDGETS[limit].value
}

function isAdjustable(limit: UsageFact['limit']): limit is UsageFact['limit'] & keyof Limits {
  return (BUDGETS[limit] as Budget).isAdjustable ?? false
}

function share({ used, value }: Counted): number {
  return used / value
}

function textOf({ organization, limit, used, value }: Counted): string {
  return `${limit} of ${organization}: ${formatCount(used)} of ${formatCount(value)}`
}

function effectOf({ limit }: Counted): string {
  return BUDGETS[limit].effect
}

function remedyOf({ limit }: Counted): string {
  if (!isAdjustable(limit)) return `remove ${limit} that nobody needs`
  return `find out what creates them, or raise ${limit} in the setting limits if the machine has memory for it`
}
