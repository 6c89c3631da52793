/** What the fake API server stores: objects with resource versions, and the history that a watch can resume from. */

// biome-ignore lint/suspicious/noExplicitAny: tests write objects of all kinds
export type Json = any
export type KubeObject = {
  readonly kind: string
  readonly apiVersion?: string
  readonly metadata: { readonly name: string; readonly namespace?: string } & Readonly<Record<string, Json>>
} & Readonly<Record<string, Json>>
export type Change = {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: Json
}

export function createStorage(now: () => number) {
  let version = 1000
  /** Watches can resume after this version. */
  let compacted = 0
  let changes: Change[] = []
  const objects = new Map<string, Json>()
  const listeners = new Set<(change: Change) => void>()
  const snapshots = new Map<string, Json[]>()
  const keyOf = ({ kind, metadata: { namespace, name } }: KubeObject) => `${kind}/${namespace ?? ''}/${name}`

  const record = (type: Change['type'], object: Json) => {
    const change = { version, type, object }
    changes.push(change)
    for (const listener of [...listeners]) listener(change)
  }

  return {
    /** Creates or replaces an object. Keeps its uid and its creation time. Returns what is stored. */
    put: (object: KubeObject): Json => {
      version += 1
      const before = objects.get(keyOf(object))
      const stored = {
        ...object,
        metadata: {
          uid: before?.metadata.uid ?? `00000000-0000-4000-8000-${String(version).padStart(12, '0')}`,
          creationTimestamp: before?.metadata.creationTimestamp ?? new Date(now()).toISOString().replace(/\.\d+/, ''),
          ...object.metadata,
          resourceVersion: String(version),
        },
      }
      objects.set(keyOf(object), stored)
      record(before ? 'MODIFIED' : 'ADDED', stored)
      return stored
    },
    delete: (kind: string, namespace: string, name: string): void => {
      const key = `${kind}/${namespace}/${name}`
      const before = objects.get(key)
      if (!before) throw new Error(`no ${key}`)
      version += 1
      objects.delete(key)
      record('DELETED', { ...before, metadata: { ...before.metadata, resourceVersion: String(version) } })
    },
    get: (kind: string, namespace: string, name: string): Json => objects.get(`${kind}/${namespace}/${name}`),
    all: (kind: string): Json[] =>
      [...objects]
        .filter(([key]) => key.startsWith(`${kind}/`))
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, one]) => one),
    version: () => version,
    /** Forgets the history, as etcd does after five minutes. Open pages of a list are gone, too. */
    compact: (): void => {
      compacted = version
      changes = []
      snapshots.clear()
    },
    /** Returns the changes after a version, or null if they are forgotten. */
    since: (after: number): readonly Change[] | null =>
      after < compacted ? null : changes.filter((change) => change.version > after),
    listen: (listener: (change: Change) => void): (() => void) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    snapshots,
  }
}

export type Storage = ReturnType<typeof createStorage>

/** Returns whether an object matches a field selector (`metadata.name=cart`) and a label selector (`app=cart`). */
export function matches(object: Json, fields: string | null, labels: string | null): boolean {
  return terms(fields, (path) => at(object, path)) && terms(labels, (name) => object.metadata.labels?.[name])
}

function terms(selector: string | null, read: (name: string) => unknown): boolean {
  return (selector ?? '').split(',').every((term) => {
    const [, name = '', operator, value = ''] = /^([^=!]*)(!=|==?)(.*)$/.exec(term) ?? []
    return name === '' || (String(read(name) ?? '') === value) === (operator !== '!=')
  })
}

function at(object: Json, path: string): unknown {
  return path.split('.').reduce((inner: Json, part) => inner?.[part], object)
}
