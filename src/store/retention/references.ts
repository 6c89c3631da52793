/** Finds the events and alerts that retained records reference, so that pruning keeps these events and alerts. */
import { type Cutoffs, isIncidentDue } from '../../domain/retention.ts'
import type { Db } from '../sqlite/open.ts'
import { listed } from '../sqlite/query.ts'
import { AGED_COLUMNS, toAged } from './expired-alerts.ts'

/**
 * Returns the row ids of events referenced by a pipeline, a link or an active alert. An alert references its last event
 * because the response to a repeat contains that event's id.
 */
export function listEventsOfRecords(db: Db, ids: readonly number[]): number[] {
  const events = listed(JSON.stringify(ids))
  const links = db.sql.selectFrom('correlations')
  const alerts = db.sql
    .selectFrom('events')
    .innerJoin('alerts', 'alerts.id', 'events.alert_id')
    .whereRef('alerts.last_event_id', '=', 'events.id')
    .where('alerts.settled_at', 'is', null)
  const rows = db.sql
    .selectFrom('pipelines')
    .select('event_id as id')
    .where('event_id', 'in', events)
    .union(links.select('change_event_id as id').where('change_event_id', 'in', events))
    .union(links.select('evidence_event_id as id').where('evidence_event_id', 'in', events))
    .union(alerts.select('events.id').where('events.id', 'in', events))
  return db.all(rows).map(({ id }) => id)
}

/**
 * Returns the references (`event/<uuid>`, `alert/<uuid>`) that occur in a postmortem or in the timeline of a retained
 * incident.
 */
export function listCitedRefs(db: Db, refs: readonly string[], cutoffs: Cutoffs): string[] {
  const asked = listed<string>(JSON.stringify(refs))
  const byPostmortems = db.sql.selectFrom('postmortem_references').select('ref').distinct().where('ref', 'in', asked)
  const byTimelines = db.sql
    .selectFrom('timeline')
    .innerJoin('incidents', 'incidents.id', 'timeline.incident_id')
    .select(['ref', ...AGED_COLUMNS])
    .where('ref', 'in', asked)
  const kept = db.all(byTimelines).filter((row) => !isIncidentDue(toAged(row), cutoffs))
  return [...db.all(byPostmortems), ...kept].flatMap(({ ref }) => ref ?? [])
}
