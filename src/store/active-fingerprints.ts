/** Who is who among active alerts: found by a fingerprint under which one was seen, in which cluster, else by its logical key. */
import type { Fingerprint } from '../domain/alert/fingerprints.ts'
import type { Source } from '../domain/event/event.ts'
import type { ActiveAlert } from './active-alerts.ts'
import type { Identities, Named } from './identities.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'

/** Between a cluster and a fingerprint; no cluster is called by two lines. */
const MARK = '\n'

/** A fingerprint as it is stored: a sender's behind the cluster of its token, which may be ''; our own are unique. */
export function within(source: Source, cluster: string, fingerprint: string): string {
  const isOurs = source === 'cluster' || source === 'ci'
  return isOurs ? fingerprint : `${cluster.replaceAll(MARK, ' ')}${MARK}${fingerprint}`
}

/** The fingerprint as its sender knows it. */
export function withoutCluster(stored: string): string {
  return stored.slice(stored.indexOf(MARK) + 1)
}

type Owned = { readonly organizationId: number; readonly source: Source }

function nameOf({ organizationId, source }: Owned, kind: 'fingerprint' | 'key', value: string): string {
  return `${organizationId} ${source} ${kind} ${value}`
}

/** The active alert that was seen last under a fingerprint, as it is stored; null where there is none. */
export function findByFingerprint(db: Db, owner: Owned, fingerprint: string): number | null {
  const name = nameOf(owner, 'fingerprint', fingerprint)
  const ids = current(db).find(name)
  // What is new need not even be looked for in memory.
  if (ids.length === 0) return null
  const load = () => {
    const id = ids.find((one) => db.first(hasFingerprint, { id: one, ...owner, fingerprint }) !== undefined)
    return id === undefined ? null : { id }
  }
  return db.memory.row('alerts', name, load)?.id ?? null
}

/** The newest active alert of a logical key; null where there is none. */
export function findByLogicalKey(db: Db, owner: Owned, logicalKey: string): number | null {
  const ids = current(db).find(nameOf(owner, 'key', logicalKey))
  if (ids.length === 0) return null
  const has = (id: number) => db.first(hasLogicalKey, { id, ...owner, logicalKey }) !== undefined
  return ids.toSorted((a, b) => b - a).find(has) ?? null
}

/** Makes an alert that was just stored known by its logical key. */
export function nameActiveAlert(db: Db, { id, organizationId, alert }: ActiveAlert): void {
  const { source, logicalKey } = alert
  current(db).add(nameOf({ organizationId, source }, 'key', logicalKey), id)
}

/** An alert that is about to leave the active ones is found no more. */
export function unnameActiveAlert(db: Db, id: number): void {
  for (const [name] of namesBetween(db, id, id)) db.identities.remove(name, id)
}

/** An alert that goes leaves its number to the next where it was the newest: whoever knows it by that must read again. */
export function forgetAlertNumbers(db: Db, ids: readonly number[]): void {
  const newest = db.first(newestAlert, {})?.id
  if (newest != null && ids.includes(newest)) countChange(db)
}

/** Writes those fingerprints of an alert that are new or have changed, and forgets what it no longer has. `cluster`: the sender's. */
export function storeFingerprints(
  db: Db,
  { organizationId, id, alert, fingerprints }: ActiveAlert,
  cluster: string,
  before: readonly Fingerprint[] | null = null,
): void {
  const owner = { organizationId, source: alert.source }
  const isNew = before === null
  for (const known of before ?? []) {
    if (fingerprints.some(({ fingerprint }) => fingerprint === known.fingerprint)) continue
    drop(db, owner, id, within(alert.source, cluster, known.fingerprint))
  }
  for (const one of fingerprints) {
    if (before?.some((known) => isSame(known, one))) continue
    const row = { fingerprint: within(alert.source, cluster, one.fingerprint), id, ...timesOf(one) }
    const isKnown = before?.some(({ fingerprint }) => fingerprint === one.fingerprint)
    if (isKnown && db.run(change, row) > 0) continue
    give(db, owner, row)
    if (!isNew) countChange(db)
  }
}

function isSame(a: Fingerprint, b: Fingerprint): boolean {
  return a.fingerprint === b.fingerprint && a.startedAt === b.startedAt && a.ended === b.ended
}

function timesOf({ startedAt, ended }: Fingerprint) {
  return { startedAt, ended: ended ? 1 : 0 }
}

/** One more fingerprint of our own making for an alert, unless another has it. */
export function addFingerprint(db: Db, { organizationId, id, alert }: ActiveAlert, fingerprint: string): void {
  const owner = { organizationId, source: alert.source }
  if (findByFingerprint(db, owner, fingerprint) !== null) return
  give(db, owner, { fingerprint, id, startedAt: alert.startsAt, ended: 0 })
  countChange(db)
}

type Row = { readonly fingerprint: string; readonly id: number; readonly startedAt: number; readonly ended: number }

