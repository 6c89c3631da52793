/**
 * An in-memory store that implements the engine's interface. It keeps the saved effects and rebuilds the live state
 * from the resulting records.
 */

import type { StoredEvent } from '../../src/domain/event/event.ts'
import { nodeIn } from '../../src/domain/event/reason-message.ts'
import type { Notice } from '../../src/domain/notice.ts'
import { firstDueAt, scheduleAlerts } from '../../src/engine/changes/sweep.ts'
import { putAlert } from '../../src/engine/state/alerts.ts'
import { putGroup, putIncident, putSender, putSilence } from '../../src/engine/state/apply.ts'
import { ID_TABLES, type IdTable } from '../../src/engine/state/context.ts'
import { endingEventOf } from '../../src/engine/state/effect.ts'
import type { Facts } from '../../src/engine/state/facts.ts'
import type { Changes, Journal } from '../../src/engine/state/journal.ts'
import { putService } from '../../src/engine/state/services.ts'
import { createOrganizationState, type OrganizationState } from '../../src/engine/state/state.ts'
import type { EngineStore } from '../../src/engine/store.ts'
import { computeLinks, type LinkHistory, type LinkKey } from '../../src/store/correlation/compute-links.ts'
import { createRecords, type Records, recordChanges } from './records.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Creates a store that contains only these organizations, by row id. */
export function createMemoryStore(organizations: Parameters<typeof createRecords>[0]) {
  const log: Changes[] = []
  let synced = 0
  let records = createRecords(organizations)
  const store: EngineStore = {
    load: async (journal, organizationId, now) => loadState(records, journal, organizationId, now),
    organizations: async () => [...records.organizations.keys()],
    lastRowIds: async () => lastRowIds(records),
    fact: (organizationId, kind, asked) => FACTS[kind](records, organizationId, asked as never),
    save: async (changes, newId) => {
      log.push({ ...changes, effects: [...changes.effects] })
      return saveInto(records, changes, newId)
    },
    duePostmortems: () => [],
    writePostmortem: async () => {},
    tryCauses: async () => [],
    faultOf: () => null,
    sync: async () => {
      synced = log.length
    },
  }
  return {
    store,
    records: (): Records => records,
    /** Drops what was saved but not synced, and rebuilds the records from the remaining effects. */
    cutPower: () => {
      log.length = synced
      records = createRecords(organizations)
      for (const changes of log) saveInto(records, changes, () => 'rebuilt')
    },
  }
}

function saveInto(records: Records, changes: Changes, newId: () => string): Notice[] {
  recordChanges(records, changes)
  const due = changes.effects.flatMap((effect) => (effect.kind === 'links-due' ? [effect.due] : []))
  return [...computeLinks(historyOf(records), due, newId)]
}

function historyOf({ pipelines, events, images, alerts, links }: Records): LinkHistory {
  const keyOf = ({ alertId, changeKind, changeRef }: LinkKey) => `${alertId} ${changeKind} ${changeRef}`
  const within = (time: number, from: number, to: number) => time >= from && time <= to
  return {
    pipelines: (serviceId, from, to) =>
      [...pipelines.values()]
        .filter((one) => one.serviceId === serviceId && within(one.startsAt, from, to))
        .sort((a, b) => b.startsAt - a.startsAt),
    pipeline: ({ organizationId, rowId }, ref) => {
      const found = pipelines.get(`${organizationId} ${ref}`)
      return found?.serviceId === rowId ? found : null
    },
    scalings: (serviceId, to) =>
      [...events.values()]
        .filter((one) => one.serviceId === serviceId && one.kind === 'change' && one.at <= to)
        .map(({ id, object, text, at }) => ({ eventId: id, object, text, at })),
    images: (serviceId) => imagesOf(images, serviceId),
    sightings: (alertId, from, to) =>
      [...events.values()]
        .filter((one) => one.alertId === alertId && one.kind === 'firing')
        .filter(({ at, firstSeenAt }) => at >= from && firstSeenAt <= to)
        .sort((a, b) => a.at - b.at || a.rowId - b.rowId)
        .map(({ id, at, firstSeenAt, count }) => ({ eventId: id, at, firstSeenAt, count })),
    evidence: (serviceId, from, to) =>
      [...alerts.values()]
        .filter(({ live }) => live.serviceId === serviceId && live.alert.source !== 'ci')
        .filter(({ live: { alert } }) => alert.severity !== 'info' && alert.startsAt <= to && alert.lastSeenAt >= from)
        .map(({ live }) => live.rowId),
    linkedPipelines: (alertId) =>
      [...links.values()].flatMap((one) =>
        one.alertId === alertId ? (pipelines.get(`${one.organizationId} ${one.changeRef}`) ?? []) : [],
      ),
    linkedAlerts: (serviceId, changeRef) =>
      [...links.values()]
        .filter((one) => one.serviceId === serviceId && one.changeRef === changeRef)
        .map(({ alertId }) => alertId),
    linkedChanges: (alertId) =>
      [...links.values()].flatMap((one) => (one.alertId === alertId ? `${one.changeKind} ${one.changeRef}` : [])),
    store: (of, link) => void links.set(keyOf(of), { ...of, link }),
    drop: (key) => void links.delete(keyOf(key)),
  }
}

