/**
 * Documents and parses the bodies of webhooks. The parsers in src/intake accept more formats than those documented
 * here.
 */
import * as v from 'valibot'
import { createTurns } from '../../../actions/turns.ts'
import { IncmonError } from '../../../domain/error.ts'
import type { Intake, Source } from '../../../domain/event/event.ts'
import { READERS, type ReaderName, readInSlices } from '../../../intake/index.ts'
import { parseBody } from '../../../intake/json.ts'
import { adviseWebhook, warnOfWebhook } from '../../../intake/recognize.ts'
import { redact, redactRaw } from '../../../intake/redact.ts'
import type { Schema } from '../../route.ts'
import * as shape from '../../shapes.ts'

const clusterBody = v.looseObject({
  namespace: shape.optional(v.string(), 'The namespace of the object; nodes have none', 'shop'),
  podName: shape.text('The name of the object; involvedObject.name is also accepted', 'checkout-6f8d7b9c5-x2kqp'),
  involvedObjectKind: shape.optional(v.string(), 'The kind of the object; the default is Pod', 'Pod'),
  reason: shape.optional(v.string(), 'The Kubernetes reason; a reason or a message is required', 'BackOff'),
  message: shape.optional(
    v.string(),
    'The Kubernetes message',
    'Back-off restarting failed container checkout in pod checkout',
  ),
  count: shape.optional(v.number(), 'How often the event has occurred, as counted by Kubernetes', 6),
  nodeName: shape.optional(v.string(), 'The node of the object', 'worker-2'),
  firstTime: shape.optional(v.string(), 'The first occurrence; the default is lastTime'),
  lastTime: shape.optional(v.string(), 'The last occurrence; the default is now'),
})

const alert = v.looseObject({
  status: shape.optional(v.string(), 'firing (default) or resolved', 'firing'),
  labels: shape.texts('Labels that name the service, the severity and the condition', {
    alertname: 'HighErrorRate',
    namespace: 'shop',
    service: 'checkout',
    severity: 'critical',
  }),
  annotations: shape.optional(
    shape.texts(),
    'The annotations of the alert; summary is used as the summary of the alert',
    { summary: '12 % of requests fail' },
  ),
  startsAt: shape.optional(v.string(), 'The start, such as 2026-11-20T09:32:30Z; the default is now'),
  endsAt: shape.optional(v.string(), 'The end; used only if status is resolved', '0001-01-01T00:00:00Z'),
  fingerprint: shape.optional(v.string(), 'The fingerprint of the alert', 'e5a1c9d37b2f4680'),
})

const notificationBody = v.looseObject({
  version: shape.optional(v.string(), 'The version of the format', '4'),
  groupKey: shape.optional(
    v.string(),
    'The key of the alert group. incmon learns how often the sender repeats the group',
    '{}:{alertname="HighErrorRate"}',
  ),
  receiver: shape.optional(v.string(), 'The receiver, to distinguish senders', 'incmon'),
  alerts: shape.list(alert, 'The alerts, at most 20,000'),
})

const ciBody = v.looseObject({
  object_kind: shape.text('pipeline, or build for a job; other kinds are stored without any effect', 'pipeline'),
  object_attributes: shape.optional(
    v.looseObject({
      id: shape.optional(v.number(), 'The number of the pipeline', 4711),
      ref: shape.optional(v.string(), 'The branch or tag', 'main'),
      sha: shape.optional(v.string(), 'The commit', '9b1c3d5e7f90123456789abcdef0123456789abc'),
      status: shape.text('The GitLab status', 'failed'),
      created_at: shape.optional(
        v.string(),
        'When the pipeline began, such as 2026-11-20 09:28:00 UTC; the default is now minus the duration',
      ),
      finished_at: shape.optional(v.nullable(v.string()), 'When the pipeline ended; the default is now'),
    }),
    'Required for a pipeline',
  ),
  project: shape.described(
    v.looseObject({
      path_with_namespace: shape.text('The path of the project, which determines the service', 'shop/checkout'),
    }),
    'The project of the pipeline',
  ),
  builds: shape.optional(v.array(v.unknown()), 'The jobs of the pipeline, as GitLab lists them', []),
})

