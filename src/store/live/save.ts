/** Saves the changes of a batch in one transaction: the columns that differ, and what was appended. */
import type { AlertTexts } from '../../domain/alert/alert.ts'
import type { LiveService } from '../../domain/health/live-service.ts'
import type { Notice } from '../../domain/notice.ts'
import { DAY } from '../../domain/units.ts'
import type { DescribedFingerprint, Effect, StoredRejection } from '../../engine/state/effect.ts'
import type { Changes, RowChange } from '../../engine/state/journal.ts'
import { awaitedName } from '../../engine/state/state.ts'
import { computeLinks } from '../correlation/compute-links.ts'
import { linkHistoryOf } from '../correlation/links.ts'
import { storeAnswer } from '../idempotency-keys.ts'
import { moveIncidentRecords } from '../incident/incidents.ts'
import { insertDuePostmortem, insertPostmortem } from '../incident/postmortems.ts'
import { saveWatch } from '../kubernetes.ts'
import { followService } from '../notification/channels.ts'
import { storeImage } from '../service/images.ts'
import { moveService } from '../service/services.ts'
import { recordState } from '../service/states.ts'
import { replaceSilencesOfAlert, saveSilence } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, query } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'
import { tellAlike, tellNewcomers, writeNotifications } from './notifications.ts'
import { generatePostmortem, writeDuePostmortemsOf } from './postmortem.ts'
import { fingerprintKey, saveAlerts, saveEvents, saveFingerprints, saveRows } from './rows.ts'

const MAX_PAYLOAD = 65_536

type Kind = Effect['kind']
type Kept<One extends Kind> = Extract<Effect, { readonly kind: One }>
type Appended = <One extends Kind>(kind: One) => readonly Kept<One>[]

/** Saves a batch inside the caller's transaction. Returns notices about new links. */
export function saveBatch(db: Db, { rows, effects }: Changes, newId: () => string): readonly Notice[] {
  const byKind = Map.groupBy(effects, ({ kind }) => kind)
  const appended: Appended = (kind) => (byKind.get(kind) ?? []) as never
  const { merged, others } = postmortemsOf(db, appended, newId)
  saveRows(db, rows)
  saveAlerts(db, rows.alerts, textsOf(appended), settledOf(appended))
  saveFingerprints(db, rows.alerts, settledOf(appended), describedOf(appended))
  saveEvents(
    db,
    appended('event-stored').map(({ event }) => event),
  )
  insertRows(db, 'timeline', appended('timeline-added'), ({ incidentId, entry }) => {
    const { at, kind, code, text, actor, ref } = entry
    const facts = entry.facts ? JSON.stringify(entry.facts) : null
    return { incident_id: incidentId, at, kind, code, text, facts, actor, ref }
  })
  for (const { rejection } of appended('item-rejected')) insertRejection(db, rejection)
  for (const one of newestPipelines(appended)) storePipeline(db, one)
  for (const change of rows.services) {
    linkEvents(db, change)
    const { before, after } = change
    if (before && before.name !== after.name) followService(db, after.organizationId, before, after)
  }
  for (const { before, after } of rows.silences) saveSilence(db, after.silence, before === null)
  for (const { before, after } of rows.alerts) {
    replaceSilencesOfAlert(db, after.rowId, before?.silencedBy ?? [], after.silencedBy)
  }
  for (const effect of effects) saveOther(db, effect)
  for (const { after, isGone } of rows.groups) if (isGone) db.run(dropGroup, { rowId: after.rowId })
  const links = appended('links-due').map(({ due }) => due)
  const notices = computeLinks(linkHistoryOf(db), links, newId)
  for (const generated of merged) insertPostmortem(db, { ...generated, id: newId() })
  for (const { incident, at } of others) insertDuePostmortem(db, incident, at)
  writeNotifications(db, appended('notification-due'), newId)
  for (const { from, into, ownEntries } of appended('incident-merged')) moveIncidentRecords(db, from, into, ownEntries)
  tellAlike(db, appended('alerts-joined'), newId)
  tellNewcomers(db, appended('alerts-joined'), newId)
  return notices
}

/** Inserts or updates a pipeline. `eventRowId`: the pipeline's newest event. */
function storePipeline(db: Db, { pipeline, eventRowId, organizationId }: Kept<'pipeline-changed'>): void {
  const { serviceId, ref, facts, startsAt, endsAt } = pipeline
  const times = { starts_at: startsAt, ends_at: endsAt }
  const changing = { service_id: serviceId, event_id: eventRowId, facts: JSON.stringify(facts), ...times }
  const inserted = db.sql.insertInto('pipelines').values({ organization_id: organizationId, ref, ...changing })
  db.run(inserted.onConflict((conflict) => conflict.columns(['organization_id', 'ref']).doUpdateSet(changing)))
}

/** Stores a rejected item. Truncates its payload to 64 kB. */
function insertRejection(db: Db, rejection: StoredRejection): void {
  const { id, organizationId, source, index, error, payload, receivedAt } = rejection
  const text = typeof payload === 'string' ? payload : (JSON.stringify(payload) ?? '')
  db.run(
    db.sql.insertInto('rejections').values({
      uuid: uuidBytes(id),
      organization_id: organizationId,
      source,
      item: index,
      error,
      payload: text.slice(0, MAX_PAYLOAD).toWellFormed(),
      received_at: receivedAt,
    }),
  )
}

