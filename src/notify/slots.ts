/** What many messages share: the connections, and the time of the main thread. */
import { createTurns } from '../actions/turns.ts'

export const takeTurn = createTurns()

type Slots = {
  /** Takes a slot for an organization. Returns a function that frees the slot, or null if no slot is free. */
  readonly take: (organizationId: number) => (() => void) | null
  readonly takenBy: (organizationId: number) => number
}

/**
 * Limits how many messages are sent, because each needs a connection.
 * @param most the number of messages at the same time, in total and for each organization
 */
export function createSlots(most: { readonly inAll: number; readonly perOrganization: number }): Slots {
  const taken = new Map<number, number>()
  let all = 0
  return {
    take: (organizationId) => {
      const own = taken.get(organizationId) ?? 0
      if (all >= most.inAll || own >= most.perOrganization) return null
      all += 1
      taken.set(organizationId, own + 1)
      return () => {
        all -= 1
        const left = (taken.get(organizationId) ?? 1) - 1
        if (left > 0) taken.set(organizationId, left)
        else taken.delete(organizationId)
      }
    },
    takenBy: (organizationId) => taken.get(organizationId) ?? 0,
  }
}
