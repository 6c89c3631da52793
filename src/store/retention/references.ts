/** Finds the events and alerts that retained records reference, so that pruning keeps these events and alerts. */
import { type Cutoffs, isIncidentDue } from '../../domain/retention.ts'
import type { Db } from '../sqlite/open.ts'
import { listed, query } from '../sqlite/query.ts'
import { AGED_COLUMNS, toAged } from './expired-alerts.ts'

const byRecords = query<{ ids: string }>()((builder, hole) =>
  builder
    .selectFrom('pipelines')
    .select('event_id as id')
    .where('event_id', 'in', listed(hole('ids')))
    .union(
      builder
        .selectFrom('correlations')
        .select('change_event_id as id')
        .where('change_event_id', 'in', listed(hole('ids'))),
    )
    .union(
      builder
        .selectFrom('correlations')
        .select('evidence_event_id as id')
        .where('evidence_event_id', 'in', listed(hole('ids'))),
    )
    .union(
      builder
        .selectFrom('events')
        .innerJoin('alerts', 'alerts.id', 'events.alert_id')
        .select('events.id')
        .where('events.id', 'in', listed(hole('ids')))
        .whereRef('alerts.last_event_id', '=', 'events.id')
        .where('alerts.settled_at', 'is', null),
    ),
)

/**
 * Returns the row ids of events referenced by a pipeline, a link or an active alert. An alert references its last event
 * because the response to a repeat contains that event's id.
 */
export function listEventsOfRecords(db: Db, ids: readonly number[]): number[] {
  return db.all(byRecords, { ids: JSON.stringify(ids) }).map(({ id }) => id)
}

const byPostmortems = query<{ refs: string }>()((builder, hole) =>
  builder
    .selectFrom('postmortem_references')
    .select('ref')
    .distinct()
    .where('ref', 'in', listed<string>(hole('refs'))),
)
const byTimelines = query<{ refs: string }>()((builder, hole) =>
  builder
    .selectFrom('timeline')
    .innerJoin('incidents', 'incidents.id', 'timeline.incident_id')
    .select(['ref', ...AGED_COLUMNS])
    .where('ref', 'in', listed<string>(hole('refs'))),
)

/**
 * Returns the references (`event/<uuid>`, `alert/<uuid>`) that occur in a postmortem or in the timeline of a retained
 * incident.
 */
export function listCitedRefs(db: Db, refs: readonly string[], cutoffs: Cutoffs): string[] {
  const asked = { refs: JSON.stringify(refs) }
  const kept = db.all(byTimelines, asked).filter((row) => !isIncidentDue(toAged(row), cutoffs))
  return [...db.all(byPostmortems, asked), ...kept].flatMap(({ ref }) => ref ?? [])
}
