/** /api/events: the stored items from all senders. */
import * as v from 'valibot'
import { findEvent, listEvents } from '../../store/events.ts'
import { required } from '../middleware/problem.ts'
import { idParameter, pageParameters, sourceParameter, timeParameters } from '../middleware/query.ts'
import { json } from '../middleware/reply.ts'
import { type Route, rest } from '../route.ts'
import * as shape from '../shapes.ts'
import { answerPage, success, successPage } from './answers.ts'

/** An event as the API returns it, without its payload. */
export const eventShape = shape.named('Event', {
  id: shape.id,
  source: shape.source,
  kind: shape.text('The kind of the event: firing, resolved, heartbeat, change, pipeline, job, …', 'firing'),
  name: shape.text('The Kubernetes reason, the name of the alert, or the path of the project', 'BackOff'),
  object: shape.text('The object of the event; empty if the event has none', 'Pod/checkout-6f8d7b9c5-x2kqp'),
  severity: shape.severity,
  text: shape.text('A description in one line', 'Back-off restarting failed container checkout'),
  serviceId: shape.nullable(shape.uuid(), 'The service of the event, or null'),
  alertId: shape.nullable(shape.uuid(), 'The alert that the event belongs to, or null'),
  at: shape.instant(
    'The time from the sender. If the event moved the start of its alert to an earlier time, the previous start of the alert',
  ),
  receivedAt: shape.instant('When the event arrived'),
})
export const showEvent = shape.shower(eventShape)
const eventWithPayloadShape = shape.named('EventWithPayload', {
  ...eventShape.entries,
  payload: shape.described(v.unknown(), 'The item as received', { reason: 'BackOff', count: 6 }),
})

export const eventRoutes: readonly Route[] = [
  rest('GET /api/events', {
    summary: 'List events, newest first',
    scope: 'read',
    query: v.object({
      ...pageParameters,
      ...timeParameters,
      serviceId: idParameter('service'),
      source: sourceParameter,
    }),
    answers: successPage(eventShape, 'A page of events with at in the half-open range [from, to)'),
    handle: (call) => answerPage(call, (page) => call.own.read(listEvents, call.query, page), showEvent),
  }),
  rest('GET /api/events/:id', {
    summary: 'Show an event with its payload',
    scope: 'read',
    answers: success(eventWithPayloadShape, 'The event with the item as received, with secrets replaced'),
    handle: async ({ own, id }) => {
      const found = own.read(findEvent, id)
      const event = await required(found, 'event', 'GET /api/events')
      return json({ ...showEvent(event), payload: event.payload })
    },
  }),
]
