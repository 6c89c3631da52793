/** Helpers for retention: records, a complete pruning run, and the records that must remain. */
import assert from 'node:assert/strict'
import type { Deps } from '../../src/actions/deps.ts'
import { type PruneOutcome, prune } from '../../src/actions/pruning/prune.ts'
import { findOrganization } from '../../src/store/organizations.ts'
import { uuidFromBytes } from '../../src/store/sqlite/uuid.ts'
import { changeIncident } from './acts.ts'
import { DAY, type Made, NOON } from './factory.ts'
import type { Flow } from './flow.ts'
import { crashLoop, kubernetesEvent } from './senders.ts'

const HOUR = DAY / 24
const MINUTE = HOUR / 60

export const POD = 'cart-5d4f8c7b9-x2kqp'
export const routine = (at?: number) => kubernetesEvent('Scheduled', POD, at === undefined ? {} : { at })

/** Sends a week of routine events that ends at noon, so that other events are not the majority. */
export async function routineWeek(flow: Flow, as = flow.acme): Promise<void> {
  for (let day = 6; day >= 0; day -= 1) await flow.send('cluster', routine(), { at: NOON - day * DAY, as })
}

/** Sends a crash loop of half an hour that opens an incident, then resolves the incident by hand. */
export async function incidentAt(flow: Flow, at: number, as: Made): Promise<{ id: string; key: number }> {
  for (const minute of [0, 2, 4, 30]) {
    await flow.send('cluster', crashLoop(POD, { count: minute + 1 }), { at: at + minute * MINUTE, as })
    await flow.sweepUntil(flow.clock.now + 1000)
  }
  const incident = flow.incidents(as).at(-1) ?? assert.fail('no incident opened')
  await changeIncident(flow.deps, as.key, incident.id, { status: 'resolved' }, 'Ann')
  return incident
}

/** Returns the ages of the remaining events in days before noon. */
export function eventsOf(flow: Flow, as = flow.acme): number[] {
  return inventory(flow, as).events.map(({ at }) => Math.round((at - NOON) / DAY))
}

/** Runs a complete pruning run in steps of this many rows. Calls `between` after each step. */
export function pruneFully(
  deps: Deps,
  of: Made,
  { approved = true, rows = 50, between = () => {} }: { approved?: boolean; rows?: number; between?: () => void } = {},
): PruneOutcome {
  const pass = pruneInSteps(deps, of, { approved, rows })
  for (;;) {
    const step = pass.next()
    if (step.done) return step.value
    between()
  }
}

export function pruneInSteps(deps: Deps, of: Made, { approved = true, rows = 50 } = {}): ReturnType<typeof prune> {
  const organization = findOrganization(deps.db, of.key)
  if (!organization) throw new Error(`no organization ${of.key}`)
  return prune(deps, organization, { approved, rows: { events: rows, alerts: rows, records: rows } })
}

/** Returns the ids of all records, by kind. */
export function inventory({ deps }: Flow, of: Made) {
  const { db } = deps
  const rows = <Row>(table: 'events' | 'alerts' | 'incidents' | 'correlations') =>
    db.all(db.sql.selectFrom(table).selectAll().where('organization_id', '=', of.key)) as Row[]
  const pipelines = db.all(db.sql.selectFrom('pipelines').selectAll().where('organization_id', '=', of.key))
  const timeline = db.all(db.sql.selectFrom('timeline').selectAll())
  const postmortems = db.all(db.sql.selectFrom('postmortems').selectAll())
  return {
    events: rows<EventRow>('events'),
    alerts: rows<AlertRow>('alerts'),
    incidents: rows<IncidentRow>('incidents'),
    correlations: rows<CorrelationRow>('correlations'),
    ...{ pipelines, timeline, postmortems },
  }
}
type EventRow = {
  id: number
  service_id: number | null
  alert_id: number | null
  uuid: Buffer
  at: number
  received_at: number
  kind: string
  source: string
  name: string
}
type AlertRow = {
  id: number
  service_id: number
  uuid: Buffer
  settled_at: number | null
  incident_id: number | null
  starts_at: number
  last_seen_at: number
}
type IncidentRow = {
  id: number
  service_id: number
  uuid: Buffer
  status: string
  created_at: number
  started_at: number
  resolved_at: number | null
  touched_at: number | null
}
type CorrelationRow = {
  id: number
  alert_id: number
  change_ref: string
  change_event_id: number
  evidence_event_id: number
}

type Inventory = ReturnType<typeof inventory>
export type Kept = Readonly<Record<'events' | 'alerts' | 'incidents' | 'correlations' | 'pipelines', string[]>>

/** An organization's retention limits. */
export type Days = { readonly events: number; readonly alerts: number; readonly incidents?: number }

