/** Searches the firing alerts in memory. */

import type { LiveAlert } from '../../domain/alert/alert.ts'
import type { Source } from '../../domain/event/event.ts'
import { offsetOf, type Page } from '../../domain/pagination.ts'
import type { Severity } from '../../domain/severity.ts'
import type { OrganizationState } from './state.ts'

/** An undefined field matches every alert. `from` and `to` limit the start time: from ≤ startsAt < to. */
export type FiringFilter = {
  readonly serviceId?: string | undefined
  readonly from?: number | undefined
  readonly to?: number | undefined
  readonly severity?: Severity | undefined
  readonly source?: Source | undefined
  readonly name?: string | undefined
  /** All words must occur in the name or the summary. The search ignores the case of ASCII letters. */
  readonly q?: string | undefined
  readonly silenced?: boolean | undefined
}

const MAX_WORDS = 8

/** Returns whether an alert of a service fires that is more than information. */
export function isFiring(state: OrganizationState, serviceId: string): boolean {
  const service = state.serviceById.get(serviceId) ?? -1
  return [...state.alertsOfService.get(service)].some((rowId) => {
    const alert = state.alerts.get(rowId)?.alert
    return alert?.status === 'firing' && alert.severity !== 'info'
  })
}

/** Returns the row ids on one page of matching firing alerts, latest start first, and the total number of matches. */
export function listFiring(
  state: OrganizationState,
  filter: FiringFilter,
  page: Page,
): { readonly rowIds: readonly number[]; readonly total: number } {
  const { from, to, serviceId, silenced } = filter
  // The overview searches for silenced alerts at each refresh.
  if (silenced && state.silences.size() === 0) return { rowIds: [], total: 0 }
  const service = serviceId === undefined ? null : (state.serviceById.get(serviceId) ?? -1)
  const first = from === undefined ? 0 : state.firing.before(from)
  const end = to === undefined ? state.firing.size() : state.firing.before(to)
  const matches = matcherOf(filter, service)
  const [skip, limit] = [offsetOf(page), page.limit]
  if (!matches) {
    const rowIds = positions(end - 1 - skip, Math.max(first, end - skip - limit)).flatMap(
      (at) => state.firing.at(at) ?? [],
    )
    return { rowIds, total: Math.max(0, end - first) }
  }
  const rowIds: number[] = []
  let total = 0
  for (let at = end - 1; at >= first; at -= 1) {
    const rowId = state.firing.at(at)
    const live = rowId === undefined ? undefined : state.alerts.get(rowId)
    if (!live || !matches(live)) continue
    if (total >= skip && rowIds.length < limit) rowIds.push(live.rowId)
    total += 1
  }
  return { rowIds, total }
}

/** Returns the numbers from `last` down to `first`. */
function positions(last: number, first: number): number[] {
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => last - index)
}

/** Returns null if the filter contains only times. */
function matcherOf(filter: FiringFilter, service: number | null): ((live: LiveAlert) => boolean) | null {
  const { severity, source, name, silenced, q = '' } = filter
  const words = q.split(/\s+/).filter(Boolean).slice(0, MAX_WORDS).map(lowerCase)
  const restricts = [service ?? undefined, severity, source, name, silenced].some((one) => one !== undefined)
  if (!restricts && words.length === 0) return null
  return ({ serviceId, alert, silencedBy }) =>
    (service === null || serviceId === service) &&
    (severity === undefined || alert.severity === severity) &&
    (source === undefined || alert.source === source) &&
    (name === undefined || alert.name === name) &&
    (silenced === undefined || silencedBy.length > 0 === silenced) &&
    hasWords(words, alert)
}

function hasWords(words: readonly string[], { name, summary }: LiveAlert['alert']): boolean {
  if (words.length === 0) return true
  const text = lowerCase(`${name} ${summary}`)
  return words.every((word) => text.includes(word))
}

/** Lower-cases only ASCII letters, like the history search in SQLite. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
