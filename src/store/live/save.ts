/** Saves a batch's effects in one transaction, grouped by table. Only the last change to each record is saved. */

import type { Notice } from '../../domain/notice.ts'
import type { DescribedFingerprint, Effect, LinksDue, StoredEvent, StoredRejection } from '../../domain/state/effect.ts'
import type { LiveAlert, LiveGroup, LiveIncident, LiveSender, LiveService } from '../../domain/state/live.ts'
import { awaitedName } from '../../domain/state/state.ts'
import { DAY } from '../../domain/units.ts'
import { linkHistoryOf } from '../correlation/links.ts'
import { storePipeline } from '../correlation/pipelines.ts'
import { forgetAnswers, storeAnswer } from '../idempotency-keys.ts'
import { insertDuePostmortem } from '../incident/due-postmortems.ts'
import { moveIncidentRecords } from '../incident/incidents.ts'
import { insertPostmortem } from '../incident/postmortems.ts'
import { updateOrganization } from '../organizations.ts'
import { insertRejection } from '../rejections.ts'
import { replaceAliases } from '../service/aliases.ts'
import { storeImage } from '../service/images.ts'
import { moveService } from '../service/merge.ts'
import { recordState } from '../service/states.ts'
import { replaceSilencesOfAlert, saveSilence } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows, type SavedChange } from '../sqlite/query.ts'
import { fingerprintKey, saveFingerprints } from './fingerprints.ts'
import { computeLinks } from './links.ts'
import { writeNotifications } from './notifications.ts'
import { generatePostmortem, writeDuePostmortemsOf } from './postmortem.ts'
import { type SavedAlert, saveAlerts } from './save-alerts.ts'
import { linkPendingEvents, saveEvents } from './save-events.ts'
import { saveIncidents } from './save-incidents.ts'
import { dropGroup, saveGroups, saveSenders } from './save-senders.ts'
import { saveServices } from './save-services.ts'

/** Saves a batch inside the caller's transaction. Returns notices about new links. */
export function saveBatch(db: Db, batch: EffectBatch, newId: () => string): readonly Notice[] {
  const { merged, others } = postmortemsOf(db, batch, newId)
  saveServices(db, [...batch.services.values()])
  saveSenders(db, [...batch.senders.values()])
  saveGroups(db, [...batch.groups.values()])
  saveIncidents(db, [...batch.incidents.values()])
  saveAlerts(db, [...batch.alerts.values()])
  saveFingerprints(db, [...batch.alerts.values()], batch.fingerprints)
  saveEvents(db, batch.events)
  insertRows(db, 'timeline', batch.timeline, timelineRow)
  for (const rejection of batch.rejections) insertRejection(db, rejection)
  for (const { pipeline, eventRowId, organizationId } of batch.pipelines.values()) {
    storePipeline(db, pipeline, eventRowId, organizationId)
  }
  for (const effect of batch.others) saveOther(db, effect)
  const notices = computeLinks(linkHistoryOf(db), batch.links, newId)
  for (const generated of merged) insertPostmortem(db, { ...generated, id: newId() })
  for (const { incident, at } of others) insertDuePostmortem(db, incident, at)
  writeNotifications(db, batch.notifications, newId)
  for (const { from, into, ownEntries } of batch.merges) moveIncidentRecords(db, from, into, ownEntries)
  return notices
}

/**
 * Generates the postmortems of the merged incidents before their alerts move to other incidents. All other postmortems
 * are generated after the commit.
 */
function postmortemsOf(db: Db, { merges, postmortems, timeline }: EffectBatch, newId: () => string) {
  const from = new Set(merges.map((merge) => merge.from))
  for (const rowId of from) writeDuePostmortemsOf(db, rowId, newId)
  const isMerged = ({ incident }: Kept<'postmortem-due'>) => from.has(incident.rowId)
  const merged = postmortems.filter(isMerged).flatMap((due) => {
    const own = timeline.filter(({ incidentId }) => incidentId === due.incident.rowId)
    return (
      generatePostmortem(
        db,
        due,
        own.map(({ entry }) => entry),
      ) ?? []
    )
  })
  return { merged, others: postmortems.filter((due) => !isMerged(due)) }
}

function timelineRow({ incidentId, entry: { at, kind, text, actor, ref } }: Kept<'timeline-added'>) {
  return { incident_id: incidentId, at, kind, text, actor, ref }
}

type Kept<Kind extends Effect['kind']> = Extract<Effect, { readonly kind: Kind }>

/** The effects of a batch, by the table that they change. */
export type EffectBatch = {
  readonly services: Map<number, SavedChange<LiveService>>
  readonly senders: Map<number, SavedChange<LiveSender>>
  readonly groups: Map<number, SavedChange<LiveGroup>>
  readonly incidents: Map<number, SavedChange<LiveIncident>>
  readonly alerts: Map<number, SavedAlert>
  readonly fingerprints: Map<string, DescribedFingerprint>
  readonly events: StoredEvent[]
  readonly timeline: Kept<'timeline-added'>[]
  readonly rejections: StoredRejection[]
  readonly pipelines: Map<string, Kept<'pipeline-changed'>>
  readonly links: LinksDue[]
  readonly notifications: Kept<'notification-due'>[]
  readonly merges: Kept<'incident-merged'>[]
  /** The resolutions, whose postmortems become due. */
  readonly postmortems: Kept<'postmortem-due'>[]
  /** All other effects, in order. */
  readonly others: OtherEffect[]
}

