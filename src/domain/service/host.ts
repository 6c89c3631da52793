/** Finds the host in an address. */

/**
 * Returns the host in an address: `10.0.2.15:10250` → `10.0.2.15`, `https://u@Shop.example:443/x` → `shop.example`,
 * `[::1]:9100` → `::1`. Without a scheme, the case is preserved for node names.
 */
export function hostOf(address: string): string {
  const scheme = address.indexOf('://')
  const rest = scheme < 0 ? address : address.slice(scheme + 3).toLowerCase()
  const authority = rest.split(/[/?#]/, 1)[0] ?? ''
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host.startsWith('[') && host.includes(']')) return host.slice(1, host.indexOf(']'))
  const colon = host.indexOf(':')
  return colon < 0 || colon !== host.lastIndexOf(':') ? host : host.slice(0, colon)
}
