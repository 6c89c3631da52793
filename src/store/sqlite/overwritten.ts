/** Notices that another program wrote into the open database file, for example `cp other.db incmon.db`. */
import { fstatSync, openSync, readSync } from 'node:fs'
import type { Checkpoint } from './commit.ts'
import { isFull } from './fault.ts'

/**
 * How many parts are compared, spread over the file. The first page is one of them. A file of up to 1 MB is compared as a
 * whole, because new databases differ in a few bytes.
 */
const SAMPLES = 256
const SAMPLE_BYTES = 4_096

/** Where the WAL index (`-shm`) contains the salts of the log and the progress of checkpoints. */
const SALTS = { at: 32, bytes: 8 } as const
const COPIED_FRAMES = 96
const STARTED_FRAMES = 128
const INDEX_BYTES = 132

type Progress = { readonly text: string; readonly isCopying: boolean }
type Seen = { readonly progress: Progress; readonly changedAt: bigint; readonly size: bigint; readonly sample: Buffer }

/**
 * Returns a function that returns whether another program wrote into the file since the last call. SQLite changes the
 * file only in checkpoints. Every process that uses the log records its checkpoints in the WAL index: before the first
 * change, how many frames it will copy; after the last change, how many it copied. A new log gets new salts. So a change
 * of the file without any of these changes is foreign. A foreign change between two calls that also saw a checkpoint is
 * not noticed, nor one after a checkpoint that was killed, until the next checkpoint. The descriptors stay open until the
 * process ends, because closing them would release SQLite's locks.
 */
export function watchContent(file: string, checkpoint: Checkpoint): () => boolean {
  const [handle, index] = [openSync(file, 'r'), openSync(`${file}-shm`, 'r')]
  // After a crash, SQLite records all frames of the log as started.
  if (progressIn(index).isCopying) completeCheckpoint(checkpoint)
  let seen: Seen | null = null
  return () => {
    const before = seen
    // Read before the file, so that the next call sees any checkpoint that starts in between.
    const progress = progressIn(index)
    const { mtimeNs: changedAt, size } = fstatSync(handle, { bigint: true })
    if (before && before.changedAt === changedAt && before.size === size) {
      seen = { ...before, progress }
      return false
    }
    const sample = sampleOf(handle, size)
    seen = { progress, changedAt, size, sample }
    // `touch` changes the time and not the content.
    if (before === null || (before.size === size && before.sample.equals(sample))) return false
    const after = progressIn(index)
    return !after.isCopying && after.text === before.progress.text
  }
}

/** On a full disk, a later checkpoint completes it; until then, no change of the file counts as foreign. */
function completeCheckpoint(checkpoint: Checkpoint): void {
  try {
    checkpoint('PASSIVE')
  } catch (error) {
    if (!isFull(error)) throw error
  }
}

function progressIn(index: number): Progress {
  const bytes = Buffer.alloc(INDEX_BYTES)
  readSync(index, bytes, 0, INDEX_BYTES, 0)
  const salts = bytes.toString('hex', SALTS.at, SALTS.at + SALTS.bytes)
  // SQLite writes these numbers in the byte order of the machine. They are only compared with each other.
  const [copied, started] = [bytes.readUInt32LE(COPIED_FRAMES), bytes.readUInt32LE(STARTED_FRAMES)]
  return { text: `${salts} ${copied} ${started}`, isCopying: started !== copied }
}

function sampleOf(handle: number, size: bigint): Buffer {
  const bytes = Buffer.alloc(SAMPLES * SAMPLE_BYTES)
  const step = Math.floor(Number(size) / SAMPLES)
  for (let index = 0; index < SAMPLES; index += 1)
    readSync(handle, bytes, index * SAMPLE_BYTES, SAMPLE_BYTES, index * step)
  return bytes
}
