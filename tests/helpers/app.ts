/**
 * The whole HTTP application on a real file, with three organizations: Acme (Team), Basil (Free) and the outsider
 * Charlie (Pro).
 */
import type { TestContext } from 'node:test'
import { type Deps, withEngine } from '../../src/actions/deps.ts'
import { createApp } from '../../src/app.ts'
import type { ServerContext } from '../../src/server/context.ts'
import { readHere } from '../../src/store/read.ts'
import type { Db } from '../../src/store/sqlite/open.ts'
import type { Reader } from '../../src/workers/reader.ts'
import { type Made, makeOrganization, makeToken, NOON, newUuid, rowsMade } from './factory.ts'
import { assertDocumented } from './openapi.ts'
import { makeServerContext } from './server-context.ts'
import { temporaryStore, withoutSyncs } from './store.ts'

export type Member = Made & { readonly token: string }
export type Answer = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests read what openapi.json has checked already
  readonly body: any
}
export type Sent = {
  /** Sent as `Authorization: Bearer`, or as `X-Ci-Token` to the ci webhook. */
  readonly token?: string
  /** Sent as JSON. Strings and bytes are sent unchanged. */
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Creates everything a test needs. The clock shows noon until it is moved. Commits are not synced. */
export function makeWorld(
  t: TestContext,
  engineOf: (deps: Deps) => Deps['engine'] = ({ engine }) => engine,
  readOf = readerOf,
  around: Partial<ServerContext> = {},
) {
  const db = withoutSyncs(temporaryStore(t))
  const clock = { now: NOON }
  const announced: unknown[] = []
  const own = withEngine({
    db,
    now: () => clock.now,
    newId: newUuid,
    newSecret: () => newUuid().replaceAll('-', '').padEnd(43, 'S'),
    announce: (notice) => void announced.push(notice),
    observe: (batch) => server.metrics.committed(batch),
  })
  const deps: Deps = { ...own, engine: engineOf(own) }
  const reader = readOf(db)
  t.after(reader.close)
  const server = makeServerContext(around)
  const app = createApp(deps, reader.read, server)
  const member = (name: string, plan: 'Free' | 'Team' | 'Pro'): Member => {
    const organization = makeOrganization(db, name, plan)
    const token = makeToken(db, organization, ['ingest', 'read', 'write', 'admin'], { name: `${name}'s token` })
    return { ...organization, token }
  }
  const [acme, basil, charlie] = [member('Acme', 'Team'), member('Basil', 'Free'), member('Charlie', 'Pro')]
  let rows = rowsMade()
  const request = async (method: string, path: string, sent: Sent = {}): Promise<Answer> => {
    // The live state does not yet contain rows inserted by the test.
    if (rowsMade() !== rows) await own.engine.reload()
    rows = rowsMade()
    const response = await app.request(path, { method, ...init(path, sent) })
    const text = await response.text()
    const isJson = /\bjson\b/.test(response.headers.get('content-type') ?? '')
    const body = isJson && text !== '' ? JSON.parse(text) : isJson || text === '' ? null : text
    assertDocumented(
      method,
      path.split('?')[0] ?? '',
      response.status,
      response.headers.get('content-type') ?? '',
      body,
    )
    return { status: response.status, headers: response.headers, text, body }
  }
  return { app, server, deps, db, clock, announced, acme, basil, charlie, request }
}

/** Runs slow reads without worker threads. `tests/workers/reader.test.ts` tests the threads. */
export function readerOf(db: Db): Reader {
  return { read: readHere(db), close: async () => {} }
}

function init(path: string, { token, body, headers }: Sent): RequestInit {
  const carrier = path.startsWith('/api/webhooks/ci') ? 'X-Ci-Token' : 'Authorization'
  const carried = carrier === 'Authorization' ? `Bearer ${token}` : String(token)
  // Sent as bytes, so that fetch does not add a Content-Type.
  const bytes =
    body instanceof Uint8Array ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body ?? ''))
  return {
    headers: { ...(token === undefined ? {} : { [carrier]: carried }), ...headers },
    ...(body === undefined ? {} : { body: new Uint8Array(bytes) }),
  }
}