/** The important fields for each source, with examples. Other fields are stored with the event. */
export const WEBHOOK_BODIES: Readonly<Record<Source, Schema>> = {
  cluster: clusterBody,
  metrics: notificationBody,
  dashboard: notificationBody,
  ci: ciBody,
}

/** Parsing this many bytes takes at most a few dozen milliseconds. */
const LONG = 131_072
const MAX_KEPT_BODY = 65_536

/** `fault` is set if the whole body is unusable. The body is then stored as one rejected item for inspection. */
type ReadBody = { readonly intake: Intake; readonly fault: IncmonError | null }

/** Parsing a slice takes 5 to 20 ms. */
const takeTurn = createTurns()

export function isLong(bytes: Uint8Array): boolean {
  return bytes.length > LONG
}

export async function read(source: ReaderName, bytes: Uint8Array, receivedAt: number): Promise<ReadBody> {
  const seen: ParseState = { bytes }
  // Many long bodies can arrive at the same time.
  if (isLong(bytes)) await takeTurn()
  try {
    seen.body = parseBody(bytes)
    const slices = readInSlices(seen.body, bytes.length, (body) => READERS[source](body, receivedAt))
    for (;;) {
      const { done, value } = slices.next()
      if (done) return { intake: advised(source, seen.body, value), fault: null }
      await takeTurn()
    }
  } catch (error) {
    return unusable(source, error, seen)
  }
}

/** `body` is set if the bytes are valid JSON that is small enough to be searched for secrets. */
type ParseState = { readonly bytes: Uint8Array; body?: unknown }

function unusable(source: ReaderName, error: unknown, seen: ParseState): ReadBody {
  if (!(error instanceof IncmonError)) throw error
  const message = adviseWebhook(error.message, seen.body, source)
  const rejected = [{ index: 0, error: message, payload: keptOf(seen) }]
  const fault = message === error.message ? error : new IncmonError('invalid', message, error.fields)
  return { intake: { accepted: [], rejected, group: null }, fault }
}

/** Names the right webhook in the errors if no item is usable, and otherwise in a warning about the first item. */
function advised(source: ReaderName, body: unknown, intake: Intake): Intake {
  const [first, ...others] = intake.accepted
  if (first) {
    const warning = warnOfWebhook(body, source)
    if (warning === null) return intake
    return { ...intake, accepted: [{ ...first, warnings: [warning, ...(first.warnings ?? [])] }, ...others] }
  }
  if (intake.rejected.length === 0) return intake
  return {
    ...intake,
    rejected: intake.rejected.map((one) => ({ ...one, error: adviseWebhook(one.error, body, source) })),
  }
}

/** Returns the body to store as a rejected item. In valid JSON, secrets are also recognized by their keys. */
function keptOf(seen: ParseState): unknown {
  if ('body' in seen) return redact(seen.body)
  return redactRaw(Buffer.from(seen.bytes.subarray(0, 2 * MAX_KEPT_BODY)).toString('utf8'), MAX_KEPT_BODY)
}

// The shapes of the responses to webhook requests.

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
export const storedEventShape = shape.named('StoredEvent', { received, eventId: event, idempotencyKey, warnings })
export const storedAlertsShape = shape.named('StoredAlerts', {
  received,
  eventIds: shape.list(
    shape.uuid(),
    'One event for each stored item, in order. An unchanged repeat has the ID of the existing event.',
  ),
  rejected: v.optional(rejectedShape),
  idempotencyKey,
  warnings,
})
export const storedGrafanaAlertsShape = shape.named('StoredGrafanaAlerts', {
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
shape.name('DryRun', dryRunShape)
