/** /api/stream: notifies pages and programs of changed records through Server-Sent Events. */
import type { Context } from 'hono'
import { BUDGETS } from '../domain/budgets.ts'
import { IncmonError } from '../domain/error.ts'
import { requireScope } from '../http/middleware/auth.ts'
import { headerOf } from '../http/middleware/header.ts'
import type { Reply } from '../http/middleware/reply.ts'
import type { HandlerParts } from '../http/route.ts'
import type { PageRoute } from './page.ts'
import { visitorOf } from './visit/visitor.ts'

/**
 * The maximum number of pending bytes per client. A client that falls behind is disconnected. The client can reconnect
 * without losing events.
 */
const MAX_PENDING = 1_048_576
/** How often the client's permissions are checked again, in milliseconds. */
const CHECK_COUNTS = 1_000

const MOST = BUDGETS['event-streams'].value
const TOO_MANY = `this organization already has ${MOST} open event streams; close some of them, then try again`

const HEADERS = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' }

export const streamRoutes: readonly PageRoute[] = [{ method: 'GET', path: '/api/stream', handle: openStream }]

async function openStream(c: Context, parts: HandlerParts): Promise<Reply> {
  const { deps, server } = parts
  const organizationId = await organizationOf(c, parts)
  const { notices } = server.web
  if (notices.count(organizationId) >= MOST) throw new IncmonError('unavailable', TOO_MANY)
  let checkedAt = deps.now()
  let checked: boolean | Promise<boolean> = true
  const isAllowed = () => {
    if (Math.abs(deps.now() - checkedAt) < CHECK_COUNTS) return checked
    checkedAt = deps.now()
    const checking = organizationOf(c, parts).then(
      (now) => now === organizationId,
      () => false,
    )
    checked = checking
    void checking.then((result) => {
      if (checked === checking) checked = result
    })
    return checked
  }
  let unsubscribe = () => {}
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const end = () => controller.close()
        const send = (bytes: Uint8Array) => {
          if ((controller.desiredSize ?? 0) > 0) return controller.enqueue(bytes)
          unsubscribe()
          controller.error(new Error('the client is reading too slowly'))
        }
        const after = headerOf(c, 'last-event-id') ?? ''
        unsubscribe = notices.subscribe({ organizationId, send, isAllowed, end }, after)
      },
      cancel: () => unsubscribe(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_PENDING }),
  )
  return { status: 200, headers: HEADERS, body }
}

/** @throws IncmonError `unauthorized`, `forbidden` */
async function organizationOf(c: Context, parts: HandlerParts): Promise<number> {
  const isProgram = parts.access !== 'network' || headerOf(c, 'authorization') !== undefined
  if (isProgram) return (await requireScope(c, parts, 'bearer', 'read')).organizationId
  const visitor = await visitorOf(c, parts)
  if (!visitor) throw new IncmonError('unauthorized', 'send a token in the Authorization header, or sign in')
  if (!visitor.scopes.includes('read')) throw new IncmonError('forbidden', 'this session does not have the read scope')
  return visitor.organizationId
}
