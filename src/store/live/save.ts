/** Saving: the effects of a batch in one transaction, grouped by table. Of several changes of one record the last counts. */
import type { Notice } from '../../domain/notice.ts'
import type { Effect, LinksDue, StoredEvent, StoredRejection, TimelineEntry } from '../../domain/state/effect.ts'
import type { LiveAlert, LiveGroup, LiveIncident, LiveSender, LiveService } from '../../domain/state/live.ts'
import { awaitedName } from '../../domain/state/state.ts'
import { replaceAliases } from '../aliases.ts'
import { forgetAnswers, storeAnswer } from '../deliveries.ts'
import { storeImage } from '../images.ts'
import { moveIncidentRecords } from '../incident-merge.ts'
import { moveService } from '../merge.ts'
import { updateOrganization } from '../organizations.ts'
import { storePipeline } from '../pipelines.ts'
import { insertRejection } from '../rejections.ts'
import { recordState } from '../service-states.ts'
import { replaceSilencesOfAlert, saveSilence } from '../silences.ts'
import type { Db } from '../sqlite/open.ts'
import { insertRows } from '../sqlite/rows.ts'
import { computeLinks } from './links.ts'
import { writePostmortem } from './postmortem.ts'
import { type SavedAlert, saveAlerts } from './save-alerts.ts'
import { linkAwaiting, saveEvents } from './save-events.ts'
import { saveIncidents } from './save-incidents.ts'
import { dropGroup, saveGroups, saveSenders } from './save-senders.ts'
import { saveServices } from './save-services.ts'

/** Saves the effects inside the caller's transaction; notices about new links. */
export function saveEffects(db: Db, effects: readonly Effect[], newId: () => string): readonly Notice[] {
  const batch = gather(effects)
  saveServices(db, [...batch.services.values()])
  saveSenders(db, [...batch.senders.values()])
  saveGroups(db, [...batch.groups.values()])
  saveIncidents(db, [...batch.incidents.values()])
  saveAlerts(db, [...batch.alerts.values()])
  saveEvents(db, batch.events)
  insertRows(db, 'timeline', batch.timeline)
  for (const rejection of batch.rejections) insertRejection(db, rejection)
  for (const { pipeline, eventRowId, organizationId } of batch.pipelines.values()) {
    storePipeline(db, pipeline, eventRowId, organizationId)
  }
  for (const effect of batch.rest) saveOther(db, effect)
  const notices = batch.links.flatMap((due) => computeLinks(db, due, newId))
  for (const effect of batch.postmortems) writePostmortem(db, effect)
  for (const { from, into, ownEntries } of batch.merges) moveIncidentRecords(db, from, into, ownEntries)
  return notices
}

const DAY = 24 * 3_600_000

type Kept<Kind extends Effect['kind']> = Extract<Effect, { readonly kind: Kind }>

/** A record with whether it is new in this batch. */
export type SavedRecord<Live> = { readonly record: Live; readonly isNew: boolean }

type Batch = {
  readonly services: Map<number, SavedRecord<LiveService>>
  readonly senders: Map<number, SavedRecord<LiveSender>>
  readonly groups: Map<number, SavedRecord<LiveGroup>>
  readonly incidents: Map<number, SavedRecord<LiveIncident>>
  readonly alerts: Map<number, SavedAlert>
  readonly events: StoredEvent[]
  readonly timeline: ({ readonly incident_id: number } & TimelineEntry)[]
  readonly rejections: StoredRejection[]
  readonly pipelines: Map<string, Kept<'pipeline-changed'>>
  readonly links: LinksDue[]
  readonly postmortems: Kept<'postmortem-due'>[]
  readonly merges: Kept<'incident-merged'>[]
  /** In their order. */
  readonly rest: Effect[]
}

function gather(effects: readonly Effect[]): Batch {
  const batch: Batch = {
    services: new Map(),
    senders: new Map(),
    groups: new Map(),
    incidents: new Map(),
    alerts: new Map(),
    events: [],
    timeline: [],
    rejections: [],
    pipelines: new Map(),
    links: [],
    postmortems: [],
    merges: [],
    rest: [],
  }
  for (const effect of effects) add(batch, effect)
  return batch
}

