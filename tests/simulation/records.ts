/**
 * The contents of a store as plain records, which are changed by saved effects one at a time. There are no tables and
 * no SQL.
 */

import type { LiveAlert } from '../../src/domain/alert/alert.ts'
import type { LivePipeline } from '../../src/domain/correlation/change.ts'
import type { Link } from '../../src/domain/correlation/correlation.ts'
import type { StoredEvent } from '../../src/domain/event/event.ts'
import type { LiveService } from '../../src/domain/health/live-service.ts'
import type { LiveIncident } from '../../src/domain/incident/live-incident.ts'
import type { TimelineEntry } from '../../src/domain/incident/timeline-entries.ts'
import type { LiveGroup, LiveSender } from '../../src/domain/sender/sender.ts'
import type { LiveImage } from '../../src/domain/service/image.ts'
import type { LiveSilence } from '../../src/domain/silence/silence.ts'
import type { Effect, StoredRejection } from '../../src/engine/state/effect.ts'
import type { Changes } from '../../src/engine/state/journal.ts'
import { awaitedName } from '../../src/engine/state/state.ts'
import type { LinkOwner } from '../../src/store/correlation/compute-links.ts'

type Organization = Pick<Extract<Effect, { kind: 'organization-changed' }>, 'plan' | 'settings'>
/** `settledAt` is set when the alert leaves the live state. */
export type SavedAlert = {
  readonly live: LiveAlert
  readonly labels: Readonly<Record<string, string>>
  readonly settledAt: number | null
}
export type SavedImage = LiveImage & { readonly at: number }

export type Records = ReturnType<typeof createRecords>

export function createRecords(organizations: ReadonlyMap<number, Organization>) {
  return {
    organizations: new Map(organizations),
    services: new Map<number, LiveService>(),
    aliases: new Map<string, { readonly organizationId: number; readonly serviceId: number }>(),
    alerts: new Map<number, SavedAlert>(),
    incidents: new Map<number, LiveIncident>(),
    senders: new Map<number, LiveSender>(),
    groups: new Map<number, LiveGroup>(),
    silences: new Map<number, LiveSilence>(),
    events: new Map<number, StoredEvent>(),
    rejections: [] as StoredRejection[],
    timeline: [] as (TimelineEntry & { readonly incidentId: number })[],
    postmortems: [] as Extract<Effect, { kind: 'postmortem-due' }>[],
    answers: new Map<string, { readonly answer: string; readonly receivedAt: number }>(),
    images: new Map<number, readonly SavedImage[]>(),
    /** Keyed by organization, project and service. */
    projects: new Map<
      string,
      { readonly organizationId: number; readonly project: string; readonly serviceId: number }
    >(),
    /** Keyed by organization and reference. */
    pipelines: new Map<string, LivePipeline>(),
    /** Keyed by alert, and by the kind and reference of the change. */
    links: new Map<string, LinkOwner & { readonly link: Link }>(),
  }
}

const DAY = 24 * 3_600_000

/** Applies the changes of a batch to the records. */
export function recordChanges(records: Records, { rows, effects }: Changes): void {
  for (const { after } of rows.services) records.services.set(after.rowId, after)
  for (const { after } of rows.incidents) records.incidents.set(after.rowId, after)
  for (const { after } of rows.senders) records.senders.set(after.rowId, after)
  for (const { after } of rows.alerts) {
    const { labels = {}, settledAt = null } = records.alerts.get(after.rowId) ?? {}
    records.alerts.set(after.rowId, { live: after, labels, settledAt })
  }
  for (const { after, isGone } of rows.groups) {
    if (isGone) records.groups.delete(after.rowId)
    else records.groups.set(after.rowId, after)
  }
  for (const { after } of rows.silences) records.silences.set(after.silence.rowId, after.silence)
  for (const effect of effects) if (effect.kind === 'event-stored') records.events.set(effect.event.rowId, effect.event)
  for (const { after } of rows.services) linkAwaiting(records, after)
  const isNew = new Set(rows.alerts.flatMap(({ before, after }) => (before ? [] : after.rowId)))
  for (const effect of effects) record(records, effect, isNew)
}

/** Applies one effect to the records. `isNew`: the row ids of new alerts whose labels are not known yet. */
function record(records: Records, effect: Effect, isNew: Set<number>): void {
  const { alerts } = records
  switch (effect.kind) {
    case 'service-merged':
      mergeService(records, effect.from.rowId, effect.into.rowId)
      break
    case 'aliases-set':
      setAliases(records, effect)
      break
    case 'alert-texts': {
      const found = alerts.get(effect.alertId)
      if (found && isNew.delete(effect.alertId)) alerts.set(effect.alertId, { ...found, labels: effect.texts.labels })
      break
    }
    case 'alert-settled': {
      const found = alerts.get(effect.alertId)
      if (found) alerts.set(effect.alertId, { ...found, settledAt: effect.at })
      break
    }
    case 'item-rejected':
      records.rejections.push(effect.rejection)
      break
    case 'image-pulled':
      pullImage(records, effect)
      break
    case 'pipeline-changed':
      records.pipelines.set(`${effect.organizationId} ${effect.pipeline.ref}`, effect.pipeline)
      break
    case 'incident-merged':
      mergeIncident(records, effect)
      break
    case 'timeline-added':
      records.timeline.push({ incidentId: effect.incidentId, ...effect.entry })
      break
    case 'postmortem-due':
      records.postmortems.push(effect)
      break
    case 'answer-stored':
      storeAnswer(records, effect.answer)
      break
    case 'organization-changed':
      records.organizations.set(effect.organizationId, effect)
      break
    default:
  }
}

