/** Simulates a disk that loses power: synced data is kept; the rest may or may not survive. */
import type { File, Step } from './trace.ts'

type Change = Extract<Step, { kind: 'write' | 'truncate' }>
type Content = { bytes: Buffer; size: number }
type Stored = {
  readonly durable: Content
  /** Writes that are not yet synced, in order. */
  pending: readonly Change[]
}

export type Disk = {
  readonly take: (step: Step) => void
  /**
   * Returns the files as they are after a power cut. `survives` decides for each unsynced write whether it reached the
   * disk.
   */
  readonly afterPowerCut: (survives: (index: number) => boolean) => Readonly<Record<File, Buffer>>
}

/**
 * After a failed sync, the data is lost because the operating system considers it written.
 * @param db the database before the first step, without a log
 */
export function createDisk(db: Buffer): Disk {
  const files: Record<File, Stored> = { db: stored(db), wal: stored(Buffer.alloc(0)) }
  const covered = new Map<string, readonly Change[]>()
  return {
    take: (step) => {
      if (step.kind === 'answer') return
      const file = files[step.file]
      if (step.kind === 'sync-begins') covered.set(step.thread, file.pending)
      else if (step.kind !== 'sync-ends') file.pending = [...file.pending, step]
      else if (step.outcome !== 'faked') {
        const changes = new Set(covered.get(step.thread))
        const settled = file.pending.filter((change) => changes.has(change))
        if (step.outcome === 'synced') for (const change of settled) apply(file.durable, change)
        file.pending = file.pending.filter((change) => !changes.has(change))
      }
    },
    afterPowerCut: (survives) => ({ db: image(files.db, survives), wal: image(files.wal, survives) }),
  }
}

function stored(bytes: Buffer): Stored {
  return { durable: { bytes: Buffer.from(bytes), size: bytes.length }, pending: [] }
}

function image({ durable, pending }: Stored, survives: (index: number) => boolean): Buffer {
  const content = { bytes: Buffer.from(durable.bytes.subarray(0, durable.size)), size: durable.size }
  for (const change of pending.filter((_, index) => survives(index))) apply(content, change)
  return content.bytes.subarray(0, content.size)
}

function apply(content: Content, change: Change): void {
  if (change.kind === 'truncate') {
    content.bytes.fill(0, change.size)
    content.size = change.size
    return
  }
  const end = change.offset + change.bytes.length
  if (end > content.bytes.length) {
    const grown = Buffer.alloc(end * 2)
    content.bytes.copy(grown)
    content.bytes = grown
  }
  change.bytes.copy(content.bytes, change.offset)
  content.size = Math.max(content.size, end)
}
