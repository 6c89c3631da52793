/**
 * Finds the address of the caller, and the address of this server for the caller. Both also work behind trusted
 * proxies.
 */
import type { Context } from 'hono'
import { type Client, clientOf } from '../../domain/forwarded.ts'
import type { ServerContext } from '../../server/context.ts'
import { headerOf, incomingOf } from './header.ts'

export function callerOf(c: Context, { isTrusted }: Pick<ServerContext, 'isTrusted'>): Client {
  const header = (name: string) => headerOf(c, name) ?? ''
  const said = {
    forwarded: header('forwarded'),
    xForwardedFor: header('x-forwarded-for'),
    xForwardedProto: header('x-forwarded-proto'),
    xForwardedHost: header('x-forwarded-host'),
  }
  return clientOf(incomingOf(c)?.socket.remoteAddress ?? '', said, isTrusted)
}

/**
 * Returns the public address of this server, for example https://incmon.example.com. Returns '' if it is not certain.
 */
export function originOf(c: Context, server: Pick<ServerContext, 'isTrusted'>): string {
  return callerOf(c, server).origin
}
