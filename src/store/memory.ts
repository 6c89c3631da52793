/** Rows in memory: what was read or written last of the tables that every delivery asks, and writes that wait for the commit. */
import { createGenerations, type Generations } from './sqlite/generations.ts'

/** Tables that are remembered together: a write to one of them may change what is remembered of all. */
const SHELVES = {
  tokens: 'tokens',
  organizations: 'tokens',
  senders: 'senders',
  groups: 'groups',
  services: 'places',
  aliases: 'places',
  image_projects: 'places',
  incidents: 'incidents',
  pipelines: 'changes',
  events: 'changes',
  alerts: 'alerts',
  active_alerts: 'alerts',
  active_fingerprints: 'alerts',
  alert_counts: 'alerts',
  service_alert_counts: 'alerts',
  silences: 'silences',
} as const

export type ShelfName = (typeof SHELVES)[keyof typeof SHELVES]

/** What a statement asks of memory before and after it runs. */
export type Effect = {
  /** Its tables' waiting writes come first, so that it sees them. */
  readonly reads: readonly ShelfName[]
  /** What it writes makes of what is remembered: nothing, new answers, or new rows as well. */
  readonly writes: { readonly shelf: ShelfName; readonly inserts: boolean } | null
}

/** Of a record or a write; what has a number bears that, since a text would have to be made and hashed. */
type Key = string | number

type Shelf = {
  /** Records by key: an insert cannot change them. */
  readonly rows: Generations<Key, unknown>
  /** Answers to questions: any write may change them. */
  readonly answers: Generations<unknown, unknown>
  /** Answers about objects that others hold, gone with them; null where there are none. */
  held: WeakMap<object, unknown> | null
  readonly waiting: Map<Key, Waiting>
}

type Waiting = { readonly state: unknown; readonly write: (state: never) => void }

/** Entries of one kind on a shelf at most; then the oldest go. */
const MOST = 40_000

export type Memory = {
  /** A record, loaded where it is not remembered; null is not remembered, since an insert would change it. */
  readonly row: <Row>(shelf: ShelfName, key: Key, load: () => Row | null) => Row | null
  /** The answer to a question of the tables of a shelf, asked again once one of them has been written; an object as key is not kept alive. */
  readonly answer: <Answer>(shelf: ShelfName, key: unknown, load: () => Answer) => Answer
  /** Remembers a record as it is now. */
  readonly keep: (shelf: ShelfName, key: Key, row: unknown) => void
  readonly forget: (shelf: ShelfName, key: Key) => void
  /** Writes `state` before the transaction ends, or before a statement that names its tables; the last of a key counts. */
  readonly later: <State>(shelf: ShelfName, key: Key, state: State, write: (state: State) => void) => void
  /** What waits to be written under that key. */
  readonly waiting: <State>(shelf: ShelfName, key: Key) => State | null
}

export function createMemory() {
  const shelves = new Map<ShelfName, Shelf>()
  for (const name of Object.values(SHELVES)) {
    shelves.set(name, {
      rows: createGenerations(MOST),
      answers: createGenerations(MOST),
      held: null,
      waiting: new Map(),
    })
  }
  const shelf = (name: ShelfName) => shelves.get(name) as Shelf

  const flush = (name: ShelfName) => {
    const { waiting } = shelf(name)
    if (waiting.size === 0) return
    const writes = [...waiting.values()]
    // Emptied first: the writes are statements that name the table.
    waiting.clear()
    for (const { state, write } of writes) write(state as never)
  }
  const memory: Memory = {
    row: <Row>(name: ShelfName, key: Key, load: () => Row | null) => {
      const { rows } = shelf(name)
      const known = rows.get(key)
      if (known !== undefined) return known as Row
      const loaded = load()
      if (loaded !== null) rows.set(key, loaded)
      return loaded
    },
    answer: <Answer>(name: ShelfName, key: unknown, load: () => Answer) => {
      const asked = shelf(name)
      const isHeld = typeof key === 'object' && key !== null
      const known = isHeld ? asked.held?.get(key) : asked.answers.get(key)
      if (known !== undefined) return known as Answer
      const loaded = load()
      if (isHeld) {
        asked.held ??= new WeakMap()
        asked.held.set(key, loaded)
      } else asked.answers.set(key, loaded)
      return loaded
    },
    keep: (name, key, row) => shelf(name).rows.set(key, row),
    forget: (name, key) => shelf(name).rows.delete(key),
    later: (name, key, state, write) => void shelf(name).waiting.set(key, { state, write }),
    waiting: <State>(name: ShelfName, key: Key) => (shelf(name).waiting.get(key)?.state ?? null) as State | null,
  }
  return {
    memory,
    /** Before a statement runs. */
    before: ({ reads }: Effect) => {
      for (const name of reads) flush(name)
    },
    /** After a statement that did not say that what is remembered stays true. */
    after: ({ writes }: Effect) => {
      if (!writes) return
      const written = shelf(writes.shelf)
      written.answers.clear()
      written.held = null
      if (!writes.inserts) written.rows.clear()
    },
    /** Before a commit. */
    flushAll: () => {
      for (const name of shelves.keys()) flush(name)
    },
    /** After a rollback, or when another process has written: nothing that is remembered may be true. */
    clear: () => {
      for (const one of shelves.values()) {
        one.rows.clear()
        one.answers.clear()
        one.held = null
        one.waiting.clear()
      }
    },
  }
}

const WRITE = /^\s*(insert|replace|update|delete)\b(?:\s+or\s+\w+)?(?:\s+into|\s+from)?\s+"?(\w+)/i

/** What a statement does to the tables that are remembered, by its text. */
export function effectOf(text: string): Effect {
  const named = Object.entries(SHELVES).filter(([table]) => new RegExp(`\\b${table}\\b`).test(text))
  const reads = [...new Set(named.map(([, shelf]) => shelf))]
  const [, verb = '', table = ''] = WRITE.exec(text) ?? []
  const written = Object.hasOwn(SHELVES, table) ? SHELVES[table as keyof typeof SHELVES] : null
  const inserts = verb.toLowerCase() === 'insert' && !/\bdo update\b/i.test(text)
  // An insert reads nothing of its own table that a waiting write could change.
  const own = inserts ? written : null
  return {
    reads: reads.filter((shelf) => shelf !== own),
    writes: written === null ? null : { shelf: written, inserts },
  }
}