function imagesOf(images: Records['images'], serviceId: number) {
  return [...(images.get(serviceId) ?? [])].sort((a, b) => b.at - a.at).map(({ path, tag }) => ({ path, tag }))
}

function lastRowIds(records: Records): Record<IdTable, number> {
  return Object.fromEntries(ID_TABLES.map((table) => [table, Math.max(0, ...records[table].keys())])) as Record<
    IdTable,
    number
  >
}

/** Rebuilds an organization's live state from the records. Returns null if the organization does not exist. */
function loadState(records: Records, journal: Journal, rowId: number, now: number): OrganizationState | null {
  const organization = records.organizations.get(rowId)
  if (!organization) return null
  const state = createOrganizationState(journal, { rowId, ...organization })
  const own = <Value extends { readonly organizationId: number }>(all: ReadonlyMap<unknown, Value>) =>
    [...all.values()].filter(({ organizationId }) => organizationId === rowId)
  const unknown = { endingEventAt: null, changeAt: null, hasOnlyCi: null }
  for (const service of own(records.services)) putService(state, { ...service, ...unknown })
  for (const [key, { organizationId, serviceId }] of records.aliases) {
    if (organizationId === rowId) state.aliases.set(key.slice(`${rowId} `.length), serviceId)
  }
  for (const { project, serviceId } of own(records.projects)) state.projects.add(project, serviceId)
  for (const sender of own(records.senders)) {
    putSender(state, sender)
    for (const group of records.groups.values()) if (group.senderId === sender.rowId) putGroup(state, group)
  }
  for (const silence of own(records.silences))
    if (silence.endsAt > now - HOUR || silence.changesAt !== null) putSilence(state, silence)
  for (const incident of own(records.incidents)) {
    if (incident.resolvedAt === null || incident.resolvedAt > now - DAY) putIncident(state, incident)
  }
  for (const { live, settledAt } of records.alerts.values()) {
    if (settledAt !== null || live.organizationId !== rowId) continue
    putAlert(state, { ...live, dueAt: firstDueAt(state, live) })
  }
  scheduleAlerts(state)
  return state
}

type Answers = {
  readonly [Kind in keyof Facts]: (records: Records, rowId: number, asked: Facts[Kind]['asked']) => Facts[Kind]['found']
}

