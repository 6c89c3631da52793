/** Finds the running server: the server that the user named or, by default, the server that has the database open. */
import { resolve } from 'node:path'
import { type Config, clientVariables } from '../config.ts'
import { socketPathOf } from '../server/connection/socket.ts'
import type { Listening } from '../server/context.ts'
import { isServed } from '../store/sqlite/served.ts'
import { reachServer } from './api/socket-client.ts'
import type { Trust } from './ask.ts'
import { requireConfig } from './database.ts'
import { CommandError, UsageError } from './failure.ts'
import type { Common } from './output.ts'

/** `url` has no trailing slash. `trust` says which TLS certificate is trusted. */
type FoundServer = { readonly url: string; readonly trust: Trust }

/**
 * Returns the server named by `--url` or, if the option is missing, by INCMON_URL. If both are missing, returns the
 * server that has the configured database open. Never guesses a port, because another program on that port would
 * receive the token.
 * @throws UsageError if the URL is invalid; CommandError if no server has the database open
 */
export async function requireServer(options: Common & { readonly url?: string }): Promise<FoundServer> {
  const named = namedAddress(options)
  if (named !== null) return { url: named, trust: 'system' }
  const { database } = requireConfig(options)
  const listening = await findListening(database)
  if (listening === null) throw new CommandError(noServer(database))
  const { url, certificate } = listening
  return { url: reachableUrl(url), trust: certificate === null ? 'system' : { only: certificate } }
}

/** Returns the URLs of the server that has the database open, or null if no server responds on the socket. */
export async function findListening(database: string): Promise<Listening | null> {
  if (!isServed(database)) return null
  const server = await reachServer(socketPathOf(database))
  await server?.close()
  return server?.listening ?? null
}

/** Returns the error message for a database that no server has open. The message says what to do. */
export function noServer(database: string): string {
  return `no server is using ${resolve(database)}: start "incmon serve", or specify the server with --url or the database with --database`
}

/** Returns the value of --url or INCMON_URL, without a trailing slash, or null if both are missing. */
export function namedAddress({ url }: { readonly url?: string }): string | null {
  const named = url ?? clientVariables().url
  if (named === null) return null
  const parsed = URL.parse(named)
  if (parsed && /^https?:$/.test(parsed.protocol) && parsed.username === '') {
    return `${parsed.origin}${parsed.pathname.replace(/\/+$/, '')}`
  }
  const where = url === undefined ? 'INCMON_URL' : '--url'
  throw new UsageError(`${where}: ${named} is not a URL: use a URL such as http://127.0.0.1:8080, without a password`)
}

/** Returns the URL at which a server with this configuration can be reached from its own machine. */
export function configuredAddress({ host, port, 'tls-cert': certificate }: Config): string {
  const shownHost = host.includes(':') ? `[${host}]` : host
  return reachableUrl(`${certificate === '' ? 'http' : 'https'}://${shownHost}:${port}`)
}

/** Replaces a wildcard address with the loopback address. */
export function reachableUrl(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
}
