/** Checks of the process: what keeps a living server from being a good place to send to. */
import { roomOf, wholeMebibytes } from '../domain/doctor/disk-space.ts'
import type { Check } from '../operations/readiness.ts'

/** A loop that stood still for so long answers nobody in time, in milliseconds. */
const STALL = 1_000

/**
 * @param state.free bytes free beside the database, null where they cannot be known
 * @param state.minFree MiB
 * @param state.damage what is known of damage to the file, or null
 * @param state.stalled the longest stall of late, in milliseconds
 */
export function checkProcess(state: {
  readonly free: number | null
  readonly minFree: number
  readonly stalled: number
  readonly damage: string | null
  readonly isStopping: boolean
}): Check[] {
  const { free, minFree, stalled, damage, isStopping } = state
  return [
    { name: 'disk', detail: diskFault(free, minFree) },
    {
      name: 'event-loop',
      detail:
        stalled < STALL ? null : `the process stood still for ${Math.round(stalled)} ms; look at its CPU and disk`,
    },
    { name: 'integrity', detail: damage },
    { name: 'running', detail: isStopping ? 'incmon is stopping' : null },
  ]
}

function diskFault(free: number | null, minFree: number): string | null {
  if (free === null) return 'the disk of the database does not answer; look at it'
  return roomOf(free, minFree) === 'short'
    ? `${wholeMebibytes(free)} MiB are free beside the database, under min-free-disk = ${minFree}; make room`
    : null
}
