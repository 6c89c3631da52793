/** Which active alert may have a name, a fingerprint or a logical key: all of them in memory, so that what is new is known to be new without a look at the file. */
import { randomInt } from 'node:crypto'

export type Identities = {
  /** The alerts that may have the name; they are found by a hash, so that whoever asks must look. `names`: all that there are, read where they are not known. */
  readonly find: (name: string, names: () => Iterable<Named>) => readonly number[]
  readonly add: (name: string, alertId: number) => void
  readonly remove: (name: string, alertId: number) => void
}
export type Named = readonly [name: string, alertId: number]

/** One alert nearly always. */
type Entry = number | readonly number[]
/** What can be taken back: an entry; null: the reading of all. */
type Change = { readonly hash: number; readonly before: Entry | undefined } | null

const NONE: readonly number[] = []

export function createIdentities() {
  // Small whole numbers: names would take three times the memory.
  const entries = new Map<number, Entry>()
  const changes: Change[] = []
  let isKnown = false

  const put = (hash: number, entry: Entry | undefined) => {
    if (entry === undefined) entries.delete(hash)
    else entries.set(hash, entry)
  }
  const change = (name: string, to: (ids: readonly number[]) => readonly number[]) => {
    // What is written before all is read is read with it.
    if (!isKnown) return
    const hash = hashOf(name)
    const before = entries.get(hash)
    changes.push({ hash, before })
    put(hash, entryOf(to(idsOf(before))))
  }
  const forget = () => {
    entries.clear()
    isKnown = false
  }
  const read = (names: Iterable<Named>) => {
    forget()
    for (const [name, alertId] of names) {
      const hash = hashOf(name)
      put(hash, entryOf([...idsOf(entries.get(hash)), alertId]))
    }
    changes.push(null)
    isKnown = true
  }
  const identities: Identities = {
    find: (name, names) => {
      if (!isKnown) read(names())
      return idsOf(entries.get(hashOf(name)))
    },
    add: (name, alertId) => change(name, (ids) => without(ids, alertId).concat(alertId)),
    remove: (name, alertId) => change(name, (ids) => without(ids, alertId)),
  }
  return {
    identities,
    /** Where a savepoint begins. */
    mark: () => changes.length,
    /** Takes back what was changed since. */
    takeBack: (mark: number) => {
      while (changes.length > mark) {
        const last = changes.pop()
        if (last) put(last.hash, last.before)
        else forget()
      }
    },
    /** After a commit nothing is taken back. */
    settle: () => {
      changes.length = 0
    },
    /** When another process has written. */
    forget,
  }
}

function idsOf(entry: Entry | undefined): readonly number[] {
  if (entry === undefined) return NONE
  return typeof entry === 'number' ? [entry] : entry
}

function without(ids: readonly number[], alertId: number): readonly number[] {
  return ids.length === 0 ? NONE : ids.filter((id) => id !== alertId)
}

function entryOf(ids: readonly number[]): Entry | undefined {
  return ids.length > 1 ? ids : ids[0]
}

/** So that nobody can choose names of one hash. */
const SEED = randomInt(2 ** 31)

/** 30 bits of FNV-1a: a number of that size is no object. */
function hashOf(name: string): number {
  let hash = SEED
  for (let index = 0; index < name.length; index += 1) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}
