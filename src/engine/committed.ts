/** Counts what a batch has committed. */
import type { Batch } from './batch.ts'
import type { Received } from './changes/receive/delivery.ts'
import type { Queued } from './queue.ts'

/** Statistics of a batch that is on disk. Dry runs are not counted. */
export type Committed = {
  readonly deliveries: number
  readonly items: number
  readonly rejected: number
  /** The number of deliveries whose Idempotency-Key was already stored. */
  readonly repeated: number
  /** The time from the first decision to the end of the sync. */
  readonly milliseconds: number
}

/** Counts stored deliveries and items. A chunked delivery is counted once, with its last chunk. */
export function count(
  inputs: readonly Queued[],
  { outcomes }: Pick<Batch, 'outcomes'>,
): Omit<Committed, 'milliseconds'> {
  const sum = { deliveries: 0, items: 0, rejected: 0, repeated: 0 }
  outcomes.forEach((result, index) => {
    const delivery = inputs[index]?.delivery
    if (!delivery || 'error' in result) return
    const { kind } = result.outcome as Received
    if (kind !== 'part') sum.deliveries += 1
    if (kind === 'repeated') sum.repeated += 1
    else {
      sum.items += delivery.intake.accepted.length
      sum.rejected += delivery.intake.rejected.length
    }
  })
  return sum
}