/** Returns what must remain of an inventory according to the documentation. */
export function expectedOf(all: Inventory, now: number, days: Days = { events: 30, alerts: 400 }): Kept {
  const [eventsCut, alertsCut] = [now - days.events * DAY, now - days.alerts * DAY]
  const toldCut = Math.min(alertsCut, now - (days.incidents ?? 730) * DAY)
  const told = new Set(all.postmortems.map((one) => one.incident_id))
  const live = new Set(all.alerts.filter((one) => one.settled_at === null).map((one) => one.incident_id))
  const incidents = all.incidents.filter((one) => {
    const last = Math.max(one.created_at, one.started_at, one.resolved_at ?? 0, one.touched_at ?? 0)
    return one.status !== 'resolved' || live.has(one.id) || last > (told.has(one.id) ? toldCut : alertsCut)
  })
  const incidentIds = new Set(incidents.map(({ id }) => id))
  const texts = all.postmortems
    .filter((one) => incidentIds.has(one.incident_id))
    .map(({ document }) => document)
    .concat(all.timeline.filter((one) => incidentIds.has(one.incident_id)).map(({ ref }) => ref ?? ''))
  const isNamed = (ref: string) => texts.some((text) => text.includes(ref))
  const spans = incidents.map(({ id, service_id, started_at, resolved_at }) => ({
    services: [service_id, ...all.alerts.filter((one) => one.incident_id === id).map((one) => one.service_id)],
    from: started_at - 2 * HOUR,
    to: Math.max(started_at + 30 * MINUTE, resolved_at ?? now),
  }))
  const held = all.events.filter(
    (one) =>
      isNamed(`event/${uuidFromBytes(one.uuid)}`) ||
      spans.some(({ from, to, services }) => {
        if (one.at > to || (one.kind !== 'change' && one.at < from)) return false
        const isTold = ['firing', 'resolved', 'info'].includes(one.kind) && services.includes(one.service_id ?? -1)
        const isTrouble = one.source === 'cluster' && (one.kind === 'firing' || one.name === 'Starting')
        return isTold || isTrouble || (one.kind === 'change' && one.at >= from - 24 * HOUR)
      }),
  )
  const heldIds = new Set(held.map(({ id }) => id))
  const heldAlerts = new Set(held.map(({ alert_id }) => alert_id))
  const alerts = all.alerts.filter(
    (one) =>
      one.settled_at === null ||
      one.settled_at > alertsCut ||
      incidentIds.has(one.incident_id ?? -1) ||
      heldAlerts.has(one.id) ||
      isNamed(`alert/${uuidFromBytes(one.uuid)}`) ||
      spans.some(({ from, to }) => one.starts_at <= to && one.last_seen_at >= from),
  )
  const alertIds = new Set(alerts.map(({ id }) => id))
  const correlations = all.correlations.filter((one) => alertIds.has(one.alert_id))
  const receipts = new Map(all.events.map((one) => [one.id, one.received_at]))
  const pipelines = all.pipelines.filter(
    (one) =>
      Math.max(one.starts_at, one.ends_at, receipts.get(one.event_id) ?? 0) > alertsCut ||
      correlations.some(({ change_ref }) => change_ref === one.ref) ||
      spans.some(({ from, to }) => one.starts_at >= from - 24 * HOUR && one.starts_at <= to),
  )
  const lasts = new Map(all.events.toSorted((a, b) => a.id - b.id).map((one) => [one.alert_id, one.id]))
  const active = alerts.filter((one) => one.settled_at === null)
  const firsts = new Map(
    all.events
      .filter(({ kind }) => kind === 'firing')
      .toSorted((a, b) => b.at - a.at || b.id - a.id)
      .map((one) => [one.alert_id, one.id]),
  )
  const cited = new Set([
    ...alerts.filter((one) => incidentIds.has(one.incident_id ?? -1)).map(({ id }) => firsts.get(id)),
    ...active.map(({ id }) => lasts.get(id)),
    ...pipelines.map((one) => one.event_id),
    ...correlations.flatMap((one) => [one.change_event_id, one.evidence_event_id]),
  ])
  const events = all.events.filter(
    (one) => one.at > eventsCut || one.received_at > eventsCut || cited.has(one.id) || heldIds.has(one.id),
  )
  return namesOf({ ...all, incidents, alerts, correlations, pipelines, events })
}

/** Sorts the ids so that inventories can be compared. */
export function namesOf(all: Pick<Inventory, keyof Kept>): Kept {
  const named = (rows: readonly { uuid: Buffer }[]) => rows.map(({ uuid }) => uuidFromBytes(uuid)).sort()
  const keyed = (rows: readonly { id: number }[]) => rows.map(({ id }) => String(id)).sort()
  return {
    events: named(all.events),
    alerts: named(all.alerts),
    incidents: named(all.incidents),
    correlations: keyed(all.correlations),
    pipelines: keyed(all.pipelines),
  }
}
