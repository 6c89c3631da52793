/** Ensures that a REST request with an Idempotency-Key takes effect only once. */
import { createHash } from 'node:crypto'
import { IncmonError } from '../domain/error.ts'
import { useOf, withAnswer, withoutAnswer } from '../domain/request/idempotency.ts'
import { findAnswer, forgetAnswer, storeAnswer } from '../store/idempotency-keys.ts'
import type { Db } from '../store/sqlite/open.ts'
import type { Deps } from './deps.ts'

/** `route`: the method and path, for example `POST /api/incidents`. */
type IdempotentRequest = {
  readonly organizationId: number
  readonly route: string
  readonly key: string
  readonly bodyHash: string
}

/** Returns a cryptographic hash of the body. */
export function hashBody(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('base64')
}

/** Requests in progress in this process, by organization, route and key. */
const underWay = new WeakMap<Db, Map<string, Promise<unknown>>>()

/**
 * Runs a request, or returns the response to the same request from the last 24 hours. The key is stored before the
 * request runs, so that a request interrupted by a crash is not run twice. A request that fails can be sent again.
 * @throws IncmonError `unprocessable` if the key was used with a different body; `conflict` if an earlier attempt at
 * the same request was interrupted
 */
export async function runOnce<Value>(
  deps: Deps,
  keyed: IdempotentRequest,
  run: () => Value | Promise<Value>,
): Promise<Value> {
  const requests = underWay.get(deps.db) ?? new Map<string, Promise<unknown>>()
  underWay.set(deps.db, requests)
  const name = `${keyed.organizationId} ${keyed.route} ${keyed.key}`
  for (let earlier = requests.get(name); earlier; earlier = requests.get(name)) await earlier
  const own = runAlone(deps, keyed, run)
  const settled = own.then(
    () => {},
    () => {},
  )
  requests.set(name, settled)
  try {
    return await own
  } finally {
    requests.delete(name)
  }
}

async function runAlone<Value>(
  deps: Deps,
  keyed: IdempotentRequest,
  run: () => Value | Promise<Value>,
): Promise<Value> {
  const use = useOf<Value>(storedFor(deps, keyed), keyed.bodyHash, deps.now())
  if (use.kind === 'repeated') return use.answer
  if (use.kind === 'reused') throw reused()
  if (use.kind === 'unfinished') throw unfinished()
  update(deps, keyed, (stored, at) => withAnswer(stored, keyed.bodyHash, null, at))
  try {
    const answer = await run()
    update(deps, keyed, (stored, at) => withAnswer(stored, keyed.bodyHash, answer, at))
    return answer
  } catch (error) {
    update(deps, keyed, (stored, at) => withoutAnswer(stored, keyed.bodyHash, at))
    throw error
  }
}

function storedFor({ db }: Deps, { organizationId, route, key }: IdempotentRequest): string | null {
  return findAnswer(db, organizationId, route, key, 0)
}

/** Replaces the stored responses of a key. */
function update(
  deps: Deps,
  keyed: IdempotentRequest,
  change: (stored: string | null, receivedAt: number) => string | null,
): void {
  const { organizationId, route, key } = keyed
  const receivedAt = deps.now()
  const answer = change(storedFor(deps, keyed), receivedAt)
  if (answer === null) forgetAnswer(deps.db, organizationId, route, key)
  else storeAnswer(deps.db, { organizationId, route, key, answer, receivedAt })
}

function reused(): IncmonError {
  const what = 'this Idempotency-Key was used with a different body in the last 24 hours, and nothing was changed'
  return new IncmonError('unprocessable', `${what}; use a new key for a new request`)
}

function unfinished(): IncmonError {
  const what = 'an earlier request with this Idempotency-Key did not finish, so it may have taken effect'
  const remedy = 'check whether the record exists; if not, send the request with a new key'
  return new IncmonError('conflict', `${what}; ${remedy}`)
}
