/** Loads and saves the fingerprints of live alerts. Most alerts have no rows, because their fingerprint is derived. */
import type { Fingerprint } from '../../domain/alert/fingerprints.ts'
import type { LiveAlert } from '../../domain/alert/live-alert.ts'
import type { Labels } from '../../domain/event/event.ts'
import type { DescribedFingerprint } from '../../engine/state/effect.ts'
import type { RowChange } from '../../engine/state/journal.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'

/** Saves the fingerprints that differ from those before the batch. Run after the alerts are saved. */
export function saveFingerprints(
  db: Db,
  alerts: readonly RowChange<LiveAlert>[],
  settled: ReadonlyMap<number, number>,
  described: ReadonlyMap<string, DescribedFingerprint>,
): void {
  for (const { before, after } of alerts) {
    const known = before?.fingerprints ?? null
    const list = settled.has(after.rowId) ? null : after.fingerprints
    if (known === null && list === null) continue
    const kept = new Set(list?.map(({ fingerprint }) => fingerprint))
    for (const { fingerprint } of known ?? []) {
      if (!kept.has(fingerprint)) db.run(dropFingerprint, { alertId: after.rowId, fingerprint })
    }
    for (const one of list ?? []) {
      const description = described.get(fingerprintKey(after.rowId, one.fingerprint))
      if (description || !known?.includes(one)) saveFingerprint(db, after.rowId, one, description)
    }
  }
}

export function fingerprintKey(alertId: number, fingerprint: string): string {
  return `${alertId} ${fingerprint}`
}

function saveFingerprint(db: Db, alertId: number, one: Fingerprint, description?: DescribedFingerprint): void {
  const columns = {
    severity: one.severity,
    said: one.said,
    started_at: one.startedAt,
    ended: Number(one.ended),
    seen_at: one.seenAt,
    expires_at: one.expiresAt,
    changed_at: one.changedAt,
    ...(description
      ? { labels: patchOf(labelsOf(db, alertId), description.labels), generator: description.generator }
      : {}),
  }
  db.run(
    db.sql
      .insertInto('alert_fingerprints')
      .values({ alert_id: alertId, fingerprint: one.fingerprint, ...columns })
      .onConflict((conflict) => conflict.columns(['alert_id', 'fingerprint']).doUpdateSet(columns)),
  )
}

function labelsOf(db: Db, alertId: number): Labels {
  return JSON.parse(db.first(alertLabels, { alertId })?.labels ?? '{}')
}

const alertLabels = query<{ alertId: number }>()((sql, hole) =>
  sql.selectFrom('alerts').select('labels').where('id', '=', hole('alertId')),
)
const dropFingerprint = query<{ alertId: number; fingerprint: string }>()((sql, hole) =>
  sql
    .deleteFrom('alert_fingerprints')
    .where('alert_id', '=', hole('alertId'))
    .where('fingerprint', '=', hole('fingerprint')),
)

/** Returns the changes from one set of labels to another as a JSON merge patch; null if they are equal. */
function patchOf(before: Labels, after: Labels): string | null {
  const changed = Object.entries(after).filter(([name, value]) => before[name] !== value)
  const removed = Object.keys(before).filter((name) => after[name] === undefined)
  const patch = [...changed, ...removed.map((name) => [name, null] as const)]
  return patch.length === 0 ? null : JSON.stringify(Object.fromEntries(patch))
}
