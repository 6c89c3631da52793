/** The shapes of the responses to webhook requests. */
import * as v from 'valibot'
import * as shape from '../../shapes.ts'

const rejectedShape = shape.objects(
  {
    index: shape.count('The index of the item in the request, starting at 0', 1),
    error: shape.text('The error', 'labels: expected object'),
  },
  'The rejected items, if any',
)
const received = shape.described(v.literal(true), 'The request is on disk')
const idempotencyKey = shape.optional(
  v.literal('reused'),
  'This Idempotency-Key was used with a different body in the last 24 hours. The request was stored as a new one',
)
const warnings = shape.optional(
  v.array(
    v.object({
      index: shape.count('The index of the item in the request, starting at 0', 0),
      warning: shape.text('The warning', 'status: "fireing" is unknown; the alert is treated as firing'),
    }),
  ),
  'The minor problems in stored items, if any. At most 100 problems are listed',
)
const event = shape.uuid('The event; see GET /api/events/{id}')
export const storedEventShape = v.object({ received, eventId: event, idempotencyKey, warnings })
export const storedAlertsShape = v.object({
  received,
  eventIds: shape.list(
    shape.uuid(),
    'One event for each stored item, in order. An unchanged repeat has the ID of the existing event.',
  ),
  rejected: v.optional(rejectedShape),
  idempotencyKey,
  warnings,
})
export const storedGrafanaAlertsShape = v.object({
  ...storedAlertsShape.entries,
  eventId: shape.nullable(shape.uuid(), 'The first event, or null'),
})
export const dryRunShape = shape.object(
  {
    received: shape.described(v.literal(false), 'Nothing was stored'),
    dryRun: v.literal(true),
    decisions: shape.list(
      v.unknown(),
      'For each item: event, service, alert, health, links, suspects, the outcome for incidents, and who would be told, with the rule behind each decision',
      [],
    ),
    rejected: v.optional(rejectedShape),
    warnings,
  },
  'With ?dryRun=1: what would happen to the items',
)
