/** Sizes of the store on its disk. */
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Db } from './open.ts'

/** In bytes; `wal` is the write-ahead log, 0 where there is none now. */
export type Sizes = { readonly database: number; readonly wal: number; readonly free: number }

/** A disk that does not answer has nothing free. */
export function findSizes(db: Db): Sizes {
  return { database: sizeOf(db.file), wal: sizeOf(`${db.file}-wal`), free: findFreeDisk(db) ?? 0 }
}

/** What a user without special rights may still write beside the file, in bytes; null where the disk does not answer. */
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
