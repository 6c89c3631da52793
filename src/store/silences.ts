/** Silences in the store, and the alerts that they silence. */

import { type Listed, offsetOf, type Page } from '../domain/pagination.ts'
import type { Matcher } from '../domain/silence/matcher.ts'
import { type CompiledSilence, compileSilence, type Period } from '../domain/silence/silence.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes, uuidFromBytes, uuidToBytes } from './sqlite/uuid.ts'

/** Times in milliseconds UTC. */
export type SilenceRecord = Period & {
  readonly rowId: number
  readonly id: string
  readonly matchers: readonly Matcher[]
  readonly comment: string
  readonly createdBy: string
  readonly createdAt: number
  /** Counts the changes. */
  readonly revision: number
}

/** One page of the silences of an organization, newest first. `expired`: only those that have ended, or only the others. */
export function listSilences(
  db: Db,
  organizationId: number,
  { expired }: { readonly expired?: boolean | undefined },
  now: number,
  page: Page,
): Listed<SilenceRecord> {
  const all = db.sql.selectFrom('silences').where('organization_id', '=', organizationId)
  const wanted = expired === undefined ? all : all.where('ends_at', expired ? '<=' : '>', now)
  const rows = wanted.selectAll().orderBy('id', 'desc').limit(page.limit).offset(offsetOf(page))
  const total = db.first(wanted.select((eb) => eb.fn.countAll<number>().as('total')))?.total ?? 0
  return { items: db.all(rows).map(toRecord), total }
}

/** The silence with that UUID in this organization; undefined if there is none. */
export function findSilence(db: Db, organizationId: number, id: string): SilenceRecord | undefined {
  const bytes = uuidToBytes(id)
  const silences = db.sql.selectFrom('silences').selectAll().where('organization_id', '=', organizationId)
  const row = bytes && db.first(silences.where('uuid', '=', bytes))
  return row ? toRecord(row) : undefined
}

/** Whether the organization has a silence of the same matchers, period and comment, so that an import can be repeated. */
export function hasEqualSilence(
  db: Db,
  organizationId: number,
  { matchers, startsAt, endsAt, comment }: Pick<SilenceRecord, 'matchers' | 'startsAt' | 'endsAt' | 'comment'>,
): boolean {
  const equal = db.sql
    .selectFrom('silences')
    .select('id')
    .where('organization_id', '=', organizationId)
    .where('ends_at', '=', endsAt)
    .where('starts_at', '=', startsAt)
    .where('comment', '=', comment)
    .where('matchers', '=', JSON.stringify(matchers))
  return db.first(equal) !== undefined
}

type Columns = Omit<SilenceRecord, 'rowId' | 'id' | 'revision' | 'createdBy' | 'createdAt'> & {
  readonly changesAt: number | null
}

export function insertSilence(
  db: Db,
  organizationId: number,
  made: Columns & Pick<SilenceRecord, 'id' | 'createdBy' | 'createdAt'>,
): void {
  const { id, createdBy, createdAt } = made
  const own = { uuid: uuidBytes(id), organization_id: organizationId, created_by: createdBy, created_at: createdAt }
  db.run(db.sql.insertInto('silences').values({ ...own, ...columnsOf(made) }))
}

/** Stores a change if the silence still has this revision; whether it had. */
export function updateSilence(db: Db, { rowId, revision }: SilenceRecord, to: Columns): boolean {
  const changed = db.run(
    db.sql
      .updateTable('silences')
      .set({ ...columnsOf(to), revision: revision + 1 })
      .where('id', '=', rowId)
      .where('revision', '=', revision),
  )
  return changed === 1
}

/** The silences whose status changes at `now` or before, with their organization. */
export function listDueSilences(db: Db, now: number, limit: number) {
  const due = db.sql.selectFrom('silences').selectAll().where('changes_at', '<=', now)
  return db
    .all(due.orderBy('changes_at').limit(limit))
    .map((row) => ({ ...toRecord(row), organizationId: row.organization_id }))
}

/** Stores when the status of a silence changes next; null: never. */
export function scheduleSilence(db: Db, rowId: number, changesAt: number | null): void {
  db.run(db.sql.updateTable('silences').set({ changes_at: changesAt }).where('id', '=', rowId))
}

