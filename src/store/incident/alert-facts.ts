/** Reads an incident's alerts for its timeline and postmortem. */
import { sql } from 'kysely'
import { runsOf } from '../../domain/alert/groups.ts'
import { isNotification } from '../../domain/event/event.ts'
import { reportedNode } from '../../domain/event/reason-message.ts'
import type { EntryFact } from '../../domain/incident/facts.ts'
import type { LiveIncident } from '../../domain/incident/live-incident.ts'
import { cacheByKey } from '../../domain/memoize.ts'
import { isNodeService } from '../../domain/service/node.ts'
import { rank } from '../../domain/severity.ts'
import { serviceName } from '../../domain/text.ts'
import { linksColumn } from '../alert-texts.ts'
import { findAlertGaps } from '../history/alert-gaps.ts'
import { payloadOf } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidFromBytes, uuidFromHex } from '../sqlite/uuid.ts'

/** The maximum number of alerts to read. The limit is high, because similar alerts share rows in the timeline. */
const MAX_ALERTS = 20_000
const MAX_SEEN = 2_000
const MAX_OBJECTS = 100
const MAX_FIRST_TEXTS = 200

/**
 * Selects only the columns needed for the timeline, because an alert storm has thousands of alerts. SQLite returns text
 * faster than a Buffer.
 */
function timelineAlerts(db: Db, incidentId: number) {
  return db.sql
    .selectFrom('alerts')
    .select(['id as rowId', 'name', 'source', 'severity', 'summary', 'labels', 'occurrences', 'service_id'])
    .select(['starts_at as startsAt', 'ends_at as endsAt', 'last_seen_at as lastSeenAt', 'resolution'])
    .select(sql<string>`lower(hex(uuid))`.as('hex'))
    .where('incident_id', '=', incidentId)
    .orderBy('starts_at')
    .limit(MAX_ALERTS)
}

/** Returns an incident's alerts with the fields needed for the timeline, oldest first. */
export function timelineAlertsOf(db: Db, incidentId: number) {
  return withFirstTexts(db, withService(db, db.all(timelineAlerts(db, incidentId))))
}

/** Returns an incident's alerts with all fields needed for a postmortem, oldest first. */
export function alertsOf(db: Db, incidentId: number) {
  const linksOf = parsedOnce()
  const alerts = timelineAlerts(db, incidentId)
    .select(['node', 'failure', 'group_id', 'expires_at'])
    .select(linksColumn)
    .select(sql<string | null>`annotations ->> '$.hint'`.as('hint'))
  return withFirstTexts(db, withService(db, db.all(alerts))).map((alert) =>
    Object.assign(alert, {
      links: linksOf(alert.links),
      isDirect: alert.source === 'metrics' && alert.group_id === null && alert.expires_at !== null,
      ...(alert.source === 'cluster' ? sightedOf(db, alert) : { objects: [], nodes: nodesOf([alert.node]) }),
    }),
  )
}

type FirstOf = {
  readonly [name in 'name' | 'source' | 'severity' | 'summary' | 'hex']: string
} & { readonly [name in 'rowId' | 'service_id' | 'startsAt' | 'occurrences']: number } & {
  readonly endsAt: number | null
}

function withService<Row extends { readonly hex: string; readonly labels: string; readonly service_id: number }>(
  db: Db,
  rows: readonly Row[],
) {
  const ownerOf = cacheByKey(
    (row: Row) => row.service_id,
    (row) => serviceOf(db, row.service_id),
  )
  return rows.map((row) => {
    const service = ownerOf(row)
    // Extends the row instead of copying it, because an alert storm has thousands of rows.
    return Object.assign(row, {
      uuid: uuidFromHex(row.hex),
      serviceId: service.uuid,
      service,
      labels: JSON.parse(row.labels) as Record<string, string>,
    })
  })
}

const firstEvent = query<{ alertId: number }>()((builder, hole) =>
  builder
    .selectFrom('events')
    .select('text')
    .where('alert_id', '=', hole('alertId'))
    .where('kind', '=', 'firing')
    .orderBy('at')
    .orderBy('id')
    .limit(1),
)

/**
 * Adds the text of the first event to each alert that begins a row of the timeline, because each repeat replaces the
 * summary. An alert storm has at most `MAX_FIRST_TEXTS` of them.
 */
function withFirstTexts<Row extends FirstOf>(db: Db, rows: Row[]): (Row & { firstText?: string })[] {
  const similar = Map.groupBy(rows, (row) => JSON.stringify([row.service_id, row.name, row.source, row.severity]))
  const first = [...similar.values()].flatMap(runsOf).map(({ start, alerts }) => {
    return alerts.filter(({ startsAt }) => startsAt === start).reduce((a, b) => (b.hex < a.hex ? b : a))
  })
  for (const row of first.toSorted((a, b) => a.startsAt - b.startsAt).slice(0, MAX_FIRST_TEXTS)) {
    if (row.occurrences === 1) continue
    const text = db.first(firstEvent, { alertId: row.rowId })?.text
    if (text !== undefined && text !== row.summary) Object.assign(row, { firstText: text })
  }
  return rows
}

/** Returns a parser that caches the last result, because similar alerts often have the same links. */
function parsedOnce(): (text: string) => Readonly<Record<string, string>> {
  let known = { text: '{}', value: {} }
  return (text) => {
    if (text !== known.text) known = { text, value: JSON.parse(text) }
    return known.value
  }
}

