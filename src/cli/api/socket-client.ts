/** Sends requests over a running server's Unix socket and verifies the server's identity. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { programVersion } from '../../assets.ts'
import type { RefusedSenders } from '../../domain/doctor/facts.ts'
import { withTimeLimit } from '../../notify/time-limit.ts'
import type { Listening } from '../../server/context.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { CommandError } from '../failure.ts'
import { parseObject } from '../input.ts'
import type { Transport } from './api.ts'

/** The longest allowed pause within a response, in ms. */
const TIMEOUT_MS = 60_000
/** The time limit of the first response, which is short and identifies the server, in ms. */
const FIRST_TIMEOUT_MS = 5_000
/** Node's error codes if no server is listening on the socket: the server is starting, is stopping, or was killed. */
const NOT_LISTENING = ['ECONNREFUSED', 'ENOENT']

/**
 * Sends requests over the socket. `listening` is the server's network address. `refusedSenders` lists the networks that
 * recently sent invalid tokens.
 */
type ServerTransport = Transport & { readonly listening: Listening; readonly refusedSenders: RefusedSenders }

/**
 * Connects to the server that listens on the socket.
 * @returns null if no server is listening
 * @throws CommandError if another program or another version of incmon responds, or if this user is not allowed to
 * connect
 */
export async function reachServer(path: string): Promise<ServerTransport | null> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const close = async () => agent.destroy()
  try {
    const identify = async () => text(await send({ agent, path }, 'GET', '/operator/server', {}, null))
    const server = parseObject(await withTimeLimit(FIRST_TIMEOUT_MS, identify))
    refuseStranger(path, server)
    return {
      isServer: true,
      listening: server?.listening as Listening,
      refusedSenders: server?.refusedSenders as RefusedSenders,
      send: async (...asked) => {
        const found = await send({ agent, path }, ...asked).catch((error) => {
          throw explained(path, error)
        })
        return { status: found.statusCode ?? 0, body: explaining(path, found) }
      },
      failure: () => null,
      close,
    }
  } catch (error) {
    await close()
    if (NOT_LISTENING.includes(errorCode(error))) return null
    throw error instanceof CommandError ? error : explained(path, error)
  }
}

function refuseStranger(path: string, server: Readonly<Record<string, unknown>> | null): void {
  if (server?.program !== 'incmon') {
    throw new CommandError(`another program is listening on ${path}: stop that program, then restart "incmon serve"`)
  }
  const [mine, theirs] = [programVersion(), String(server.version)]
  if (mine === theirs) return
  throw new CommandError(
    `this command has version ${mine}, but the server on ${path} has version ${theirs}: use the server's version of incmon, or restart the server with version ${mine}`,
  )
}

function send(
  { agent, path: socketPath }: { readonly agent: Agent; readonly path: string },
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, socketPath, method, path, headers: { ...headers, host: 'localhost' } }, resolve)
    sent.setTimeout(TIMEOUT_MS, () => sent.destroy(Object.assign(new Error('no response'), { code: 'ETIMEDOUT' })))
    sent.on('error', reject)
    sent.end(body ?? undefined)
  })
}

async function* explaining(path: string, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    throw explained(path, error)
  }
}

function explained(path: string, error: unknown): CommandError {
  return new CommandError(messageOf(path, errorCode(error)))
}

function messageOf(path: string, code: string): string {
  if (code === 'EACCES' || code === 'EPERM')
    return `no permission to connect to ${path} (${code}): run the command as the user that runs the server`
  if (code === 'ETIMEDOUT') return `the server on ${path} is not responding: check its log and the load on this machine`
  if (code.startsWith('HPE_'))
    return `another program is listening on ${path} (${code}): stop that program, then restart "incmon serve"`
  return `the server on ${path} closed the connection before it responded (${code}): check its log, and check whether the change was made`
}