/** Makes every service of the organization that has active alerts due for evaluation. */
export function makeServicesDue(db: Db, organizationId: number, now: number): void {
  const ill = db.sql.selectFrom('active_alerts').select('service_id').where('organization_id', '=', organizationId)
  db.run(db.sql.updateTable('services').set({ evaluate_at: now }).where('id', 'in', ill))
}

/** An alert that ended while it was silenced may still be evaluated for half an hour. */
const KEPT_FOR = 3_600_000

/** The compiled silences of an organization that have not ended, or ended within the last hour. */
export function listCompiledSilences(db: Db, organizationId: number, now: number): readonly CompiledSilence[] {
  return db.memory.answer('silences', organizationId, () =>
    db.all(unexpired, { organizationId, since: now - KEPT_FOR }).map((row) => compileSilence(toRecord(row))),
  )
}

const unexpired = query<{ organizationId: number; since: number }>()((sql, hole) =>
  sql
    .selectFrom('silences')
    .selectAll()
    .where('organization_id', '=', hole('organizationId'))
    .where('ends_at', '>', hole('since'))
    .orderBy('id'),
)

/** For each active alert of a service that is or was silenced, the row ids of its silences. */
export function listSilencesOfAlerts(db: Db, serviceId: number): ReadonlyMap<number, readonly number[]> {
  const rows = Map.groupBy(db.all(silencedOfService, { serviceId }), ({ alert_id: alertId }) => alertId)
  return new Map([...rows].map(([alertId, ofAlert]) => [alertId, ofAlert.map(({ silence_id: id }) => id)]))
}

const silencedOfService = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .innerJoin('silenced_alerts', 'silenced_alerts.alert_id', 'active_alerts.alert_id')
    .select(['silenced_alerts.alert_id', 'silenced_alerts.silence_id'])
    .where('active_alerts.service_id', '=', hole('serviceId')),
)

/** The labels of each active alert of a service. */
export function listLabelsOfAlerts(db: Db, serviceId: number): ReadonlyMap<number, Readonly<Record<string, string>>> {
  return new Map(db.all(labelsOfService, { serviceId }).map(({ id, labels }) => [id, JSON.parse(labels)]))
}

const labelsOfService = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('active_alerts')
    .innerJoin('alerts', 'alerts.id', 'active_alerts.alert_id')
    .select(['alerts.id', 'alerts.labels'])
    .where('active_alerts.service_id', '=', hole('serviceId')),
)

/** Stores which silences silence an alert, in place of those that did before. */
export function replaceSilencesOfAlert(db: Db, alertId: number, before: readonly number[], after: readonly number[]) {
  for (const silenceId of before.filter((id) => !after.includes(id))) db.run(removal, { alertId, silenceId })
  for (const silenceId of after.filter((id) => !before.includes(id))) {
    db.run(db.sql.insertInto('silenced_alerts').values({ alert_id: alertId, silence_id: silenceId }))
  }
}

const removal = query<{ alertId: number; silenceId: number }>()((sql, hole) =>
  sql.deleteFrom('silenced_alerts').where('alert_id', '=', hole('alertId')).where('silence_id', '=', hole('silenceId')),
)

/** How many firing alerts a silence silences. */
export function findSilencedCount(db: Db, rowId: number): number {
  const firing = db.sql
    .selectFrom('silenced_alerts')
    .innerJoin('active_alerts', 'active_alerts.alert_id', 'silenced_alerts.alert_id')
    .where('silence_id', '=', rowId)
    .where('ended_at', 'is', null)
  return db.first(firing.select((eb) => eb.fn.countAll<number>().as('count')))?.count ?? 0
}

function columnsOf({ matchers, startsAt, endsAt, schedule, comment, changesAt }: Columns) {
  return {
    matchers: JSON.stringify(matchers),
    starts_at: startsAt,
    ends_at: endsAt,
    schedule: schedule && JSON.stringify(schedule),
    comment,
    changes_at: changesAt,
  }
}

type Row = {
  id: number
  uuid: Buffer
  matchers: string
  starts_at: number
  ends_at: number
  schedule: string | null
  comment: string
  created_by: string
  created_at: number
  revision: number
}

function toRecord(row: Row): SilenceRecord {
  return {
    rowId: row.id,
    id: uuidFromBytes(row.uuid),
    matchers: JSON.parse(row.matchers),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
    schedule: row.schedule === null ? null : JSON.parse(row.schedule),
    comment: row.comment,
    createdBy: row.created_by,
    createdAt: row.created_at,
    revision: row.revision,
  }
}
