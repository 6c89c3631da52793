/** Reads the alerts that a message names. */
import type { MessageAlert } from '../../domain/notification/words.ts'
import type { Db } from '../sqlite/open.ts'
import { uuidFromBytes } from '../sqlite/uuid.ts'

/** The maximum number of alerts in a message. The message contains the true count, too. */
const MAX_ALERTS = 20
/** In a digest of many incidents, no incident lists its alerts. */
const MAX_INCIDENTS = 20

/** Lists the alerts of incidents, by the incident's row id: firing ones first, then by severity and start. */
export function listMessageAlerts(db: Db, incidentIds: readonly number[]): ReadonlyMap<number, MessageAlert[]> {
  if (incidentIds.length > MAX_INCIDENTS) return new Map()
  return new Map(incidentIds.map((id) => [id, alertsOf(db, id)]))
}

function alertsOf(db: Db, incidentId: number): MessageAlert[] {
  const rows = db.sql
    .selectFrom('alerts')
    .leftJoin('groups', 'groups.id', 'alerts.group_id')
    .leftJoin('senders', 'senders.id', 'groups.sender_id')
    .select(['alerts.uuid', 'alerts.source', 'name', 'severity', 'summary', 'labels', 'annotations'])
    .select(['starts_at as startsAt', 'ends_at as endsAt', 'alerts.received_at as receivedAt'])
    .select(['groups.longest_gap as ownGap', 'groups.gaps as ownGaps'])
    .select(['senders.longest_gap as senderGap', 'senders.gaps as senderGaps', 'reports_ends as reportsEnds'])
    .where('incident_id', '=', incidentId)
    .where('alerts.source', '!=', 'ci')
    .orderBy((eb) => eb.case().when('ends_at', 'is', null).then(0).else(1).end())
    .orderBy((eb) => eb.case('severity').when('critical').then(0).when('error').then(1).else(2).end())
    .orderBy('starts_at')
    .orderBy('alerts.id')
    .limit(MAX_ALERTS)
  return db.all(rows).map((row) => {
    const { uuid, source, name, severity, summary, labels, annotations, startsAt, endsAt, receivedAt } = row
    const known = (row.ownGaps ?? 0) >= 2 ? row.ownGap : (row.senderGaps ?? 0) >= 2 ? row.senderGap : null
    const delivery = { interval: known, reportsEnds: row.reportsEnds === 1, isRepeated: row.ownGaps !== null }
    const texts = { labels: JSON.parse(labels), annotations: JSON.parse(annotations) }
    return {
      id: uuidFromBytes(uuid),
      source,
      name,
      severity,
      summary,
      ...texts,
      startsAt,
      endsAt,
      receivedAt,
      delivery,
    }
  })
}
