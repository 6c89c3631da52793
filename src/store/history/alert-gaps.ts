/** Reads the gaps of flapping alerts. */
import { sql } from 'kysely'
import { type Gap, gapsOfEvents } from '../../domain/alert/groups.ts'
import { payloadOf } from '../payloads.ts'
import type { Db } from '../sqlite/open.ts'
import { query } from '../sqlite/query.ts'
import { uuidBytes } from '../sqlite/uuid.ts'

const FINGERPRINT = sql<string | null>`${payloadOf()} ->> '$.fingerprint'`
/** The maximum number of events to read for each alert, newest first. */
const MAX_EVENTS = 200

/**
 * Returns the gaps of alerts by id. An alert with several fingerprints has none: one of them can fire while another has
 * ended. Most alerts have never ended in between, so the payloads with the fingerprints are read only for the others.
 */
export function findAlertGaps(
  db: Db,
  organizationId: number,
  ids: readonly string[],
): ReadonlyMap<string, readonly Gap[]> {
  return new Map(
    ids.map((id) => {
      const asked = { id: uuidBytes(id), organizationId }
      const gaps = gapsOfEvents(db.all(events, asked))
      return [id, gaps.length > 0 && db.all(fingerprints, asked).length > 1 ? [] : gaps] as const
    }),
  )
}

type Asked = { id: Buffer; organizationId: number }

const events = query<Asked>()((builder, hole) =>
  builder
    .selectFrom('alerts')
    .innerJoin('events', 'events.alert_id', 'alerts.id')
    .select(['events.kind', 'events.at'])
    .where('alerts.uuid', '=', hole('id'))
    .where('alerts.organization_id', '=', hole('organizationId'))
    .orderBy('events.at', 'desc')
    .limit(MAX_EVENTS),
)

/** Two different fingerprints are enough to know. */
const fingerprints = query<Asked>()((builder, hole) =>
  builder
    .selectFrom(
      builder
        .selectFrom('alerts')
        .innerJoin('events', 'events.alert_id', 'alerts.id')
        .select(FINGERPRINT.as('fingerprint'))
        .where('alerts.uuid', '=', hole('id'))
        .where('alerts.organization_id', '=', hole('organizationId'))
        .orderBy('events.at', 'desc')
        .limit(MAX_EVENTS)
        .as('newest'),
    )
    .select('fingerprint')
    .distinct()
    .limit(2),
)
