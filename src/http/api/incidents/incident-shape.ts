/** The schemas of incidents and their timelines. */
import * as v from 'valibot'
import { INCIDENT_STATUSES } from '../../../domain/incident/incident.ts'
import * as shape from '../../shapes.ts'
import { alertShape } from '../alerts.ts'
import { correlationShape } from '../correlations.ts'

/** The maximum number of alerts in the response for an incident, and also the maximum number of links. */
export const MAX_RECORDS = 500

/** An incident as the API returns it, without its alerts and timeline. */
export const incidentShape = shape.named('Incident', {
  id: shape.id,
  number: shape.described(v.pipe(v.number(), v.integer(), v.minValue(1)), 'A number, unique in the organization', 41),
  title: shape.text('The title, in one line', 'checkout: CrashLoopBackOff'),
  serviceId: shape.uuid('The affected service'),
  severity: shape.severity,
  status: shape.choice(INCIDENT_STATUSES, 'The progress of the work on the incident'),
  origin: shape.choice(['manual', 'automatic'], 'Whether a user or incmon opened the incident', 'automatic'),
  createdAt: shape.instant('When the incident was opened'),
  startedAt: shape.instant('The time of the first evidence, or createdAt if there is no evidence'),
  acknowledgedAt: shape.nullable(
    shape.instant(),
    'When a user acknowledged the incident; null again after the problem has returned, or a user has set open. The timeline keeps it',
    null,
  ),
  acknowledgedBy: shape.nullable(v.string(), 'Who acknowledged the incident', null),
  resolvedAt: shape.nullable(
    shape.instant(),
    'When a user resolved the incident, or, if incmon resolved it, when its problem ended; null if it is not resolved',
    null,
  ),
  problem: shape.choice(
    ['on', 'off'],
    'Whether the problem is on: a critical condition goes on and is not silenced, whatever the status of the incident is',
  ),
  problemState: shape.choice(
    ['on', 'settling', 'silenced', 'off'],
    'What is known about the problem. settling: nothing critical fires any more, but the end does not count yet. silenced: it goes on under a silence',
  ),
  criticalSeconds: shape.count('The sum of the periods in which the problem was on, in seconds', 95),
  silencedSeconds: shape.count('For how long silences covered the problem, which criticalSeconds does not contain', 0),
  isEndInferred: shape.flag('Whether nobody reported the end of the problem, which was on at least until then', false),
  previous: shape.nullable(
    shape.uuid('The ID of an incident'),
    "The service's last incident, if this one followed it after more than 30 minutes",
    null,
  ),
  group: shape.nullable(
    v.object({
      leader: shape.uuid('The incident with the earliest cause'),
      size: shape.count('The number of incidents', 5),
    }),
    'The group of unresolved incidents with a common cause; null if there is none',
    null,
  ),
  alertCount: shape.count('The number of alerts', 1),
  firingAlerts: shape.count(
    'The number of alerts that are still firing. If this number is not 0 for a resolved incident, the incident was resolved too early',
    1,
  ),
  recoveredAt: shape.nullable(
    shape.instant(),
    'When the last alert of the incident ended; null while an alert is firing, or if there are no alerts',
    null,
  ),
  hasPostmortem: shape.flag('Whether a postmortem exists', false),
})

/** An entry in the timeline of an incident or postmortem. */
export const timelineEntryShape = shape.named('TimelineEntry', {
  at: shape.instant('When it happened'),
  until: shape.instant('When the alert was last seen, the pipeline ended, or the entry was last repeated'),
  count: shape.count('The number of similar alerts, links or repeats in the entry', 1),
  seen: shape.count('The number of events that reported the alerts or repeats', 1),
  kind: shape.text(
    'The kind of the entry: opened, status, alert, ended, note, pipeline, rollout, message, not-told, …',
    'note',
  ),
  code: shape.nullable(
    v.string(),
    'acknowledged or the new status; for ended: reported, inferred, expired or manual; for silence: silenced or unsilenced; for a pipeline that deploys: deployed, deploying or deploy failed',
    null,
  ),
  text: shape.text('A description in one line', 'rolled back to the previous release'),
  actor: shape.nullable(
    v.string(),
    'The name of the token, or the login name of the person who ran the command; null for senders and incmon',
    'on call',
  ),
  source: shape.nullable(
    shape.source,
    'The webhook that received the entry; null for actions by incmon or a user',
    null,
  ),
  ref: shape.text('A reference to the record, for example alert/<id> or event/<id>', `incident/${shape.EXAMPLE_ID}`),
})

export const wholeTimelineShape = shape.named('Timeline', {
  timeline: shape.list(
    timelineEntryShape,
    'The timeline, oldest first. If there are more than 100 groups of similar alerts, the smallest groups share entries',
  ),
})

/** An incident with its alerts, links and timeline. */
export const wholeIncidentShape = shape.named('IncidentWithTimeline', {
  ...incidentShape.entries,
  alerts: shape.list(
    alertShape,
    `The newest alerts, at most ${MAX_RECORDS}; GET /api/alerts?incidentId= lists all alerts`,
  ),
  correlations: shape.list(correlationShape, `The strongest ${MAX_RECORDS} links to changes that may be the cause`),
  ...wholeTimelineShape.entries,
})