/**
 * Generates the postmortems of the merged incidents before their alerts move to other incidents. All other postmortems
 * are generated after the commit.
 */
function postmortemsOf(db: Db, appended: Appended, newId: () => string) {
  const due = appended('postmortem-due')
  const from = new Set(appended('incident-merged').map((merge) => merge.from))
  for (const rowId of from) writeDuePostmortemsOf(db, rowId, newId)
  const isMerged = ({ incident }: Kept<'postmortem-due'>) => from.has(incident.rowId)
  const merged = due.filter(isMerged).flatMap((one) => {
    const own = appended('timeline-added').filter(({ incidentId }) => incidentId === one.incident.rowId)
    const entries = own.map(({ entry }) => entry)
    return generatePostmortem(db, one, entries) ?? []
  })
  return { merged, others: due.filter((one) => !isMerged(one)) }
}

/** Returns the texts of alerts by row id. The labels are from the first item, the rest is from the newest. */
function textsOf(appended: Appended): ReadonlyMap<number, AlertTexts> {
  const found = new Map<number, AlertTexts>()
  for (const { alertId, texts } of appended('alert-texts')) {
    const first = found.get(alertId)
    found.set(alertId, first ? { ...texts, labels: first.labels } : texts)
  }
  return found
}

function describedOf(appended: Appended): ReadonlyMap<string, DescribedFingerprint> {
  const described = appended('fingerprint-described').map(({ description }) => description)
  return new Map(described.map((one) => [fingerprintKey(one.alertId, one.fingerprint), one]))
}

/** Returns when alerts left the live state, by row id. */
function settledOf(appended: Appended): ReadonlyMap<number, number> {
  return new Map(appended('alert-settled').map(({ alertId, at }) => [alertId, at]))
}

function newestPipelines(appended: Appended): Iterable<Kept<'pipeline-changed'>> {
  const all = appended('pipeline-changed')
  return new Map(all.map((one) => [`${one.organizationId} ${one.pipeline.ref}`, one])).values()
}

/** Assigns the events that wait for the name of a new or renamed service. */
function linkEvents(db: Db, { before, after }: RowChange<LiveService>): void {
  if (before && awaitedName(before) === awaitedName(after)) return
  db.run(link, { organizationId: after.organizationId, awaited: awaitedName(after), serviceId: after.rowId })
}

const link = query<{ organizationId: number; awaited: string; serviceId: number }>()((sql, hole) =>
  sql
    .updateTable('events')
    .set({ service_id: hole('serviceId'), awaited: null })
    .where('organization_id', '=', hole('organizationId'))
    .where('awaited', '=', hole('awaited')),
)

const dropGroup = query<{ rowId: number }>()((sql, hole) => sql.deleteFrom('groups').where('id', '=', hole('rowId')))

function saveOther(db: Db, effect: Effect): void {
  switch (effect.kind) {
    case 'service-merged':
      moveService(db, effect.from.rowId, effect.into.rowId)
      followService(db, effect.into.organizationId, effect.from, effect.into)
      break
    case 'aliases-set':
      replaceAliases(db, effect)
      break
    case 'image-pulled':
      storeImage(db, effect)
      break
    case 'answer-stored':
      forgetAnswers(db, effect.answer.receivedAt - DAY)
      storeAnswer(db, { ...effect.answer, route: effect.answer.source })
      break
    case 'watch-saved':
      saveWatch(db, effect.organizationId, effect.update)
      break
    case 'state-recorded':
      recordState(db, effect.serviceId, { at: effect.at, ...effect.health })
      break
    case 'organization-changed':
      updateOrganization(db, effect)
      break
    case 'alert-texts':
    case 'fingerprint-described':
    case 'alert-settled':
    case 'event-stored':
    case 'item-rejected':
    case 'pipeline-changed':
    case 'incident-merged':
    case 'timeline-added':
    case 'postmortem-due':
    case 'notification-due':
    case 'alerts-joined':
    case 'links-due':
      break
    default:
      effect satisfies never
  }
}

/** Deletes responses to requests received at or before `before`. */
function forgetAnswers(db: Db, before: number): void {
  db.run(db.sql.deleteFrom('idempotency_keys').where('received_at', '<=', before))
}

/** Replaces a service's aliases. Throws SQLITE_CONSTRAINT if another service has one of these aliases. */
function replaceAliases(db: Db, { organizationId, serviceId, aliases }: Kept<'aliases-set'>): void {
  db.run(db.sql.deleteFrom('aliases').where('service_id', '=', serviceId))
  const different = [...new Map(aliases.map((ref) => [`${ref.kind} ${ref.value}`, ref])).values()]
  if (different.length === 0) return
  const owner = { organization_id: organizationId, service_id: serviceId }
  db.run(db.sql.insertInto('aliases').values(different.map(({ kind, value }) => ({ ...owner, kind, value }))))
}

/** Updates an organization. Throws SQLITE_CONSTRAINT_UNIQUE if the name is taken. */
function updateOrganization(db: Db, { organizationId, name, plan, settings }: Kept<'organization-changed'>): void {
  const changed = { name, plan, settings: JSON.stringify(settings) }
  db.run(db.sql.updateTable('organizations').set(changed).where('id', '=', organizationId))
}
