/** Requests over the Unix socket of a running server, and who answers there. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { programVersion } from '../../assets.ts'
import { errorCode } from '../../store/sqlite/fault.ts'
import { objectIn } from '../answer.ts'
import { CommandError } from '../failure.ts'
import type { Transport } from './api.ts'

/** An answer that says nothing for so long is given up; the first one, which is short, sooner. In milliseconds. */
const PATIENCE = 60_000
const FIRST_PATIENCE = 5_000
/** Nobody listens: the server is starting or ending, or was killed. */
const NOBODY = ['ECONNREFUSED', 'ENOENT']

/**
 * Reaches the server that listens on the path.
 * @returns null if nobody listens
 * @throws CommandError if another program, or an incmon of another version, answers; if this user may not connect
 */
export async function reachServer(path: string): Promise<Transport | null> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const close = async () => agent.destroy()
  try {
    const answer = await send({ agent, path, patience: FIRST_PATIENCE }, 'GET', '/operator/server', {}, null)
    refuseStranger(path, objectIn(await text(answer)))
    return {
      send: async (...asked) => {
        const found = await send({ agent, path, patience: PATIENCE }, ...asked).catch((error) => {
          throw explained(path, error)
        })
        return { status: found.statusCode ?? 0, body: explaining(path, found) }
      },
      failure: () => null,
      close,
    }
  } catch (error) {
    await close()
    if (NOBODY.includes(errorCode(error))) return null
    throw error instanceof CommandError ? error : explained(path, error)
  }
}

function refuseStranger(path: string, server: Readonly<Record<string, unknown>> | null): void {
  if (server?.program !== 'incmon') {
    throw new CommandError(`another program answers on ${path}: stop it, and restart "incmon serve"`)
  }
  const [mine, theirs] = [programVersion(), String(server.version)]
  if (mine === theirs) return
  throw new CommandError(
    `this is incmon ${mine}, and the server on ${path} is incmon ${theirs}: run the command with the program of the server, or restart the server with this one`,
  )
}

type To = { readonly agent: Agent; readonly path: string; readonly patience: number }

function send(
  { agent, path: socketPath, patience }: To,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body: string | Uint8Array | null,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = request({ agent, socketPath, method, path, headers: { ...headers, host: 'localhost' } }, resolve)
    sent.setTimeout(patience, () => sent.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })))
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
  const code = errorCode(error)
  if (code === 'EACCES' || code === 'EPERM') {
    return new CommandError(`no right to connect to ${path} (${code}): run the command as the user who runs the server`)
  }
  if (code === 'ETIMEDOUT') {
    return new CommandError(`the server on ${path} does not answer: look at its log and at the load of the machine`)
  }
  if (code.startsWith('HPE_')) {
    return new CommandError(`another program answers on ${path} (${code}): stop it, and restart "incmon serve"`)
  }
  return new CommandError(
    `the server on ${path} closed the connection before it had answered (${code}): look at its log, and whether the change took effect`,
  )
}
