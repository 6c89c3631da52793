/** POST /alerts: receives alerts from Prometheus. A 200 response means that the alerts are on disk. */

import { IncmonError } from '../../domain/error.ts'
import type { Intake } from '../../domain/event/event.ts'
import { PROMETHEUS } from '../../domain/sender/sender.ts'
import { isLong, read } from '../api/webhooks/bodies.ts'
import { isCompressed, readBytes, WEBHOOK_LIMIT } from '../middleware/body.ts'
import { headerOf } from '../middleware/header.ts'
import type { Reply } from '../middleware/reply.ts'
import { type ApiCall, coded, refusal } from './route.ts'

/** Alertmanager's success responses have neither a body nor a Content-Type. */
export const EMPTY: Reply = { status: 200, headers: {}, body: null }
/** The maximum number of errors in the response. Prometheus logs the response. */
const MAX_ERRORS = 20

/** Stores the usable alerts of the request. @throws Refusal if the body or at least one alert is invalid */
export async function postAlerts({ c, deps, identity, server, recent }: ApiCall): Promise<Reply> {
  requireJson(c)
  if (isCompressed(c)) throw new IncmonError('unsupported', 'the body is compressed; send it without Content-Encoding')
  const bytes = await readBytes(c, WEBHOOK_LIMIT, server.pendingBodies, identity.organizationId)
  if (isBlank(bytes)) throw coded(422, 602, 'alerts in body is required')
  deps.engine.admit('metrics')
  const receivedAt = deps.now()
  const { organizationId, cluster, tokenName: token } = identity
  const sender = `prometheus ${organizationId} ${cluster}`
  const cached = recent.find(sender, bytes, receivedAt)
  const store = async () => {
    const { intake, fault } = cached ? { intake: cached, fault: null } : await parse(bytes, receivedAt)
    const origin = { organizationId, cluster, token, source: 'metrics' as const }
    const delivery = { ...origin, intake, receivedAt, bytes: bytes.length }
    const once = { idempotencyKey: null, dryRun: false, isFromCache: cached !== null }
    const receipt = await deps.engine.submit({ ...delivery, ...once })
    if (fault) throw coded(400, 400, `parsing alerts body from "" failed, because ${fault.message}`)
    if (receipt.isRepeat && !cached) recent.keep(sender, bytes, intake, receivedAt)
    return answer(receipt.rejected)
  }
  return isLong(bytes) ? server.pendingBodies.whileParsed(bytes, store) : store()
}

/** @throws Refusal 415 with Alertmanager's message unless the body is declared as JSON */
export function requireJson(c: ApiCall['c']): void {
  const type = (headerOf(c, 'content-type') || 'application/octet-stream').split(';')[0]?.trim().toLowerCase() ?? ''
  if (type === 'application/json') return
  const message = `unsupported media type ${JSON.stringify(type.slice(0, 100))}, only [application/json] are allowed`
  throw coded(415, 415, message)
}

async function parse(bytes: Uint8Array, receivedAt: number) {
  if (shortText(bytes) === 'null') return { intake: NOTHING, fault: null }
  return read('prometheus', bytes, receivedAt)
}

const NOTHING: Intake = { accepted: [], rejected: [], group: null, receiver: PROMETHEUS }

/** Returns whether a body has only whitespace. */
export function isBlank(bytes: Uint8Array): boolean {
  return shortText(bytes) === ''
}

function shortText(bytes: Uint8Array): string | null {
  return bytes.length <= 16 ? Buffer.from(bytes).toString('latin1').trim() : null
}

function answer(rejected: readonly { readonly error: string }[]): Reply {
  if (rejected.length === 0) return EMPTY
  const more = rejected.length > MAX_ERRORS ? [`and ${rejected.length - MAX_ERRORS} more`] : []
  throw refusal(400, [...rejected.slice(0, MAX_ERRORS).map(({ error }) => error), ...more].join('; '))
}
