/** Forwarded: who is calling and under which address, where a trusted proxy stands between. */

/** What a request says of its way, each header as it came; '' where there is none. */
export type Said = {
  readonly forwarded: string
  readonly xForwardedFor: string
  readonly xForwardedProto: string
  readonly xForwardedHost: string
}

/** `origin` is such as https://incmon.example.com; '' where no trusted proxy says it. */
export type Client = { readonly address: string; readonly origin: string }

const HOST = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i

/**
 * Nothing of it counts unless it was a trusted proxy that connected. Of the addresses in X-Forwarded-For, or `for=` in
 * Forwarded (RFC 7239), the last one counts that is no trusted proxy: what stands before it, anybody can write. A proxy
 * sets one of the two headers and passes the other on as it came, so that two which disagree are both ignored.
 * @param peer the address that connected
 */
export function clientOf(peer: string, said: Said, isTrusted: (address: string) => boolean): Client {
  const direct = plainAddress(peer)
  if (!isTrusted(direct)) return { address: direct, origin: '' }
  const elements = split(said.forwarded, ',').map(parametersOf)
  const chains = [split(said.xForwardedFor, ','), elements.map((one) => one.get('for') ?? '')]
  const [first = direct, second = first] = chains
    .filter((chain) => chain.length > 0)
    .map((chain) => clientIn(chain, direct, isTrusted))
  if (first !== second) return { address: direct, origin: '' }
  const proto = split(said.xForwardedProto, ',')[0] ?? elements[0]?.get('proto') ?? ''
  const host = split(said.xForwardedHost, ',')[0] ?? elements[0]?.get('host') ?? ''
  const isOrigin = /^https?$/i.test(proto) && HOST.test(host)
  return { address: first, origin: isOrigin ? `${proto.toLowerCase()}://${host}` : '' }
}

/** From the nearest back; an entry that is no address, such as `unknown`, ends what can be believed. */
function clientIn(chain: readonly string[], direct: string, isTrusted: (address: string) => boolean): string {
  let client = direct
  for (const entry of chain.toReversed()) {
    const address = plainAddress(entry)
    if (!/^[\d.]+$|^[\da-f:.]*:[\da-f:.]*$/i.test(address)) return client
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** Without the port, the brackets of IPv6, or the ::ffff: under which a socket shows IPv4. */
export function plainAddress(text: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** `for="[2001:db8::1]:80";proto=https` */
function parametersOf(element: string): Map<string, string> {
  const pairs = split(element, ';').map((pair) => /^(\w+)\s*=\s*"?([^"]*)"?$/.exec(pair) ?? [])
  return new Map(pairs.map(([, name = '', value = '']) => [name.toLowerCase(), value.trim()]))
}

function split(text: string, separator: string): string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