function add(batch: Batch, effect: Effect): void {
  switch (effect.kind) {
    case 'service-created':
      keep(batch.services, effect.service, true)
      batch.rest.push(effect)
      return
    case 'service-changed':
      if (effect.before.name !== effect.after.name) batch.rest.push(effect)
      return keep(batch.services, effect.after, false)
    case 'service-loaded':
    case 'alert-postponed':
      return
    case 'alert-opened':
      return keepAlert(batch, null, effect.alert, effect.texts)
    case 'alert-changed':
      return keepAlert(batch, effect.before, effect.after, effect.texts)
    case 'alert-silenced':
      keepAlert(batch, effect.before, effect.after, null)
      return void batch.rest.push(effect)
    case 'alert-settled':
      return keepAlert(batch, effect.alert, effect.alert, null, effect.at)
    case 'event-stored':
      return void batch.events.push(effect.event)
    case 'item-rejected':
      return void batch.rejections.push(effect.rejection)
    case 'sender-changed':
      return keep(batch.senders, effect.sender, effect.isNew)
    case 'group-changed':
      return keep(batch.groups, effect.group, effect.isNew)
    case 'pipeline-changed':
      return void batch.pipelines.set(`${effect.organizationId} ${effect.pipeline.ref}`, effect)
    case 'incident-opened':
      return keep(batch.incidents, effect.incident, true)
    case 'incident-changed':
      return keep(batch.incidents, effect.after, false)
    case 'timeline-added':
      return void batch.timeline.push({ incident_id: effect.incidentId, ...effect.entry })
    case 'links-due':
      return void batch.links.push(effect.due)
    case 'postmortem-due':
      return void batch.postmortems.push(effect)
    case 'incident-merged':
      return void batch.merges.push(effect)
    case 'state-recorded':
    case 'service-merged':
    case 'aliases-set':
    case 'group-dropped':
    case 'image-pulled':
    case 'answer-stored':
    case 'silence-saved':
    case 'organization-changed':
      return void batch.rest.push(effect)
  }
}

function keep<Live extends { readonly rowId: number }>(
  records: Map<number, SavedRecord<Live>>,
  record: Live,
  isNew: boolean,
): void {
  const known = records.get(record.rowId)
  records.set(record.rowId, { record, isNew: known?.isNew ?? isNew })
}

function keepAlert(
  { alerts }: Batch,
  before: LiveAlert | null,
  after: LiveAlert,
  texts: SavedAlert['texts'],
  settledAt: number | null = null,
): void {
  const known = alerts.get(after.rowId)
  alerts.set(after.rowId, {
    before: known ? known.before : before,
    after,
    // Labels are those of the first item; the other texts those of the newest.
    texts: known?.texts && texts ? { ...texts, labels: known.texts.labels } : (texts ?? known?.texts ?? null),
    settledAt: settledAt ?? known?.settledAt ?? null,
  })
}

function saveOther(db: Db, effect: Effect): void {
  switch (effect.kind) {
    case 'service-created':
      return linkAwaiting(db, effect.service.organizationId, awaitedName(effect.service), effect.service.rowId)
    case 'service-changed':
      return linkAwaiting(db, effect.after.organizationId, awaitedName(effect.after), effect.after.rowId)
    case 'service-merged':
      return moveService(db, effect.from.rowId, effect.into.rowId)
    case 'aliases-set':
      return replaceAliases(db, effect.organizationId, effect.serviceId, effect.aliases)
    case 'group-dropped':
      return dropGroup(db, effect.group.rowId)
    case 'image-pulled':
      return storeImage(db, effect)
    case 'answer-stored':
      forgetAnswers(db, effect.answer.receivedAt - DAY)
      return storeAnswer(db, effect.answer)
    case 'state-recorded':
      return recordState(db, effect.serviceId, { at: effect.at, ...effect.health })
    case 'silence-saved':
      return saveSilence(db, effect.silence, effect.isNew)
    case 'alert-silenced':
      return replaceSilencesOfAlert(db, effect.after.rowId, effect.before.silencedBy, effect.after.silencedBy)
    case 'organization-changed':
      return updateOrganization(db, effect.organizationId, effect)
    default:
      throw new Error(`the effect ${effect.kind} is saved elsewhere`)
  }
}
