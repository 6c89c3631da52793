/** Reads the events of a service for timelines and postmortems. */
import { sql } from 'kysely'
import { TIMELINE_KINDS } from '../../domain/retention.ts'
import type { TimeSpan } from '../read.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** The maximum number of events to read per service, earliest first. */
export const MAX_EVENTS_PER_SERVICE = 2_000

const COLUMNS = ['uuid', 'at', 'source', 'kind', 'name', 'object', 'text'] as const

const telling = query<{ serviceId: number; from: number; to: number; counted: number }>()((builder, hole) =>
  builder
    .selectFrom(
      builder
        .selectFrom('events')
        .leftJoin('alerts', 'alerts.id', 'events.alert_id')
        .leftJoin('incidents', 'incidents.id', 'alerts.incident_id')
        .select(['events.uuid', 'events.at', 'events.source', 'events.kind', 'events.name', 'events.object'])
        .select([
          'events.text',
          'alerts.uuid as alert',
          'alerts.incident_id as incidentId',
          'incidents.title as incident',
          'incidents.number as incidentNumber',
        ])
        .where('events.service_id', '=', hole('serviceId'))
        .where('events.at', '>=', hole('from'))
        .where('events.at', '<=', hole('to'))
        .where('events.kind', 'in', TIMELINE_KINDS)
        .orderBy('events.at')
        .limit(MAX_EVENTS_PER_SERVICE)
        .as('limited'),
    )
    .select([...COLUMNS, 'alert', 'incident', 'incidentNumber'])
    // Events from a cluster name objects, which no alert counts.
    .where(sql<boolean>`(kind <> 'firing' OR source = 'cluster' OR incidentId IS NOT ${hole('counted')})`)
    .orderBy('at'),
)

/**
 * @param counted the row id of an incident whose alerts count their events, so that most of these are not read; 0 for none
 */
export function eventsOf(db: Db, serviceId: number, { from, to }: TimeSpan, counted = 0) {
  return db
    .all(telling, { serviceId, from, to, counted })
    .map(({ uuid, alert, incident, incidentNumber, ...event }) => ({
      ...event,
      incident: incident === null ? null : { title: incident, number: incidentNumber },
      uuid: uuidFromBytes(uuid),
      alertId: alert && uuidFromBytes(alert),
    }))
}

/** Returns the row ids of those of an organization's incidents that have a note with this text, in any case. */
export function findNoted(
  db: Db,
  _organizationId: number,
  incidents: readonly { readonly rowId: number }[],
  text: string,
): ReadonlySet<number> {
  const ids = listed(JSON.stringify(incidents.map(({ rowId }) => rowId)))
  const notes = db.sql.selectFrom('timeline').select(['incident_id', 'text']).where('kind', '=', 'note')
  const found = db.all(notes.where('incident_id', 'in', ids))
  const wanted = text.toLowerCase()
  return new Set(found.filter((note) => note.text.toLowerCase().includes(wanted)).map((note) => note.incident_id))
}
