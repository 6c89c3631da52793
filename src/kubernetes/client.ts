/** A client for the Kubernetes API: requests, and streams of JSON lines. */
import { Agent, type IncomingMessage, request as plainRequest } from 'node:http'
import { Agent as SecureAgent, request as secureRequest } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { IncmonError } from '../domain/error.ts'
import { limitInterim } from '../domain/request/interim.ts'
import { guard } from '../intake/json.ts'
import type { Access } from './access.ts'
import { createSplitter, shortened } from './items.ts'

/** A response that is not the wanted one. `status`: 0 if there is no connection. */
export class ApiError extends Error {
  readonly status: number
  /** How long the server wants the client to wait, in milliseconds; null if it does not say. */
  readonly retryAfter: number | null
  constructor(status: number, message: string, retryAfter: number | null = null) {
    super(message)
    this.status = status
    this.retryAfter = retryAfter
  }
}

/** The status of an error of incmon itself: the cluster has too many objects. */
export const TOO_MANY = 507
/** The status of a response that incmon cannot read. The API server can be reached. */
export const UNREADABLE = 502

export type Client = {
  /** Returns the parsed JSON. @throws ApiError */
  readonly get: (path: string, body?: object) => Promise<unknown>
  /**
   * Calls `onOpen` once the server has answered, and `onLine` for each line. Resolves when the server ends the response.
   * @throws ApiError
   */
  readonly lines: (
    path: string,
    on: { readonly onOpen: () => void; readonly onLine: (line: string) => Promise<void> | void },
  ) => Promise<void>
  /** Calls `onItem` for each item of a list, as text. Returns the list without its items. @throws ApiError */
  readonly items: (path: string, onItem: (text: string) => Promise<void> | void) => Promise<unknown>
  /** Returns by how many milliseconds the API server's clock is ahead, as far as that is certain; negative if behind. */
  readonly ahead: () => number
  readonly close: () => void
}

/** `completed`: called when a line or object is whole, so that the connection is not given up. */
type Opened = { readonly response: IncomingMessage; readonly completed: () => void }

/** Kubernetes stores objects of at most 1.5 MiB, which are larger as JSON. */
const MAX_LINE = 3 * 1024 * 1024
/** Longer objects are checked and shortened before they are parsed. */
const LONG = 65_536

/**
 * A server that sends no whole line, object or response for this long is considered gone. The API server sends a
 * bookmark every minute.
 */
const IDLE = 70_000
/** A cluster changes often. Reading its changes ten times a second takes a quarter of the processor time of reading each. */
const GATHER = 100
const MAX_MESSAGE = 300
/** The maximum number of lines or objects that are read without a pause. */
const MAX_TOGETHER = 200
const MAX_SEARCHED = 10_000

