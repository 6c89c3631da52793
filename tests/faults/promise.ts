/** What responses promise, and whether a database keeps it. */
import { writeFileSync } from 'node:fs'
import { openStore } from '../../src/store/sqlite/open.ts'
import { uuidBytes, uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { acknowledged } from './load.ts'
import type { File, Step } from './trace.ts'

const STATUSES = ['open', 'identified', 'resolved']

/** Returns event ids and, for an incident, `id status`, which means that it has reached at least this status. */
export function promisesOf(step: Step): string[] {
  if (step.kind !== 'answer' || typeof step.body !== 'object' || step.body === null) return []
  const { status, body } = step
  if ('received' in body) return acknowledged({ status, body })
  const isIncident = 'origin' in body && 'id' in body && 'status' in body
  return isIncident && status < 300 ? [`${body.id} ${body.status}`] : []
}

/** Returns the number of acknowledged events, and those whose row had not been synced by then. */
export function findUnsynced(steps: readonly Step[]): { readonly checked: number; readonly unsynced: string[] } {
  const written: Buffer[] = []
  const covered = new Map<string, number>()
  const unsynced: string[] = []
  let synced = 0
  let checked = 0
  for (const step of steps) {
    if (step.kind === 'answer') {
      const ids = promisesOf(step).filter(isEvent)
      checked += ids.length
      const onDisk = written.slice(0, synced)
      unsynced.push(...ids.filter((id) => !onDisk.findLast((bytes) => bytes.includes(uuidBytes(id)))))
    } else if (step.file === 'wal') {
      if (step.kind === 'write') written.push(step.bytes)
      if (step.kind === 'sync-begins') covered.set(step.thread, written.length)
      if (step.kind === 'sync-ends' && step.outcome === 'synced')
        synced = Math.max(synced, covered.get(step.thread) ?? 0)
    }
  }
  return { checked, unsynced }
}

function isEvent(promise: string): boolean {
  return !promise.includes(' ')
}

/** Opens the files like a server after a power cut. Returns the broken promises or the damage. */
export function findLost(file: string, files: Readonly<Record<File, Buffer>>, promised: Iterable<string>): string[] {
  writeFileSync(file, files.db)
  writeFileSync(`${file}-wal`, files.wal)
  return missing(file, promised)
}

/** Returns the promises that the database does not keep, or its damage; empty if all is well. */
export function missing(file: string, promised: Iterable<string>): string[] {
  const db = openStore(file)
  try {
    const found = new Set(db.all(db.sql.selectFrom('events').select('uuid')).map(({ uuid }) => uuidFromBytes(uuid)))
    const incidents = db.sql.selectFrom('incidents').select(['id', 'uuid', 'status'])
    const documented = new Set(
      db.all(db.sql.selectFrom('postmortems').select('incident_id')).map(({ incident_id }) => incident_id),
    )
    for (const { id, uuid, status } of db.all(incidents)) {
      const reached = STATUSES.slice(0, STATUSES.indexOf(status) + 1)
      // A resolved incident must have its postmortem.
      for (const one of reached)
        if (one !== 'resolved' || documented.has(id)) found.add(`${uuidFromBytes(uuid)} ${one}`)
    }
    const damage = String(db.pragma('integrity_check'))
    const lost = [...promised].filter((promise) => !found.has(promise))
    return damage === 'ok' ? lost : [damage, ...lost]
  } finally {
    // A file that is only inspected does not have to be synced.
    db.pragma('synchronous = OFF')
    db.close()
  }
}
