/** Checks of the process for /readyz. */
import { judgeDiskSpace, wholeMebibytes } from '../domain/doctor/disk-space.ts'
import type { Check } from '../operations/readiness.ts'

/** A stall of this many milliseconds delays all responses too much. */
const STALL = 1_000

/**
 * @param state.free free bytes on the disk of the database, null if unknown
 * @param state.minFree MiB
 * @param state.damage what is known about damage of the file, or null
 * @param state.stalled the longest recent stall in milliseconds
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
        stalled < STALL ? null : `the process was blocked for ${Math.round(stalled)} ms; check the CPU and the disk`,
    },
    { name: 'integrity', detail: damage },
    { name: 'running', detail: isStopping ? 'incmon is stopping' : null },
  ]
}

function diskFault(free: number | null, minFree: number): string | null {
  if (free === null) return 'the disk of the database does not respond; check it'
  return judgeDiskSpace(free, minFree) === 'short'
    ? `${wholeMebibytes(free)} MiB of disk space are free, less than min-free-disk = ${minFree}; free some space`
    : null
}
