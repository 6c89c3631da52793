/** Rhythm: how often a sender repeats a group, learned so that its silence can be heard. */

const MINUTE = 60_000
/** Closer deliveries are copies by a second Alertmanager or a retry, and no repeat interval. */
const SHORTEST_GAP = MINUTE / 2
const SHORTEST_SILENCE = 5 * MINUTE
const UNKNOWN = 4 * 60 * MINUTE
const GAPS_WANTED = 2
const MISSED = 3

/** The longest pause, in milliseconds, between two deliveries that brought the same members, out of `gaps` pauses. */
export type Rhythm = { readonly longestGap: number; readonly gaps: number }

export type Group = Rhythm & { readonly members: string; readonly deliveredAt: number }

/**
 * A group after one more delivery, and the pause that it taught (null where none).
 * A changed membership is sent at once and teaches nothing: a storm's half minute is no rhythm.
 */
export function deliver(
  group: Group | null,
  delivery: { readonly members: string; readonly at: number },
): { readonly group: Group; readonly gap: number | null } {
  if (!group)
    return { group: { longestGap: 0, gaps: 0, members: delivery.members, deliveredAt: delivery.at }, gap: null }
  const deliveredAt = Math.max(group.deliveredAt, delivery.at)
  const pause = delivery.at - group.deliveredAt
  const gap = delivery.members === group.members && pause >= SHORTEST_GAP ? pause : null
  return { group: { ...withGap(group, gap), members: delivery.members, deliveredAt }, gap }
}

export function withGap(rhythm: Rhythm, gap: number | null): Rhythm {
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