const service = query<{ rowId: number }>()((builder, hole) =>
  builder.selectFrom('services').select(['uuid', 'namespace', 'name', 'cluster']).where('id', '=', hole('rowId')),
)

export function serviceOf(db: Db, rowId: number) {
  const found = findServiceOf(db, rowId)
  if (!found) throw new Error(`no service ${rowId}`)
  return found
}

export function findServiceOf(db: Db, rowId: number) {
  const row = db.first(service, { rowId })
  return row && { rowId, uuid: uuidFromBytes(row.uuid), namespace: row.namespace, name: row.name, cluster: row.cluster }
}

const sighted = query<{ alertId: number }>()((builder, hole) =>
  builder
    .selectFrom('events')
    .select(['object', payloadOf().as('body')])
    .where('alert_id', '=', hole('alertId'))
    .orderBy('at', 'desc')
    .limit(MAX_SEEN),
)

/** Returns the objects and nodes that an alert's events name. */
function sightedOf(db: Db, { rowId, node }: { readonly rowId: number; readonly node: string | null }) {
  const rows = db.all(sighted, { alertId: rowId })
  const objects = new Set(rows.flatMap((row) => (row.object === '' ? [] : [row.object])))
  return {
    objects: [...objects].slice(0, MAX_OBJECTS),
    nodes: nodesOf([...rows.map(({ body }) => reportedNode(body)), node]),
  }
}

function nodesOf(nodes: readonly (string | null)[]): string[] {
  return [...new Set(nodes.flatMap((node) => node ?? []))].filter((node) => node !== '').slice(0, MAX_OBJECTS)
}

/** Returns the alerts of workloads on a node that began between two times. */
export function alertsOnNode(
  db: Db,
  organizationId: number,
  { node, from, to }: { readonly node: string; readonly from: number; readonly to: number },
) {
  const found = db.sql
    .selectFrom('alerts')
    .select(['id as rowId', 'name', 'node', 'service_id', 'starts_at as startsAt'])
    .select(sql<string>`lower(hex(uuid))`.as('hex'))
    .where('organization_id', '=', organizationId)
    .where('starts_at', '>=', from)
    .where('starts_at', '<=', to)
    .where('source', '=', 'cluster')
    .where('severity', '!=', 'info')
    .orderBy('starts_at')
    .limit(MAX_SEEN)
  return db.all(found).flatMap(({ rowId, hex, name, startsAt, service_id, ...alert }) => {
    const on = db.all(sighted, { alertId: rowId }).filter(({ body }) => (reportedNode(body) ?? alert.node) === node)
    const service = serviceOf(db, service_id)
    if (on.length === 0 || isNodeService(service)) return []
    const objects = [...new Set(on.map(({ object }) => object))].filter((object) => object !== '')
    return [{ ref: `alert/${uuidFromHex(hex)}`, name, startsAt, service: serviceName(service), objects }]
  })
}

export type AlertRows = ReturnType<typeof alertsOf>

// What became of alerts before they belonged to an incident.

/** The maximum number of alerts of an incident to look at, earliest first. */
const MAX_EARLY = 20

/**
 * Adds to the entries of an incident what became of its alerts before: when they ended and fired again, and when they got
 * worse. The stored entries begin with the incident.
 */
export function withMovesBefore(
  db: Db,
  { organizationId, createdAt }: Pick<LiveIncident, 'organizationId' | 'createdAt'>,
  alerts: readonly Early[],
  entries: readonly EntryFact[],
): readonly EntryFact[] {
  const isEarly = ({ source, startsAt, occurrences }: Early) =>
    isNotification({ source }) && startsAt < createdAt && occurrences > 2
  const early = alerts.filter(isEarly).slice(0, MAX_EARLY)
  const ids = early.map(({ uuid }) => uuid)
  const gaps = findAlertGaps(db, organizationId, ids)
  const moves = early.flatMap(({ uuid, rowId, name: text, severity: to }) => {
    const common = { actor: null, ref: `alert/${uuid}`, text }
    const known = entries.filter(({ ref }) => ref === common.ref)
    const first = Math.min(createdAt, ...known.map(({ at }) => at))
    const own = (gaps.get(uuid) ?? []).filter(([from]) => from < first)
    if (own.length === 0) return []
    const rises = db.all(firstOfSeverity, { rowId }).filter(({ at }) => at <= first)
    const [was, now] = [rises.findLast(({ severity }) => rank(severity) < rank(to)), rises.at(-1)]
    const isRise = was && now?.severity === to && known.every(({ code }) => code !== 'severity')
    const facts = { code: 'severity', from: was?.severity ?? null, to } as const
    return [
      ...own.flatMap(([from, to]) => [
        { ...common, at: from, kind: 'ended', code: 'reported' },
        { ...common, at: to, kind: 'alert', code: 'again' },
      ]),
      ...(isRise ? [{ ...common, at: now.at, kind: 'alert', code: 'severity', facts }] : []),
    ]
  })
  return [...moves, ...entries]
}

type Early = Pick<AlertRows[number], 'uuid' | 'rowId' | 'name' | 'source' | 'severity' | 'startsAt' | 'occurrences'>

/** Selects when an alert was first reported with each severity. */
const firstOfSeverity = query<{ rowId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(({ fn }) => ['severity', fn.min('at').as('at')])
    .where('alert_id', '=', hole('rowId'))
    .where('kind', '=', 'firing')
    .groupBy('severity')
    .orderBy('at'),
)
