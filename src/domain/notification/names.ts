/** Names for use in messages: short, on one line, and familiar to users. */
import type { LiveService } from '../health/live-service.ts'
import type { Problem } from '../incident/problem.ts'
import { subjectName } from '../sender/sender-name.ts'
import { formatCount, joinNames, LISTED } from '../text.ts'

/** Names longer than this are truncated, because a lock screen shows about 100 characters in total. */
const MAX_NAME = 60

/** Returns the display name of a service. For a sender, returns the name of the sender's program. */
function shownName(name: string): string {
  return shortened(subjectName({ namespace: '', name }))
}

/**
 * `shownCluster`: the cluster, if the organization has services in several; '' or absent if not. `isAmbiguous`: whether
 * another namespace has a service of this name.
 */
export type PlacedService = Pick<LiveService, 'name' | 'namespace' | 'cluster'> & {
  readonly shownCluster?: string
  readonly isAmbiguous?: boolean
}

/**
 * Returns `web`, `shop/web` if another namespace has a service of this name, or `web in eu` if the organization has several
 * clusters. `shown`: what to show instead of the service.
 */
export function placedName(service: PlacedService, shown = ownName(service)): string {
  return shortened(shown) + clusterText(service)
}

function ownName({ namespace, name, isAmbiguous = false }: PlacedService): string {
  return isAmbiguous && namespace !== '' ? `${namespace}/${shownName(name)}` : shownName(name)
}

/** Returns ` in eu` if the organization has several clusters; otherwise ''. */
export function clusterText({ shownCluster = '' }: Pick<PlacedService, 'shownCluster'>): string {
  return shownCluster === '' ? '' : ` in ${shortened(shownCluster)}`
}

/** Returns the text on one line without control characters, truncated to `longest` characters. */
export function shortened(text: string, longest = MAX_NAME): string {
  const line = text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return line.length <= longest ? line : `${line.slice(0, longest - 1).toWellFormed()}…`
}

/** Joins short names: at most `wanted` of them, and how many more there are. */
export function namedUpTo(names: readonly string[], wanted: number): string {
  const most = Math.min(wanted, LISTED - 1)
  const rest = names.length - most
  const shown = names.slice(0, rest > 1 ? most : names.length).map((name) => shortened(name))
  return joinNames(rest > 1 ? [...shown, `${formatCount(rest)} more`] : shown)
}

/** Returns what a silent sender has not sent: any heartbeat, or one of several. */
export function unsentText({ had }: Pick<Problem, 'had'>): string {
  return had.length > 0 ? `not sent ${namedUpTo(had, 3)}` : 'sent no heartbeat'
}
