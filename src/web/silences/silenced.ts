/** Finds out which of the displayed alerts are silenced, and until when. */
import { BUDGETS } from '../../domain/budgets.ts'
import type { AlertRecord } from '../../store/alerts.ts'
import { findMutedCount } from '../../store/silence-preview.ts'
import { listSilences } from '../../store/silences.ts'
import type { Silenced } from '../kit/silenced.tsx'
import type { Visit } from '../page.ts'

/** Counts the firing alerts that a silence would mute; 0 for a visitor who cannot silence. */
export async function mutedCount(
  { own, visitor }: Visit,
  matched: Parameters<typeof findMutedCount>[2],
): Promise<number> {
  return visitor.scopes.includes('write') ? own.read(findMutedCount, matched) : 0
}

/** The page with all silences that have not expired. */
export const CURRENT_SILENCES = { page: 1, limit: BUDGETS.silences.value }

type SilencedAlert = Pick<AlertRecord, 'status' | 'silencedBy'>
/** The end times of silences by id. */
export type SilenceEnds = ReadonlyMap<string, number>

/** Returns the end times of the silences if any of the alerts is silenced. */
async function silenceEndsOf(visit: Visit, alerts: readonly SilencedAlert[]): Promise<SilenceEnds> {
  if (!alerts.some(isSilenced)) return new Map()
  const { own, now } = visit
  const { items } = await own.read(listSilences, { expired: false }, now, CURRENT_SILENCES)
  return new Map(items.map(({ id, changesAt, endsAt }) => [id, changesAt ?? endsAt]))
}

/** Returns how many firing alerts are silenced; null if none are. */
export function silencedOf(alerts: readonly SilencedAlert[], ends: SilenceEnds): Silenced | null {
  const silenced = alerts.filter(isSilenced)
  if (silenced.length === 0) return null
  const untils = silenced.map(({ silencedBy }) => Math.max(...silencedBy.map((id) => ends.get(id) ?? -Infinity)))
  const until = untils.reduce((a, b) => Math.min(a, b))
  return { count: silenced.length, until: Number.isFinite(until) ? until : null }
}

/** Returns how many of a group's firing alerts are silenced. `silencedBy` has the silences of each of them. */
export function silencedOfGroup(
  { silencedBy }: { readonly silencedBy: readonly (readonly string[])[] },
  ends: SilenceEnds,
): Silenced | null {
  return silencedOf(silencedBy.map(asAlert), ends)
}

/** Returns the end times of the silences if any alert of the groups is silenced. */
export function silenceEndsOfGroups(
  visit: Visit,
  groups: readonly { readonly silencedBy: readonly (readonly string[])[] }[],
): Promise<SilenceEnds> {
  return silenceEndsOf(
    visit,
    groups.flatMap(({ silencedBy }) => silencedBy.map(asAlert)),
  )
}

function asAlert(silencedBy: readonly string[]): SilencedAlert {
  return { status: 'firing', silencedBy }
}

function isSilenced({ status, silencedBy }: SilencedAlert): boolean {
  return status === 'firing' && silencedBy.length > 0
}