/** Whoever had the fingerprint has it no more: it is that of one alert. */
function give(db: Db, owner: Owned, row: Row): void {
  const before = findByFingerprint(db, owner, row.fingerprint)
  if (before !== null) drop(db, owner, before, row.fingerprint)
  db.run(put, row)
  const name = nameOf(owner, 'fingerprint', row.fingerprint)
  current(db).add(name, row.id)
  db.memory.forget('alerts', name)
}

function drop(db: Db, owner: Owned, id: number, fingerprint: string): void {
  db.run(remove, { id, fingerprint })
  db.identities.remove(nameOf(owner, 'fingerprint', fingerprint), id)
}

/** With all names that are written by now. What is new since we looked has a higher number, unless it was counted. */
function current(db: Db): Identities {
  let isMore = true
  while (isMore) isMore = readNamesAhead(db, AT_ONCE)
  return db.identities
}

/**
 * Reads the names of so many more alerts, so that whoever asks next has fewer to wait for; whether any may be left.
 * Inside a transaction.
 */
export function readNamesAhead(db: Db, most: number): boolean {
  const { identities } = db
  if (identities.isCurrent()) return false
  const changes = db.first(countedChanges, {})?.count ?? 0
  const from = identities.unknownFrom(changes)
  const last = db.all(alertsBehind, { from, most }).at(-1)?.id
  identities.learn(changes, last === undefined ? [] : namesBetween(db, from, last), last === undefined)
  return last !== undefined
}

/** Other processes read all names again: they look for those of new alerts alone. */
function countChange(db: Db): void {
  db.run(count, {})
  db.identities.changed()
}

const AT_ONCE = 10_000

function namesBetween(db: Db, from: number, to: number): Named[] {
  return [
    ...db.all(fingerprintsBetween, { from, to }).map((row): Named => [nameOf(row, 'fingerprint', row.name), row.id]),
    ...db.all(logicalKeysBetween, { from, to }).map((row): Named => [nameOf(row, 'key', row.name), row.id]),
  ]
}

const alertsBehind = query<{ from: number; most: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .select('alert_id as id')
    .where('alert_id', '>=', hole('from'))
    .orderBy('alert_id')
    .limit(hole('most')),
)
const logicalKeysBetween = query<{ from: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .select(['alert_id as id', 'organization_id as organizationId', 'source', 'logical_key as name'])
    .where('alert_id', '>=', hole('from'))
    .where('alert_id', '<=', hole('to')),
)
const fingerprintsBetween = query<{ from: number; to: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .innerJoin('active_fingerprints', 'active_fingerprints.alert_id', 'active_alerts.alert_id')
    .select(['active_alerts.alert_id as id', 'organization_id as organizationId', 'source', 'fingerprint as name'])
    .where('active_alerts.alert_id', '>=', hole('from'))
    .where('active_alerts.alert_id', '<=', hole('to')),
)
const hasFingerprint = query<{ id: number; organizationId: number; source: Source; fingerprint: string }>()(
  (sql, hole) =>
    sql
      .selectFrom('active_alerts')
      .innerJoin('active_fingerprints', 'active_fingerprints.alert_id', 'active_alerts.alert_id')
      .select('active_alerts.alert_id')
      .where('active_alerts.alert_id', '=', hole('id'))
      .where('organization_id', '=', hole('organizationId'))
      .where('source', '=', hole('source'))
      .where('fingerprint', '=', hole('fingerprint')),
)
const hasLogicalKey = query<{ id: number; organizationId: number; source: Source; logicalKey: string }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .select('alert_id')
    .where('alert_id', '=', hole('id'))
    .where('organization_id', '=', hole('organizationId'))
    .where('source', '=', hole('source'))
    .where('logical_key', '=', hole('logicalKey')),
)
const KEEPING = { keepsMemory: true }
const countedChanges = query<Record<string, never>>()((sql) => sql.selectFrom('name_changes').select('count'))
const count = query<Record<string, never>>(KEEPING)((sql) =>
  sql.updateTable('name_changes').set((eb) => ({ count: eb('count', '+', 1) })),
)
const newestAlert = query<Record<string, never>>()((sql) =>
  sql.selectFrom('alerts').select((eb) => eb.fn.max('id').as('id')),
)
const put = query<Row>(KEEPING)((sql, hole) =>
  sql.insertInto('active_fingerprints').values({
    alert_id: hole('id'),
    fingerprint: hole('fingerprint'),
    started_at: hole('startedAt'),
    ended: hole('ended'),
  }),
)
const change = query<Row>(KEEPING)((sql, hole) =>
  sql
    .updateTable('active_fingerprints')
    .set({ started_at: hole('startedAt'), ended: hole('ended') })
    .where('alert_id', '=', hole('id'))
    .where('fingerprint', '=', hole('fingerprint')),
)
const remove = query<{ id: number; fingerprint: string }>()((sql, hole) =>
  sql
    .deleteFrom('active_fingerprints')
    .where('alert_id', '=', hole('id'))
    .where('fingerprint', '=', hole('fingerprint')),
)