/** `idle`: a connection on which nothing was completed for so many milliseconds is given up. */
export function createClient(access: Access, now: () => number, idle = IDLE): Client {
  const { ca, cert, key } = access.tls
  const isSecure = access.server.startsWith('https:')
  const options = { keepAlive: true, ...(ca ? { ca } : {}), ...(cert && key ? { cert, key } : {}) }
  const agent = isSecure
    ? new SecureAgent({ ...options, rejectUnauthorized: !access.isUnverified })
    : new Agent({ keepAlive: true })
  const stop = new AbortController()
  let ahead = 0

  const open = (path: string, body?: object) =>
    new Promise<Opened>((resolve, reject) => {
      const token = access.token()
      const headers = {
        Accept: 'application/json',
        'User-Agent': 'incmon',
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...(body ? { 'Content-Type': 'application/json' } : {}),
      }
      const send = isSecure ? secureRequest : plainRequest
      const url = access.server.replace(/\/+$/, '') + path
      const sentAt = now()
      const sent = send(url, { agent, headers, method: body ? 'POST' : 'GET', signal: stop.signal })
      let stream: { destroy(error: Error): unknown } = sent
      const nothing = new ApiError(0, `the API server sent nothing whole for ${Math.round(idle / 1000)} s`)
      const timer = setTimeout(() => stream.destroy(nothing), idle)
      limitInterim(sent, (what) => new ApiError(0, `the API server ${what}`))
      sent.once('error', reject)
      sent.once('close', () => clearTimeout(timer))
      sent.once('response', (response) => {
        stream = response
        ahead = aheadBy(Date.parse(response.headers.date ?? ''), sentAt, now())
        resolve({ response, completed: () => timer.refresh() })
      })
      sent.end(body && JSON.stringify(body))
    })

  const opened = async (path: string, body?: object): Promise<Opened> => {
    const answer = await open(path, body).catch((error) => Promise.reject(asApiError(error)))
    const { response } = answer
    if ((response.statusCode ?? 0) < 300) return answer
    const text = await textOf(response).catch(() => '')
    const after = Number(response.headers['retry-after'])
    const said = messageIn(text) || unexplained(response)
    throw new ApiError(response.statusCode ?? 0, said, Number.isFinite(after) ? after * 1000 : null)
  }

  return {
    get: async (path, body) => parsed(await textOf((await opened(path, body)).response), 'did not answer with JSON'),
    lines: async (path, { onOpen, onLine }) => {
      const { response, completed } = await opened(path)
      const shared = sharing()
      onOpen()
      // The parts of the line that has not ended yet: joining them for each part would be quadratic.
      let parts: string[] = []
      let length = 0
      try {
        for await (const chunk of chunksOf(response)) {
          let from = 0
          for (let end = chunk.indexOf('\n'); end !== -1; end = chunk.indexOf('\n', from)) {
            const line = parts.join('') + chunk.slice(from, end)
            from = end + 1
            ;[parts, length] = [[], 0]
            if (line.length > MAX_LINE) throw tooLarge('a line')
            if (line !== '') {
              await onLine(line)
              completed()
            }
            await shared()
          }
          parts.push(chunk.slice(from))
          length += chunk.length - from
          if (length > MAX_LINE) throw tooLarge('a line')
          if (from > 0 && response.readableLength === 0) await gather(response)
        }
      } catch (error) {
        throw asApiError(error)
      }
    },
    items: async (path, onItem) => {
      const { response, completed } = await opened(path)
      const splitter = createSplitter()
      const shared = sharing()
      try {
        for await (const chunk of chunksOf(response)) {
          for (const item of splitter.take(chunk)) {
            await onItem(item)
            completed()
            await shared()
          }
          if (splitter.kept() > MAX_LINE) throw tooLarge('an object')
        }
      } catch (error) {
        throw asApiError(error)
      }
      return parsed(splitter.rest(), 'did not answer with JSON')
    },
    ahead: () => ahead,
    close: () => {
      stop.abort()
      agent.destroy()
    },
  }
}

/** Requests of others come between two chunks: what has arrived is otherwise read at once. */
async function* chunksOf(response: IncomingMessage): AsyncGenerator<string> {
  for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
    yield chunk
    await turn()
  }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

/** Returns a function that lets requests of others come in between: one chunk can contain thousands of lines. */
function sharing(): () => Promise<unknown> | undefined {
  let count = 0
  return () => {
    count += 1
    return count % MAX_TOGETHER === 0 ? turn() : undefined
  }
}

/** `date`: of a response, cut to seconds; the request was sent at `sentAt`, and the response arrived at `now`. */
function aheadBy(date: number, sentAt: number, now: number): number {
  if (date > now) return date - now
  return date + 1_000 < sentAt ? date + 1_000 - sentAt : 0
}

/** Lets data wait in the socket, so that what arrives meanwhile is read at once. */
async function gather({ socket }: IncomingMessage): Promise<void> {
  socket.pause()
  await sleep(GATHER)
  socket.resume()
}

/** @param onCut called if the text is too long to be read whole. @throws ApiError with `fault` if it is not JSON */
export function parsed(text: string, fault: string, onCut = () => {}): unknown {
  try {
    if (text.length <= LONG) return JSON.parse(text)
    const short = shortened(text)
    if (short.length < text.length) onCut()
    return JSON.parse(guard(short))
  } catch {
    throw new ApiError(UNREADABLE, `the API server ${fault}`)
  }
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  try {
    for await (const chunk of response.setEncoding('utf8') as AsyncIterable<string>) {
      text += chunk
      if (text.length > MAX_LINE) throw tooLarge('a response')
    }
    return text
  } catch (error) {
    throw asApiError(error)
  }
}

function tooLarge(what: string): ApiError {
  return new ApiError(UNREADABLE, `the API server sent ${what} of more than ${MAX_LINE} characters`)
}

function asApiError(error: unknown): unknown {
  if (error instanceof IncmonError) return new ApiError(0, error.message)
  if (!(error instanceof Error && 'code' in error)) return error
  const { message, code } = error
  return new ApiError(0, message.includes(String(code)) ? message : `${message} (${code})`)
}

function unexplained({ statusCode, headers: { location } }: IncomingMessage): string {
  if (location === undefined) return `the API server answered with the status ${statusCode}`
  return `the API server redirects to ${location.slice(0, MAX_MESSAGE)}; name that URL in the kubeconfig`
}

function messageIn(text: string): string {
  const start = text.slice(0, MAX_SEARCHED)
  const found = /"message":\s*"((?:[^"\\]|\\.)*)/.exec(start)?.[1] ?? start.trim()
  return found.replaceAll('\\"', '"').slice(0, MAX_MESSAGE)
}
