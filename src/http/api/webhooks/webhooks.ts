/** /api/webhooks: receives events. A 200 response means that the events are on disk. */
import type { Context } from 'hono'
import * as v from 'valibot'
import { hashBody } from '../../../actions/idempotency.ts'
import { BUDGETS } from '../../../domain/budgets.ts'
import { type FieldError, IncmonError, invalidField } from '../../../domain/error.ts'
import type { Intake, Source } from '../../../domain/event/event.ts'
import { formatInstant } from '../../../domain/instant.ts'
import { cacheByKey } from '../../../domain/memoize.ts'
import { audienceOf } from '../../../domain/notification/audience.ts'
import type { Receipt } from '../../../engine/changes/receive/receipt.ts'
import { serviceKey } from '../../../engine/state/state.ts'
import { listRecipients } from '../../../store/notification/channels.ts'
import { findNames } from '../../../store/service/services.ts'
import { requireSender, type TokenHeader } from '../../middleware/auth.ts'
import { isCompressed, readBytes, WEBHOOK_LIMIT } from '../../middleware/body.ts'
import { idempotencyKeyOf } from '../../middleware/header.ts'
import { flagParameter, readQuery } from '../../middleware/query.ts'
import { json, type Reply } from '../../middleware/reply.ts'
import type { HandlerParts, Route } from '../../route.ts'
import * as shape from '../../shapes.ts'
import { success } from '../answers.ts'
import {
  dryRunShape,
  isLong,
  read,
  storedAlertsShape,
  storedEventShape,
  storedGrafanaAlertsShape,
  WEBHOOK_BODIES,
} from './bodies.ts'

/**
 * The maximum number of items in a dry run. A dry run blocks all other requests until its transaction is rolled back.
 */
const MAX_TRIED = BUDGETS['dry-run'].value

const query = v.object({
  dryRun: shape.described(
    flagParameter,
    `If 1, nothing is stored, and the response says what would happen; at most ${MAX_TRIED} items`,
  ),
})

const ANSWERS: Readonly<Record<Source, v.GenericSchema<unknown, unknown>>> = {
  cluster: storedEventShape,
  metrics: storedAlertsShape,
  dashboard: storedGrafanaAlertsShape,
  ci: storedEventShape,
}

export const webhookRoutes: readonly Route[] = [
  webhook(
    'cluster',
    'bearer',
    'Receive a Kubernetes event',
    'From kubernetes-event-exporter (with or without a layout) or kwatch.',
  ),
  webhook(
    'metrics',
    'bearer',
    'Receive a notification from Alertmanager',
    'The webhook format of Alertmanager 0.5 to 0.34.',
  ),
  webhook(
    'dashboard',
    'bearer',
    'Receive a notification from Grafana',
    'The webhook contact point of unified alerting.',
  ),
  webhook(
    'ci',
    'ci',
    'Receive a GitLab notification about a pipeline or job',
    'The pipeline and job events of a webhook.',
  ),
]

function webhook(source: Source, carrier: TokenHeader, summary: string, description: string): Route {
  const stored =
    'The events are on disk. With ?dryRun=1, the response says what would happen. Rejected items are listed.'
  return {
    method: 'POST',
    path: `/api/webhooks/${source}`,
    summary,
    description,
    auth: { carrier, scope: 'ingest' },
    query,
    body: WEBHOOK_BODIES[source],
    answers: success(v.union([ANSWERS[source], dryRunShape]), stored),
    handle: (c, parts) => receive(c, parts, source, carrier),
  }
}

async function receive(c: Context, parts: HandlerParts, source: Source, carrier: TokenHeader): Promise<Reply> {
  const { deps, server } = parts
  const sender = await requireSender(c, parts, carrier)
  const dryRun = readDryRun(c)
  const key = idempotencyKeyOf(c)
  if (isCompressed(c))
    throw new IncmonError('invalid', 'the body is compressed, which is not supported; send it without Content-Encoding')
  const bytes = await readBytes(c, WEBHOOK_LIMIT, server.pendingBodies, sender.organizationId)
  deps.engine.admit(source)
  const receivedAt = deps.now()
  const request = { parts, source, ...sender, bytes, receivedAt, dryRun, key }
  return isLong(bytes) ? server.pendingBodies.whileParsed(bytes, () => store(request)) : store(request)
}

type Request = Awaited<ReturnType<typeof requireSender>> & {
  readonly parts: HandlerParts
  readonly source: Source
  readonly bytes: Uint8Array
  readonly receivedAt: number
  readonly dryRun: boolean
  readonly key: string | null
}

