/** Determines the client address of requests that come through a trusted proxy. */

/** `origin`: for example https://incmon.example.com; '' if no trusted proxy sent one. */
export type Client = { readonly address: string; readonly origin: string }

const HOST = /^[\w.-]+(?::\d{1,5})?$|^\[[\da-f:.]+\](?::\d{1,5})?$/i

/**
 * Returns the client. Headers are used only if the connection is from a trusted proxy. The client is the last address
 * in X-Forwarded-For, or in the `for` parameters of Forwarded (RFC 7239), that is not a trusted proxy. Anyone can forge
 * the addresses that are listed before the client's address. A proxy sets one of these headers and passes the other
 * header through unchanged. If the two headers disagree, both are ignored.
 * @param peer the address of the connection
 * @param header returns a header by its lower-case name; '' if absent
 */
export function clientOf(
  peer: string,
  header: (name: string) => string,
  isTrusted: (address: string) => boolean,
): Client {
  const direct = plainAddress(peer)
  if (!isTrusted(direct)) return { address: direct, origin: '' }
  const elements = split(header('forwarded'), ',').map(parametersOf)
  const chains = [split(header('x-forwarded-for'), ','), elements.map((one) => one.get('for') ?? '')]
  const [first = direct, second = first] = chains
    .filter((chain) => chain.length > 0)
    .map((chain) => clientIn(chain, direct, isTrusted))
  if (first !== second) return { address: direct, origin: '' }
  const proto = split(header('x-forwarded-proto'), ',')[0] ?? elements[0]?.get('proto') ?? ''
  const host = split(header('x-forwarded-host'), ',')[0] ?? elements[0]?.get('host') ?? ''
  const isOrigin = /^https?$/i.test(proto) && HOST.test(host)
  return { address: first, origin: isOrigin ? `${proto.toLowerCase()}://${host}` : '' }
}

/** Searches from the nearest proxy outward. Stops at an entry that is not an address, such as `unknown`. */
function clientIn(chain: readonly string[], direct: string, isTrusted: (address: string) => boolean): string {
  let client = direct
  for (const entry of chain.toReversed()) {
    const address = plainAddress(entry)
    if (!/^[\d.]+$|^[\da-f.]*:[\da-f:.]*$/i.test(address)) return client
    client = address
    if (!isTrusted(address)) return client
  }
  return client
}

/** Returns an address without its port, IPv6 brackets, and the ::ffff: prefix of mapped IPv4 addresses. */
export function plainAddress(text: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1')
  return bare.replace(/^::ffff:(?=\d+\.)/i, '')
}

/** Parses an element such as `for="[2001:db8::1]:80";proto=https`. */
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
