/** Events as the write path sees them: stored, found again when something came late, linked to a service made later. */

import type { Heard } from '../domain/alert/late-events.ts'
import type { Source } from '../domain/event/event.ts'
import type { Severity } from '../domain/severity.ts'
import { insertPayload } from './payloads.ts'
import type { Db } from './sqlite/open.ts'
import { query } from './sqlite/query.ts'
import { uuidBytes } from './sqlite/uuid.ts'

export type NewEvent = {
  readonly uuid: string
  readonly organizationId: number
  readonly serviceId: number | null
  readonly alertId: number | null
  readonly source: Source
  readonly kind: string
  readonly name: string
  readonly object: string
  readonly severity: Severity
  readonly text: string
  /** How often the sender itself saw it by then. */
  readonly count: number
  /** `cluster/namespace/name` of a service that does not exist yet. */
  readonly awaited: string | null
  readonly at: number
  readonly receivedAt: number
  /** As received, secrets replaced: JSON. */
  readonly body: string
}

const insert = query<Omit<NewEvent, 'uuid' | 'body'> & { uuid: Buffer }>()((sql, hole) =>
  sql.insertInto('events').values({
    uuid: hole('uuid'),
    organization_id: hole('organizationId'),
    service_id: hole('serviceId'),
    alert_id: hole('alertId'),
    source: hole('source'),
    kind: hole('kind'),
    name: hole('name'),
    object: hole('object'),
    severity: hole('severity'),
    text: hole('text'),
    count: hole('count'),
    awaited: hole('awaited'),
    at: hole('at'),
    received_at: hole('receivedAt'),
  }),
)

/** Stores an event with its body; its row id. */
export function insertEvent(db: Db, event: NewEvent): number {
  if (event.kind === 'change' && event.serviceId !== null) db.memory.forget('changes', event.serviceId)
  const id = db.insert(insert, { ...event, uuid: uuidBytes(event.uuid) })
  insertPayload(db, id, event.body)
  return id
}

/** How many later events can still speak of an end; more are a day's noise of another time. */
const MOST_LATER = 200

const later = query<{ serviceId: number; from: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select(['kind', 'name', 'object', 'text', 'at'])
    .where('service_id', '=', hole('serviceId'))
    .where('at', '>=', hole('from'))
    .where('kind', 'in', ['info', 'change', 'success'])
    .orderBy('at')
    .limit(MOST_LATER),
)

/** What was already heard of the service from a time on, as far as it can end a condition. */
export function listHeardSince(db: Db, serviceId: number, from: number): Heard[] {
  return db.all(later, { serviceId, from })
}

const notOfCi = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('events')
    .select('id')
    .where('service_id', '=', hole('serviceId'))
    .where('source', '!=', 'ci')
    .limit(1),
)

const workload = query<{ serviceId: number }>()((sql, hole) =>
  sql
    .selectFrom('alerts')
    .select('service_id')
    .where('service_id', '=', hole('serviceId'))
    .where('source', '!=', 'ci')
    .unionAll(sql.selectFrom('images').select('service_id').where('service_id', '=', hole('serviceId')))
    .limit(1),
)

/** Whether nothing but CI has ever spoken of the service; its alerts and images tell of events that were pruned. */
export function isOfCiAlone(db: Db, serviceId: number): boolean {
  return db.first(notOfCi, { serviceId }) === undefined && db.first(workload, { serviceId }) === undefined
}

/** The name under which events wait for a service. */
export function awaitedName(key: {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}): string {
  return `${key.cluster}/${key.namespace}/${key.name}`
}

const link = query<{ organizationId: number; awaited: string; serviceId: number }>()((sql, hole) =>
  sql
    .updateTable('events')
    .set({ service_id: hole('serviceId'), awaited: null })
    .where('organization_id', '=', hole('organizationId'))
    .where('awaited', '=', hole('awaited')),
)

/** Gives the events that waited for a service to it. */
export function linkAwaiting(db: Db, organizationId: number, awaited: string, serviceId: number): void {
  db.run(link, { organizationId, awaited, serviceId })
}
