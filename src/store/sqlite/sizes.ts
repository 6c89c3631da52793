/** Sizes of the database and its disk. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Db } from './open.ts'

/** In bytes. `wal`: the size of the write-ahead log; 0 if there is none. */
export type Sizes = { readonly database: number; readonly wal: number; readonly free: number }

/** Returns the sizes. If the free space cannot be determined, `free` is 0. */
export function findSizes(db: Db): Sizes {
  return { database: sizeOf(db.file), wal: sizeOf(`${db.file}-wal`), free: findFreeDisk(db) ?? 0 }
}

/** Returns the bytes available to an unprivileged user, or null if they cannot be determined. */
export function findFreeDisk({ file }: Db): number | null {
  try {
    const { bavail, bsize } = statfsSync(dirname(file))
    return bavail * bsize
  } catch {
    return null
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
