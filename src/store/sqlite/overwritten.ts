/** Notices that another program wrote into the open database file, for example `cp other.db incmon.db`. */
import { fstatSync, openSync, readSync } from 'node:fs'
import type { Checkpoint } from './commit.ts'

/** How many pages are compared, spread over the file. The first page is one of them. */
const SAMPLES = 16
const SAMPLE_BYTES = 512

type Seen = ReturnType<Checkpoint> & { readonly changedAt: bigint; readonly size: bigint; readonly sample: string }

/**
 * Returns a function that returns whether another program wrote into the file since the last call. SQLite changes the
 * file only in checkpoints, so any other change is foreign. The descriptor stays open until the process ends, because
 * closing it would release SQLite's locks.
 * @param mayCopy returns whether a checkpoint may be running in another thread
 */
export function watchContent(file: string, checkpoint: Checkpoint): (mayCopy: boolean) => boolean {
  const handle = openSync(file, 'r')
  let seen: Seen | null = null
  const sampleOf = (size: bigint) => {
    const bytes = Buffer.alloc(SAMPLES * SAMPLE_BYTES)
    const step = Math.floor(Number(size) / SAMPLES)
    for (let index = 0; index < SAMPLES; index += 1)
      readSync(handle, bytes, index * SAMPLE_BYTES, SAMPLE_BYTES, index * step)
    return bytes.toString('latin1')
  }
  return (mayCopy) => {
    const now = checkpoint('NOOP')
    const { mtimeNs: changedAt, size } = fstatSync(handle, { bigint: true })
    const before = seen
    if (before && before.changedAt === changedAt && before.size === size) {
      seen = { ...before, ...now }
      return false
    }
    seen = { ...now, changedAt, size, sample: sampleOf(size) }
    const isCopied = before === null || mayCopy || now.copied !== before.copied || now.log < before.log
    // `touch` changes the time and not the content.
    return !isCopied && (seen.size !== before.size || seen.sample !== before.sample)
  }
}