async function store(request: Request): Promise<Reply> {
  const { parts, source, organizationId, cluster, tokenName: token, bytes, receivedAt, dryRun, key } = request
  const { deps, recent } = parts
  const sender = `${source} ${organizationId} ${cluster}`
  const cached = recent.find(sender, bytes, receivedAt)
  const { intake, fault } = cached ? { intake: cached, fault: null } : await read(source, bytes, receivedAt)
  if (dryRun) refuseMany(intake.accepted.length)
  // The Idempotency-Key of an unparsable body is not recorded, so the sender can reuse it with a valid body.
  const idempotencyKey = fault ? null : key
  const delivery = {
    organizationId,
    cluster,
    token,
    source,
    intake,
    receivedAt,
    idempotencyKey,
    dryRun,
    isFromCache: cached !== null,
    bytes: bytes.length,
    // The spread comes last, because V8 copies the object if fields follow a spread.
    ...(idempotencyKey === null ? {} : { bodyHash: hashBody(bytes) }),
  }
  const receipt = await deps.engine.submit(delivery)
  if (fault) throw fault
  if (receipt.isRepeat && !cached) recent.keep(sender, bytes, intake, receivedAt)
  return answer(source, dryRun ? await withListeners(request, intake, receipt) : receipt, dryRun)
}

/** Adds who would be told to the decisions of a dry run. */
async function withListeners({ parts, organizationId, source, receivedAt }: Request, intake: Intake, receipt: Receipt) {
  const channels = await parts.store.read(listRecipients, organizationId)
  const namesOf = cacheByKey(serviceKey, (one: Parameters<typeof findNames>[2]) =>
    parts.store.read(findNames, organizationId, one),
  )
  const decided = (receipt.decisions ?? []).map(async (decision, position) => {
    const { service, alert, outcome } = decision
    if (!alert || !outcome?.message || !outcome.incident) return { ...decision, told: [] }
    const draft = intake.accepted[position]?.draft
    const labels = draft && 'labels' in draft ? draft.labels : {}
    const matched = { source, severity: alert.severity, alertname: alert.name, labels }
    const { name, namespace, cluster } = service
    const place = {
      ...(await namesOf(service)),
      service: name,
      namespace,
      cluster,
      severity: outcome.incident.severity,
    }
    const told = audienceOf(channels, { kind: outcome.message, ...place, alerts: [matched] }, receivedAt)
    return { ...decision, told: told.map((one) => ({ ...one, at: one.at === null ? null : formatInstant(one.at) })) }
  })
  return { ...receipt, decisions: await Promise.all(decided) }
}

function readDryRun(c: Context): boolean {
  if (!c.req.url.includes('?')) return false
  refuseNearMiss(c)
  return readQuery(c, query).dryRun ?? false
}

/** Rejects misspellings such as `dryrun`. Otherwise, a request intended as a dry run would store its events. */
function refuseNearMiss(c: Context): void {
  const name = Object.keys(c.req.query()).find((one) => one.toLowerCase() === 'dryrun' && one !== 'dryRun')
  if (name !== undefined) throw invalidField('query', name, 'unknown parameter; did you mean dryRun?')
}

function refuseMany(items: number): void {
  if (items <= MAX_TRIED) return
  const message = `a dry run accepts at most ${MAX_TRIED} items, but this request has ${items}`
  throw new IncmonError('invalid', `${message}; nothing was stored; send fewer items, or omit dryRun`)
}

function answer(source: Source, receipt: Receipt, dryRun: boolean): Reply {
  const { eventIds, rejected, warnings, decisions = [] } = receipt
  const notes = { ...(receipt.isKeyReused ? { idempotencyKey: 'reused' } : {}), ...(warnings ? { warnings } : {}) }
  const some = { ...(rejected.length > 0 ? { rejected } : {}), ...notes }
  const nothingUsed = dryRun ? decisions.length === 0 : eventIds.length === 0
  if (nothingUsed && rejected.length > 0) throw allRejected(source, rejected, dryRun)
  if (dryRun) return json({ received: false, dryRun: true, decisions, ...some })
  const eventId = eventIds[0] ?? null
  if (source === 'metrics') return json({ received: true, eventIds, ...some })
  if (source === 'dashboard') return json({ received: true, eventId, eventIds, ...some })
  return json({ received: true, eventId, ...notes })
}

function allRejected(source: Source, rejected: Receipt['rejected'], dryRun: boolean): IncmonError {
  const fields = rejected.map(({ index, error }) => fieldOf(source, index, error))
  const isOne = rejected.length === 1
  // The token of a sender cannot read GET /api/rejections.
  const listed = dryRun ? '' : ` and ${isOne ? 'is' : 'are'} listed on the Sources page`
  const count = isOne ? 'the only item' : `all ${rejected.length} items`
  return new IncmonError('invalid', `${count} cannot be used${listed}: ${rejected[0]?.error}`, fields)
}

/** Returns the path of an invalid field from the root of the request, for example `alerts[2].labels`. */
function fieldOf(source: Source, index: number, error: string): FieldError {
  const [, field = '', message = error] = /^([\w.[\]]+): (.*)$/s.exec(error) ?? []
  if (source === 'cluster' || source === 'ci') return { path: field, message }
  return { path: field === '' ? `alerts[${index}]` : `alerts[${index}].${field}`, message }
}
