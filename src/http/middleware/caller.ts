/** Callers: who sent a request, and under which address they reach this server, also behind trusted proxies. */
import type { Context } from 'hono'
import { type Client, clientOf } from '../../domain/forwarded.ts'
import type { Surroundings } from '../../server/surroundings.ts'
import { headerOf, incomingOf } from './header.ts'

export function callerOf(c: Context, { isTrusted }: Pick<Surroundings, 'isTrusted'>): Client {
  const header = (name: string) => headerOf(c, name) ?? ''
  const said = {
    forwarded: header('forwarded'),
    xForwardedFor: header('x-forwarded-for'),
    xForwardedProto: header('x-forwarded-proto'),
    xForwardedHost: header('x-forwarded-host'),
  }
  return clientOf(incomingOf(c)?.socket.remoteAddress ?? '', said, isTrusted)
}

/** Where the caller reaches this server, such as https://incmon.example.com; '' where only a relative address is sure. */
export function originOf(c: Context, surroundings: Pick<Surroundings, 'isTrusted'>): string {
  return callerOf(c, surroundings).origin
}
