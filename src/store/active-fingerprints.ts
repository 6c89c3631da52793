/** Fingerprints of active alerts: under which an alert was seen, in which cluster, and which of them have ended. */
import type { Fingerprint } from '../domain/alert.ts'
import type { Source } from '../domain/event.ts'
import type { ActiveAlert } from './active-alerts.ts'
import type { Db } from './open.ts'
import { query } from './query.ts'

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

/** Under which memory keeps whose fingerprint it is. */
export function fingerprintName(organizationId: number, source: Source, stored: string): string {
  return `${organizationId} ${source} ${stored}`
}

/** Writes those fingerprints of an alert that are new or have changed, and forgets what it no longer has. `cluster`: the sender's. */
export function storeFingerprints(
  db: Db,
  active: ActiveAlert,
  cluster: string,
  before: readonly Fingerprint[] = [],
): void {
  const { organizationId, id, alert } = active
  const { source } = alert
  for (const known of before) {
    if (active.fingerprints.some(({ fingerprint }) => fingerprint === known.fingerprint)) continue
    db.run(dropFingerprint, { organizationId, source, fingerprint: within(source, cluster, known.fingerprint) })
  }
  for (const one of active.fingerprints) {
    if (before.some((known) => isSame(known, one))) continue
    const fingerprint = within(alert.source, cluster, one.fingerprint)
    const ended = one.ended ? 1 : 0
    db.memory.forget('alerts', fingerprintName(organizationId, source, fingerprint))
    db.run(putFingerprint, { organizationId, source: alert.source, fingerprint, id, startedAt: one.startedAt, ended })
  }
}

function isSame(a: Fingerprint, b: Fingerprint): boolean {
  return a.fingerprint === b.fingerprint && a.startedAt === b.startedAt && a.ended === b.ended
}

/** One more fingerprint of our own making for an alert, unless another has it. */
export function addFingerprint(db: Db, { organizationId, id, alert }: ActiveAlert, fingerprint: string): void {
  db.run(
    db.sql
      .insertInto('active_fingerprints')
      .values({
        organization_id: organizationId,
        source: alert.source,
        fingerprint,
        alert_id: id,
        started_at: alert.startsAt,
      })
      .onConflict((conflict) => conflict.doNothing()),
  )
}

const dropFingerprint = query<{ organizationId: number; source: Source; fingerprint: string }>()((sql, hole) =>
  sql
    .deleteFrom('active_fingerprints')
    .where('organization_id', '=', hole('organizationId'))
    .where('source', '=', hole('source'))
    .where('fingerprint', '=', hole('fingerprint')),
)
const putFingerprint = query<{
  organizationId: number
  source: Source
  fingerprint: string
  id: number
  startedAt: number
  ended: number
}>({ keepsMemory: true })((sql, hole) =>
  sql.replaceInto('active_fingerprints').values({
    organization_id: hole('organizationId'),
    source: hole('source'),
    fingerprint: hole('fingerprint'),
    alert_id: hole('id'),
    started_at: hole('startedAt'),
    ended: hole('ended'),
  }),
)