const FACTS: Answers = {
  // The simulation adds fewer notes than an incident may have.
  notes: () => ({ entries: 0, length: 0 }),
  answer: ({ answers }, rowId, { source, key, since }) => {
    const found = answers.get(`${rowId} ${source} ${key}`)
    return found && found.receivedAt > since ? found.answer : null
  },
  recentEvents: ({ events }, _, { serviceId, from }) =>
    [...events.values()]
      .filter((one) => one.serviceId === serviceId && one.at >= from)
      .sort((a, b) => a.at - b.at || a.rowId - b.rowId),
  endingEvents: (records, rowId, { serviceId, awaited, from }) =>
    eventsOf(records, rowId, serviceId, awaited)
      .flatMap((event) => endingEventOf(event) ?? [])
      .filter(({ at }) => at >= from),
  newest: (records, rowId, { serviceId, awaited }) => {
    const events = eventsOf(records, rowId, serviceId, awaited)
    const own = events.filter((event) => event.serviceId === serviceId && event.kind === 'change')
    const pipelines = [...records.pipelines.values()].filter((one) => one.serviceId === serviceId)
    return {
      endingEventAt: Math.max(0, ...events.map(({ at }) => at)),
      changeAt: Math.max(0, ...own.map(({ at }) => at), ...pipelines.map(({ endsAt }) => endsAt)),
    }
  },
  hasAwaited: ({ events }, rowId) =>
    [...events.values()].some((one) => one.organizationId === rowId && one.awaited !== null),
  hasOnlyCi: ({ events, alerts, images }, _, { serviceId }) =>
    [...events.values(), ...[...alerts.values()].map(({ live: { alert, ...rest } }) => ({ ...rest, ...alert }))].every(
      (one) => one.serviceId !== serviceId || one.source === 'ci',
    ) && !images.has(serviceId),
  images: ({ images }, _, { serviceId }) => imagesOf(images, serviceId),
  pipeline: ({ pipelines }, rowId, { ref }) => pipelines.get(`${rowId} ${ref}`) ?? null,
  labels: ({ alerts }, _, { rowIds }) => {
    const wanted = [...alerts.values()].filter((one) => rowIds.includes(one.live.rowId))
    return new Map(wanted.map((one) => [one.live.rowId, one.labels]))
  },
  // The simulation compares the live state. A postmortem does not change it.
  alertsOfDraft: () => null,
  mergedInto: ({ timeline, incidents }, rowId, { incidentId }) => {
    const isMove = ({ kind }: { readonly kind: string }) => kind === 'merged' || kind === 'status'
    const last = timeline.findLast((one) => one.incidentId === incidentId && isMove(one))
    const ref = last?.kind === 'merged' ? last.ref : null
    const all = [...incidents.values()].filter(({ organizationId }) => organizationId === rowId)
    const number = all.sort((a, b) => a.rowId - b.rowId).findIndex(({ id }) => ref === `incident/${id}`) + 1
    return number || null
  },
  silence: ({ silences }, rowId, { id }) => find(silences, rowId, id),
  incident: ({ incidents }, rowId, { id }) => find(incidents, rowId, id),
  nodeOfPod: ({ events }, _, { serviceId, pod }) =>
    [...events.values()]
      .filter((one) => one.serviceId === serviceId && one.object === `Pod/${pod}`)
      .sort((a, b) => b.at - a.at)
      .flatMap((one) => nodeIn(one) ?? [])[0] ?? null,
  event: ({ events }, rowId, asked) =>
    [...events.values()].find(
      (one) =>
        one.organizationId === rowId &&
        one.at === asked.at &&
        [one.object, one.name, one.text].join() === [asked.object, asked.name, asked.text].join(),
    ) ?? null,
  summary: ({ events }, _, { alertId, severity }) =>
    [...events.values()]
      .filter((one) => one.alertId === alertId && one.kind === 'firing' && one.severity === severity)
      .sort((a, b) => b.at - a.at || b.rowId - a.rowId)[0]?.text ?? null,
  alert: ({ alerts }, rowId, { id }) =>
    [...alerts.values()].find(({ live }) => live.organizationId === rowId && live.id === id)?.live.rowId ?? null,
}

/** Returns the events of a service and those waiting for it, oldest first. */
function eventsOf({ events }: Records, rowId: number, serviceId: number, awaited: string): StoredEvent[] {
  return [...events.values()]
    .filter((one) => one.serviceId === serviceId || (one.organizationId === rowId && one.awaited === awaited))
    .sort((a, b) => a.at - b.at)
}

function find<Value extends { readonly organizationId: number; readonly id: string }>(
  all: ReadonlyMap<number, Value>,
  rowId: number,
  id: string,
): Value | null {
  return [...all.values()].find((one) => one.organizationId === rowId && one.id === id) ?? null
}
