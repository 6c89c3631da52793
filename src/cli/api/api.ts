/**
 * Gives commands access to the API: over a running server's socket, or through the same application in this process.
 */
import { userInfo } from 'node:os'
import { text as wholeText } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATOR_HEADERS, socketPathOf } from '../../server/connection/socket.ts'
import { isServed } from '../../store/sqlite/served.ts'
import { refuseMissing, requireConfig } from '../database.ts'
import { CommandError, ErrorResponse } from '../failure.ts'
import { parseObject } from '../input.ts'
import type { Common } from '../output.ts'
import { reachServer } from './socket-client.ts'

type RequestOptions = {
  readonly cluster?: string | undefined
  readonly body?: unknown
  /** Raw bytes, which are sent unchanged instead of `body`. */
  readonly payload?: Uint8Array<ArrayBuffer>
  readonly accept?: string
}

/** Sends requests. `failure` returns the error behind the last 5xx response, if this process knows it. */
export type Transport = {
  /** Whether a running server answers the requests. Otherwise, the application in this process answers them. */
  readonly isServer: boolean
  readonly send: (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body: string | Uint8Array<ArrayBuffer> | null,
  ) => Promise<{ readonly status: number; readonly body: AsyncIterable<Uint8Array> }>
  readonly failure: () => unknown
  readonly close: () => Promise<void>
}

export type Api = Pick<Transport, 'isServer'> & {
  /** Returns the API for an organization. @param organization the organization's id */
  readonly of: (organization: string) => Api
  /** Returns the body of a successful response as text. @throws ErrorResponse */
  readonly text: (method: string, path: string, asked?: RequestOptions) => Promise<string>
  /** Returns the JSON body of a successful response, or null if it is empty. @throws ErrorResponse */
  readonly json: <Body>(method: string, path: string, asked?: RequestOptions) => Promise<Body>
  /** Returns the records from all pages, newest first. @throws ErrorResponse */
  readonly all: <Item>(path: string, asked?: RequestOptions) => Promise<Item[]>
  /**
   * Yields the JSON lines of a response as they arrive. @throws ErrorResponse; CommandError if the response is
   * incomplete
   */
  readonly lines: <Line>(method: string, path: string, asked?: RequestOptions) => AsyncGenerator<Line>
}

/** How long a command waits for another command, or for a server that is starting. */
const LOCK_TIMEOUT_MS = 10_000
const PAUSE_MS = 50
const PAGE_SIZE = 500

/**
 * Runs a command with the API of the configured database. If a server has the database locked, requests go over that
 * server's socket. Otherwise, this process holds the lock while the command runs.
 * @param missing `create` creates a missing database and upgrades an old one; `refuse` rejects a missing or old
 * database
 */
export async function withApi<Result>(
  options: Common,
  work: (api: Api) => Promise<Result>,
  missing: 'create' | 'refuse' = 'refuse',
): Promise<Result> {
  const { database } = requireConfig(options)
  if (missing === 'refuse') refuseMissing(database)
  const transport = await open(database, options, missing === 'create')
  try {
    return await work(apiOver(transport))
  } finally {
    await transport.close()
  }
}

async function open(database: string, options: Common, mayCreate: boolean): Promise<Transport> {
  const until = performance.now() + LOCK_TIMEOUT_MS
  for (;;) {
    // The application makes up most of the program. Commands that use a running server do not load the application, so
    // they start faster.
    const transport = isServed(database)
      ? await reachServer(socketPathOf(database))
      : await (await import('./application.ts')).openHere(database, { options, mayUpgrade: mayCreate })
    if (transport) return transport
    if (performance.now() > until)
      throw new CommandError(
        `another incmon process has locked ${database}, and no server is listening on ${socketPathOf(database)}: wait until the other command has finished or the server has started`,
      )
    await pause(PAUSE_MS)
  }
}

function apiOver(transport: Transport, organization?: string): Api {
  const ask = async (method: string, path: string, asked: RequestOptions = {}) => {
    const { body, payload } = asked
    const sent = payload ?? (body === undefined ? null : JSON.stringify(body))
    const answer = await transport.send(method, path, headersOf(asked, organization), sent)
    if (answer.status < 400) return answer.body
    const failure = transport.failure()
    if (answer.status >= 500 && failure instanceof Error) throw failure
    const told = await wholeText(answer.body)
    const problem = parseObject(told)
    throw new ErrorResponse(
      answer.status,
      String(problem?.detail ?? told),
      (problem?.errors ?? []) as ErrorResponse['errors'],
    )
  }
  const text: Api['text'] = async (method, path, asked) => wholeText(await ask(method, path, asked))
  const json = async <Body>(method: string, path: string, asked?: RequestOptions) => {
    const found = await text(method, path, asked)
    return (found === '' ? null : JSON.parse(found)) as Body
  }
  return {
    isServer: transport.isServer,
    of: (id) => apiOver(transport, id),
    text,
    json,
    all: async <Item>(path: string, asked?: RequestOptions) => {
      const items: Item[] = []
      for (let page = 1, pages = 1; page <= pages; page += 1) {
        const joint = path.includes('?') ? '&' : '?'
        const found = await json<Page<Item>>('GET', `${path}${joint}page=${page}&limit=${PAGE_SIZE}`, asked)
        items.push(...found.data)
        pages = found.pagination.totalPages
      }
      return items
    },
    lines: async function* <Line>(method: string, path: string, asked?: RequestOptions) {
      for await (const line of linesOf(await ask(method, path, asked))) {
        const value = JSON.parse(line)
        if (value.done) return
        if (value.error) throw transport.failure() ?? new CommandError(value.error)
        yield value as Line
      }
      throw new CommandError('the server stopped before the command finished: run the command again')
    },
  }
}

type Page<Item> = { readonly data: readonly Item[]; readonly pagination: { readonly totalPages: number } }

function headersOf({ cluster, body, accept }: RequestOptions, organization?: string): Record<string, string> {
  return {
    [OPERATOR_HEADERS.actor]: encoded(loginName()),
    ...(organization === undefined ? {} : { [OPERATOR_HEADERS.organization]: organization }),
    ...(cluster === undefined ? {} : { [OPERATOR_HEADERS.cluster]: encoded(cluster) }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(accept === undefined ? {} : { accept }),
  }
}

/** Encodes text as UTF-8, because headers consist of bytes. */
function encoded(text: string): string {
  return Buffer.from(text.replace(/[\r\n\0]/g, ' '), 'utf8').toString('latin1')
}

function loginName(): string {
  try {
    return userInfo().username
  } catch {
    return `uid ${process.getuid?.() ?? ''}`.trim()
  }
}

async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = parts.pop() ?? ''
    yield* parts
  }
}
