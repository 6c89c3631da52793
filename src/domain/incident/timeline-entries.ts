/** Selects the stored entries that are rows of a timeline. */
import type { EntryFact } from './facts.ts'

/**
 * Returns the entries without those that say nothing new: the resolution of a merged incident, and the assumed end of an
 * alert that was reported at only one moment.
 */
export function toldEntries(
  entries: readonly EntryFact[],
  known: ReadonlyMap<string, { readonly startsAt: number }>,
): readonly EntryFact[] {
  const merged = new Set(entries.flatMap(({ kind, at }) => (kind === 'merged' ? at : [])))
  return withoutFallsAtEnds(entries).filter(({ kind, code, at, ref }) => {
    if (kind === 'status' && code === 'resolved') return !merged.has(at)
    const began =
      kind === 'ended' && code === 'expired' ? known.get(ref?.replace('alert/', '') ?? '')?.startsAt : undefined
    return began === undefined || at - began >= 1000
  })
}

/** A rule with two severities ends one after the other. An alert that becomes milder in the second of its end has ended. */
function withoutFallsAtEnds(entries: readonly EntryFact[]): readonly EntryFact[] {
  const momentOf = ({ ref, at }: EntryFact) => `${ref} ${Math.floor(at / 1000)}`
  const ends = new Set(entries.filter(({ kind }) => kind === 'ended').map(momentOf))
  const isFall = ({ kind, code, text }: EntryFact) => kind === 'alert' && code !== null && !text.endsWith(` to ${code}`)
  return entries.filter((entry) => !isFall(entry) || !ends.has(momentOf(entry)))
}