/** Assigns the events that were waiting for a service to it. */
function linkAwaiting({ events }: Records, service: LiveService): void {
  const name = awaitedName(service)
  for (const event of events.values()) {
    if (event.organizationId !== service.organizationId || event.awaited !== name) continue
    events.set(event.rowId, { ...event, serviceId: service.rowId, awaited: null })
  }
}

function setAliases({ aliases }: Records, effect: Extract<Effect, { kind: 'aliases-set' }>): void {
  const { organizationId, serviceId } = effect
  for (const [key, alias] of aliases) if (alias.serviceId === serviceId) aliases.delete(key)
  for (const { kind, value } of effect.aliases) {
    aliases.set(`${organizationId} ${kind} ${value}`, { organizationId, serviceId })
  }
}

function pullImage(records: Records, effect: Extract<Effect, { kind: 'image-pulled' }>): void {
  const { organizationId, serviceId, image } = effect
  const { path, tag, at } = image
  const others = (records.images.get(serviceId) ?? []).filter((one) => one.path !== path || one.tag !== tag)
  records.images.set(serviceId, [...others, { path, tag, at }])
  if (effect.isNew) for (const project of image.projects) putProject(records, { organizationId, project, serviceId })
}

function putProject({ projects }: Records, of: { organizationId: number; project: string; serviceId: number }): void {
  projects.set(`${of.organizationId} ${of.project} ${of.serviceId}`, of)
}

function storeAnswer({ answers }: Records, stored: Extract<Effect, { kind: 'answer-stored' }>['answer']): void {
  const { organizationId, source, key, answer, receivedAt } = stored
  for (const [name, old] of answers) if (old.receivedAt <= receivedAt - DAY) answers.delete(name)
  answers.set(`${organizationId} ${source} ${key}`, { answer, receivedAt })
}

function mergeIncident({ alerts, timeline }: Records, effect: Extract<Effect, { kind: 'incident-merged' }>): void {
  const { from, into, ownEntries } = effect
  for (const [rowId, { live, ...rest }] of alerts) {
    if (live.incidentId === from) alerts.set(rowId, { live: { ...live, incidentId: into }, ...rest })
  }
  timeline.forEach((entry, index) => {
    if (entry.incidentId !== from || [...ownEntries, 'merged'].includes(entry.kind)) return
    timeline[index] = { ...entry, incidentId: into }
  })
}

function mergeService(records: Records, from: number, into: number): void {
  const { services, alerts, incidents, events, pipelines, links, aliases, projects, images } = records
  const [old, kept] = [services.get(from), services.get(into)]
  if (!old || !kept) throw new Error(`no service ${from} or ${into}`)
  const moved = { serviceId: into }
  for (const [rowId, one] of alerts) {
    if (one.live.serviceId === from) alerts.set(rowId, { ...one, live: { ...one.live, ...moved } })
  }
  move(incidents, from, moved)
  move(events, from, moved)
  move(links, from, moved)
  move(aliases, from, moved)
  move(pipelines, from, { ...moved, service: kept.id })
  for (const [key, project] of projects) {
    if (project.serviceId !== from) continue
    projects.delete(key)
    putProject(records, { ...project, ...moved })
  }
  const known = images.get(into) ?? []
  const isKnown = (one: SavedImage) => known.some(({ path, tag }) => path === one.path && tag === one.tag)
  images.set(into, [...known, ...(images.get(from) ?? []).filter((one) => !isKnown(one))])
  images.delete(from)
  services.set(into, { ...kept, ...newestTimes(old, kept) })
  services.delete(from)
}

function move<Key, Value extends { readonly serviceId: number | null }>(
  all: Map<Key, Value>,
  from: number,
  moved: Partial<Value>,
): void {
  for (const [key, value] of all) if (value.serviceId === from) all.set(key, { ...value, ...moved })
}

function newestTimes(a: LiveService, b: LiveService): Pick<LiveService, 'lastAlertAt' | 'lastEventAt'> {
  const newest = (one: number | null, other: number | null) =>
    one === null || other === null ? (one ?? other) : Math.max(one, other)
  return { lastAlertAt: newest(a.lastAlertAt, b.lastAlertAt), lastEventAt: newest(a.lastEventAt, b.lastEventAt) }
}
