/** Which active alert may have a name, a fingerprint or a logical key: all of them in memory, so that what is new is known to be new without a look at the file. */
import { randomInt } from 'node:crypto'

export type Identities = {
  /** Whether all is known that is written. */
  readonly isCurrent: () => boolean
  /** The first alert whose names are to be read; `changes`: how often alerts that were there already have got names. */
  readonly unknownFrom: (changes: number) => number
  /** Takes what was read from there on; `isAll`: up to the newest that there is. */
  readonly learn: (changes: number, names: Iterable<Named>, isAll: boolean) => void
  /** The alerts that may have the name; they are found by a hash, so that whoever asks must look. */
  readonly find: (name: string) => readonly number[]
  readonly add: (name: string, alertId: number) => void
  readonly remove: (name: string, alertId: number) => void
  /** We have given a name to an alert that was there already, and counted it. */
  readonly changed: () => void
}
export type Named = readonly [name: string, alertId: number]

/** One alert nearly always. */
type Entry = number | readonly number[]
type Known = { readonly changes: number; readonly newest: number }
/** What can be taken back: an entry, and what was known; null: the reading of names. */
type Change = { readonly hash: number; readonly before: Entry | undefined; readonly known: Known } | null

const NONE: readonly number[] = []
/** Of no name. */
const NO_HASH = -1

export function createIdentities() {
  // Small whole numbers: names would take three times the memory.
  const entries = new Map<number, Entry>()
  const changes: Change[] = []
  let known: Known | null = null
  let isCurrent = false

  const put = (hash: number, entry: Entry | undefined) => {
    if (entry === undefined) entries.delete(hash)
    else entries.set(hash, entry)
  }
  const change = (name: string, to: (ids: readonly number[]) => readonly number[]) => {
    if (!known) return
    const hash = hashOf(name)
    const before = entries.get(hash)
    changes.push({ hash, before, known })
    put(hash, entryOf(to(idsOf(before))))
  }
  const forget = () => {
    entries.clear()
    known = null
    isCurrent = false
  }
  const identities: Identities = {
    isCurrent: () => isCurrent,
    unknownFrom: (count) => (known?.changes === count ? known.newest + 1 : 0),
    learn: (count, names, isAll) => {
      if (known?.changes !== count) forget()
      let newest = known?.newest ?? 0
      for (const [name, alertId] of names) {
        const hash = hashOf(name)
        put(hash, entryOf(without(idsOf(entries.get(hash)), alertId).concat(alertId)))
        newest = Math.max(newest, alertId)
      }
      changes.push(null)
      known = { changes: count, newest }
      isCurrent = isAll
    },
    find: (name) => idsOf(entries.get(hashOf(name))),
    add: (name, alertId) => {
      change(name, (ids) => without(ids, alertId).concat(alertId))
      if (known && alertId > known.newest) known = { ...known, newest: alertId }
    },
    remove: (name, alertId) => change(name, (ids) => without(ids, alertId)),
    changed: () => {
      if (!known) return
      changes.push({ hash: NO_HASH, before: undefined, known })
      known = { ...known, changes: known.changes + 1 }
    },
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
        if (last && known) known = last.known
        if (last === null) forget()
      }
    },
    /** After a commit nothing is taken back. */
    settle: () => {
      changes.length = 0
    },
    /** When another process has written. */
    doubt: () => {
      isCurrent = false
    },
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
