/** After a jump of the clock, what senders repeat seems overdue: they get time to repeat it, as after a start. */
import { awaitedSince, followJump } from './changes/sweep.ts'
import type { State } from './state/state.ts'

type Clock = { readonly now: () => number; readonly jumps: () => number }

/** @param awaitsRepeats whether the senders get time to repeat their alerts after a start, too */
export function createFollower({ now, jumps }: Clock, awaitsRepeats: boolean) {
  let followed = jumps()
  /** Returns the time, and whether the clock has jumped since the last call of `follow`. */
  const read = () => ({ at: now(), isBehind: jumps() !== followed })
  return {
    isBehind: () => read().isBehind,
    /** Must not run during a batch. */
    follow: ({ organizations, journal }: State) => {
      const { at, isBehind } = read()
      if (!isBehind) return
      followed = jumps()
      for (const organization of organizations.values()) followJump(organization, at)
      journal.clear()
    },
    awaitedSince: ({ organizations }: State, organizationId: number): number | null => {
      const { at, isBehind } = read()
      if (isBehind) return at
      const organization = organizations.get(organizationId)
      return organization ? awaitedSince(organization, at) : awaitsRepeats ? at : null
    },
  }
}
