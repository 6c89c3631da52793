/** The schemas that the OpenAPI document defines once, by the names that generated clients give to their types. */
import * as v from 'valibot'
import type { Schema } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { alertShape, alertWithEventsShape } from '../alerts.ts'
import { channelShape, deliveryShape, outcomeShape } from '../channels/channels.ts'
import { correlationShape } from '../correlations.ts'
import { eventShape, eventWithPayloadShape } from '../events.ts'
import { checkShape, readyShape } from '../health.ts'
import { itemShape } from '../incidents/action-items.ts'
import { incidentShape, timelineEntryShape, wholeIncidentShape } from '../incidents/incident-shape.ts'
import { postmortemShape } from '../incidents/postmortem-shape.ts'
import { suspectShape } from '../incidents/suspects.ts'
import { organizationShape } from '../organization.ts'
import { reliabilityShape } from '../reports.ts'
import { changesShape, historyShape } from '../service-history.ts'
import { serviceShape, wholeServiceShape } from '../services.ts'
import { matcherShape, previewShape, silenceShape } from '../silences.ts'
import { rejectionShape, senderShape } from '../sources.ts'
import { createdShape, tokenShape } from '../tokens.ts'
import { digestShape, groupShape, incidentMessageShape, testShape } from './outgoing.ts'

const problemShape = v.object({
  type: shape.text('Always about:blank; the status identifies the kind of error', 'about:blank'),
  title: shape.text('The name of the status', 'Bad Request'),
  status: shape.described(v.pipe(v.number(), v.integer()), 'The HTTP status', 400),
  detail: shape.text('What is wrong, and what to do', 'query: limit: expected an integer from 1 to 500'),
  errors: shape.optional(
    v.array(
      v.object({
        path: shape.text('The field or parameter', 'limit'),
        message: shape.text('The error', 'expected an integer from 1 to 500'),
      }),
    ),
    'The invalid fields, if any',
  ),
  checks: shape.optional(v.array(checkShape), 'Only for /readyz: all checks with their results'),
})

/** The order in which the reference lists them. */
export const NAMED: Readonly<Record<string, Schema>> = {
  ActionItem: itemShape,
  Alert: alertShape,
  AlertWithEvents: alertWithEventsShape,
  Channel: channelShape,
  ChannelTest: outcomeShape,
  Correlation: correlationShape,
  CreatedToken: createdShape,
  Delivery: deliveryShape,
  DigestMessage: digestShape,
  Event: eventShape,
  EventWithPayload: eventWithPayloadShape,
  GroupMessage: groupShape,
  Incident: incidentShape,
  IncidentMessage: incidentMessageShape,
  IncidentWithTimeline: wholeIncidentShape,
  Matcher: matcherShape,
  Organization: organizationShape,
  Postmortem: postmortemShape,
  Problem: problemShape,
  Readiness: readyShape,
  Rejection: rejectionShape,
  Reliability: reliabilityShape,
  Sender: senderShape,
  Service: serviceShape,
  ServiceChanges: changesShape,
  ServiceHistory: historyShape,
  ServiceWithAlerts: wholeServiceShape,
  Silence: silenceShape,
  SilencePreview: previewShape,
  Suspect: suspectShape,
  TestMessage: testShape,
  TimelineEntry: timelineEntryShape,
  Token: tokenShape,
}