type OtherEffect = Kept<
  | 'service-created'
  | 'service-changed'
  | 'service-merged'
  | 'aliases-set'
  | 'group-dropped'
  | 'image-pulled'
  | 'answer-stored'
  | 'state-recorded'
  | 'silence-saved'
  | 'alert-silenced'
  | 'organization-changed'
>

/** Groups effects by table, and merges the changes of each record into one. */
export function gatherEffects(effects: readonly Effect[]): EffectBatch {
  const batch: EffectBatch = {
    services: new Map(),
    senders: new Map(),
    groups: new Map(),
    incidents: new Map(),
    alerts: new Map(),
    fingerprints: new Map(),
    events: [],
    timeline: [],
    rejections: [],
    pipelines: new Map(),
    links: [],
    notifications: [],
    merges: [],
    postmortems: [],
    others: [],
  }
  for (const effect of effects) add(batch, effect)
  return batch
}

function add(batch: EffectBatch, effect: Effect): void {
  switch (effect.kind) {
    case 'service-created':
      keepChange(batch.services, null, effect.service)
      batch.others.push(effect)
      return
    case 'service-changed':
      if (awaitedName(effect.before) !== awaitedName(effect.after)) batch.others.push(effect)
      keepChange(batch.services, effect.before, effect.after)
      break
    case 'service-loaded':
    case 'alerts-compared':
    case 'alert-postponed':
      return
    case 'alert-opened':
      keepAlert(batch, null, effect.alert, effect.texts)
      break
    case 'alert-changed':
      keepAlert(batch, effect.before, effect.after, effect.texts)
      break
    case 'alert-silenced':
      keepAlert(batch, effect.before, effect.after, null)
      return void batch.others.push(effect)
    case 'alert-settled':
      keepAlert(batch, effect.alert, effect.alert, null, effect.at)
      break
    case 'fingerprint-described': {
      const { alertId, fingerprint } = effect.description
      return void batch.fingerprints.set(fingerprintKey(alertId, fingerprint), effect.description)
    }
    case 'event-stored':
      return void batch.events.push(effect.event)
    case 'item-rejected':
      return void batch.rejections.push(effect.rejection)
    case 'sender-changed':
      keepChange(batch.senders, effect.before, effect.after)
      break
    case 'group-changed':
      keepChange(batch.groups, effect.before, effect.after)
      break
    case 'pipeline-changed':
      return void batch.pipelines.set(`${effect.organizationId} ${effect.pipeline.ref}`, effect)
    case 'incident-opened':
      keepChange(batch.incidents, null, effect.incident)
      break
    case 'incident-changed':
      keepChange(batch.incidents, effect.before, effect.after)
      break
    case 'timeline-added':
      return void batch.timeline.push(effect)
    case 'links-due':
      return void batch.links.push(effect.due)
    case 'notification-due':
      batch.notifications.push(effect)
      break
    case 'incident-merged':
      return void batch.merges.push(effect)
    case 'postmortem-due':
      return void batch.postmortems.push(effect)
    case 'state-recorded':
    case 'service-merged':
    case 'aliases-set':
    case 'group-dropped':
    case 'image-pulled':
    case 'answer-stored':
    case 'silence-saved':
    case 'organization-changed':
      return void batch.others.push(effect)
    default:
      effect satisfies never
  }
}

function keepChange<Live extends { readonly rowId: number }>(
  changes: Map<number, SavedChange<Live>>,
  before: Live | null,
  after: Live,
): void {
  const known = changes.get(after.rowId)
  changes.set(after.rowId, { before: known ? known.before : before, after })
}

function keepAlert(
  { alerts }: EffectBatch,
  before: LiveAlert | null,
  after: LiveAlert,
  texts: SavedAlert['texts'],
  settledAt: number | null = null,
): void {
  const known = alerts.get(after.rowId)
  alerts.set(after.rowId, {
    before: known ? known.before : before,
    after,
    // The labels are from the first item, and the annotations and links are from the newest item.
    texts: known?.texts && texts ? { ...texts, labels: known.texts.labels } : (texts ?? known?.texts ?? null),
    settledAt: settledAt ?? known?.settledAt ?? null,
  })
}

function saveOther(db: Db, effect: OtherEffect): void {
  switch (effect.kind) {
    case 'service-created':
      linkPendingEvents(db, effect.service.organizationId, awaitedName(effect.service), effect.service.rowId)
      break
    case 'service-changed':
      linkPendingEvents(db, effect.after.organizationId, awaitedName(effect.after), effect.after.rowId)
      break
    case 'service-merged':
      moveService(db, effect.from.rowId, effect.into.rowId)
      break
    case 'aliases-set':
      replaceAliases(db, effect.organizationId, effect.serviceId, effect.aliases)
      break
    case 'group-dropped':
      dropGroup(db, effect.group.rowId)
      break
    case 'image-pulled':
      storeImage(db, effect)
      break
    case 'answer-stored':
      forgetAnswers(db, effect.answer.receivedAt - DAY)
      storeAnswer(db, { ...effect.answer, route: effect.answer.source })
      break
    case 'state-recorded':
      recordState(db, effect.serviceId, { at: effect.at, ...effect.health })
      break
    case 'silence-saved':
      saveSilence(db, effect.silence, effect.isNew)
      break
    case 'alert-silenced':
      replaceSilencesOfAlert(db, effect.after.rowId, effect.before.silencedBy, effect.after.silencedBy)
      break
    case 'organization-changed':
      updateOrganization(db, effect.organizationId, effect)
      break
    default:
      effect satisfies never
  }
}
