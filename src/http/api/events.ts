/** /api/events: the stored items from all senders. */
import * as v from 'valibot'
import { findEvent, listEvents } from '../../store/events.ts'
import { required } from '../middleware/problem.ts'
import { idParameter, pageParameters, sourceParameter, timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import {
  answerPage,
  described,
  idShape,
  instantShape,
  listShape,
  refusals,
  severityShape,
  shower,
  sourceShape,
  success,
  uuidShape,
} from './shapes.ts'

/** An event as the API returns it, without its payload. */
export const eventShape = v.object({
  id: idShape,
  source: sourceShape,
  kind: described(v.string(), 'The kind of the event: firing, resolved, heartbeat, change, pipeline, job, …', 'firing'),
  name: described(v.string(), 'The Kubernetes reason, the name of the alert, or the path of the project', 'BackOff'),
  object: described(v.string(), 'The object of the event; empty if the event has none', 'Pod/checkout-6f8d7b9c5-x2kqp'),
  severity: severityShape,
  text: described(v.string(), 'A description in one line', 'Back-off restarting failed container checkout'),
  serviceId: described(v.nullable(uuidShape), 'The service of the event, or null'),
  alertId: described(v.nullable(uuidShape), 'The alert that the event belongs to, or null'),
  at: described(
    instantShape,
    'The time from the sender. If the event is a repeat with an earlier start, the previous start of the alert',
  ),
  receivedAt: described(instantShape, 'When the event arrived'),
})

/** Converts an event to its API format, without its payload. */
export const showEvent = shower(eventShape)

const eventWithPayloadShape = v.object({
  ...eventShape.entries,
  payload: described(v.unknown(), 'The item as received', { reason: 'BackOff', count: 6 }),
})

export const eventRoutes: readonly Route[] = [
  rest({
    method: 'GET',
    path: '/api/events',
    summary: 'List events, newest first',
    scope: 'read',
    query: v.object({ ...pageParameters, ...timeParameters, serviceId: idParameter, source: sourceParameter }),
    answers: {
      ...success(listShape(eventShape), 'A page of events with at in the half-open range [from, to)'),
      ...refusals(503),
    },
    handle: (call) => answerPage(call, listEvents, showEvent),
  }),
  rest({
    method: 'GET',
    path: '/api/events/:id',
    summary: 'Show an event with its payload',
    scope: 'read',
    answers: success(eventWithPayloadShape, 'The event with the item as received, with secrets replaced'),
    handle: async ({ store, identity, id }) => {
      const found = store.read(findEvent, identity.organizationId, id)
      const event = await required(found, 'event', 'GET /api/events')
      return json({ ...showEvent(event), payload: event.payload })
    },
  }),
]
