/** The headline on the pages: one sentence that names the services with problems. */
import { countOf, formatCount, joinNames } from '../text.ts'

/** `recovering`: only ended alerts lower the score. */
export type ServiceState = 'critical' | 'degraded' | 'recovering' | 'healthy' | 'unknown'

/** The number of services by status, and the names of the services with a status. */
type HeadlineFacts = {
  readonly counts: Readonly<Record<ServiceState, number>>
  readonly names: (state: ServiceState) => readonly string[]
  /** The number of unresolved incidents. An incident may outlast its problem. */
  readonly unresolved: number
}

/**
 * The sentence in two parts. `lead` is displayed prominently, and `rest` can be empty. `title`: the lead as the title of a
 * page, without names.
 */
export type Headline = {
  readonly title: string
  readonly lead: string
  readonly rest: string
  readonly state: ServiceState
}

/** The states, worst first. */
export const SERVICE_STATES: readonly ServiceState[] = ['critical', 'degraded', 'recovering', 'unknown', 'healthy']
/** The states in which a service has, or lately had, a problem. */
export const TROUBLED: ReadonlySet<ServiceState> = new Set(['critical', 'degraded', 'recovering'])
const MAX_NAMES = 3
const MAX_NAME = 63

/** Returns the headline, for example `1 service is critical: checkout.` and `3 are degraded, 12 are healthy.` */
export function headlineOf({ counts, names, unresolved }: HeadlineFacts): Headline {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (all === 0) return { ...leadOf('There are no services yet'), rest: '', state: 'unknown' }
  const worst = SERVICE_STATES.find((state) => counts[state] > 0)
  if (worst && TROUBLED.has(worst)) return troubled(worst, counts, names(worst))
  if (counts.unknown > 0) {
    return {
      ...leadOf(`The status of ${countOf(counts.unknown, 'service')} is unknown: the sender is silent`),
      rest: restOf(counts, ['healthy']),
      state: 'unknown',
    }
  }
  return {
    ...leadOf(all === 1 ? 'The only service is healthy' : `All ${formatCount(all)} services are healthy`),
    rest: unresolved === 0 ? '' : `${countOf(unresolved, 'incident')} ${unresolved === 1 ? 'is' : 'are'} not resolved.`,
    state: 'healthy',
  }
}

function troubled(state: ServiceState, counts: HeadlineFacts['counts'], names: readonly string[]): Headline {
  const count = counts[state]
  const named = count <= MAX_NAMES && names.length === count ? `: ${joinNames(names.map(shortened))}` : ''
  return {
    ...leadOf(`${countOf(count, 'service')} ${count === 1 ? 'is' : 'are'} ${state}`, named),
    rest: restOf(counts, SERVICE_STATES.slice(SERVICE_STATES.indexOf(state) + 1)),
    state,
  }
}

function leadOf(title: string, named = ''): Pick<Headline, 'title' | 'lead'> {
  return { title, lead: `${title}${named}.` }
}

function shortened(name: string): string {
  return name.length > MAX_NAME ? `${name.slice(0, MAX_NAME - 1)}…` : name
}

/** Returns text such as `3 are degraded, 12 are healthy.` Leaves out states without any service. */
function restOf(counts: HeadlineFacts['counts'], states: readonly ServiceState[]): string {
  const parts = states.flatMap((state) =>
    counts[state] === 0 ? [] : [`${formatCount(counts[state])} ${counts[state] === 1 ? 'is' : 'are'} ${state}`],
  )
  return parts.length === 0 ? '' : `${parts.join(', ')}.`
}
