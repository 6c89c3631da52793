/** Rhythm: how often a sender repeats a group, learned so that its silence can be heard. */

const MINUTE = 60_000
/** Closer deliveries are copies by a second Alertmanager or a retry, and no repeat interval. */
const SHORTEST_GAP = MINUTE / 2
const SHORTEST_SILENCE = 5 * MINUTE
const UNKNOWN = 4 * 60 * MINUTE
const GAPS_WANTED = 2
const MISSED = 3
/**
 * What each shorter pause takes of the difference: an outage of a day is forgotten after some dozens of repeats, while a
 * pause that comes back every ninth time never fades to a third, below which it would be taken for an end.
 */
const FADING = 1 / 8

/** The longest pause, in milliseconds, between two deliveries that brought the same members, out of `gaps` pauses. */
export type Rhythm = { readonly longestGap: number; readonly gaps: number }

export type Group = Rhythm & { readonly members: string; readonly deliveredAt: number }

/** A group after one more delivery, and the pause that it taught; null where none. */
export type Delivered = { readonly group: Group; readonly gap: number | null }

/**
 * A group after one more delivery.
 * A changed membership is sent at once and teaches nothing: a storm's half minute is no rhythm.
 */
export function deliver(group: Group | null, delivery: { readonly members: string; readonly at: number }): Delivered {
  if (!group)
    return { group: { longestGap: 0, gaps: 0, members: delivery.members, deliveredAt: delivery.at }, gap: null }
  const deliveredAt = Math.max(group.deliveredAt, delivery.at)
  const pause = delivery.at - group.deliveredAt
  const gap = delivery.members === group.members && pause >= SHORTEST_GAP ? pause : null
  return { group: { ...withFadingGap(group, gap), members: delivery.members, deliveredAt }, gap }
}

/** Of a group, whose pauses are alike: what was longer than they are fades, once the rhythm is known. */
function withFadingGap(rhythm: Rhythm, gap: number | null): Rhythm {
  const { longestGap, gaps } = rhythm
  if (gap === null || gap >= longestGap || gaps < GAPS_WANTED) return withGap(rhythm, gap)
  return { longestGap: longestGap - Math.round((longestGap - gap) * FADING), gaps: gaps + 1 }
}

/**
 * Of a receiver, whose groups may each have another rhythm: the longest stays, else a new slow group would end at once.
 * Longer than is assumed of the unknown, it may be an outage's: it fades with the group that showed it, down to that.
 */
export function withPause(receiver: Rhythm, before: Rhythm | null, { group, gap }: Delivered): Rhythm {
  const { longestGap, gaps } = withGap(receiver, gap)
  const isFading = before?.longestGap === longestGap && group.longestGap < longestGap
  const least = Math.min(longestGap, UNKNOWN)
  return { longestGap: isFading ? Math.max(least, group.longestGap) : longestGap, gaps }
}

function withGap(rhythm: Rhythm, gap: number | null): Rhythm {
  return gap === null ? rhythm : { longestGap: Math.max(rhythm.longestGap, gap), gaps: rhythm.gaps + 1 }
}

/**
 * The silence, in milliseconds, after which an alert of a group is believed over: three missed deliveries, at least
 * five minutes. Before the group has shown its own rhythm its receiver's counts, before that four hours.
 */
export function silenceOf(group: Rhythm | null, receiver: Rhythm): number {
  const known = [group, receiver].find((one) => one !== null && one.gaps >= GAPS_WANTED)
  return Math.max(SHORTEST_SILENCE, MISSED * (known?.longestGap ?? UNKNOWN))
}
