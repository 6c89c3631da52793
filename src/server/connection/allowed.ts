/** Private networks and hosts to which messages may be sent. */
import { isCidr, trusting } from './proxies.ts'

const LOOPBACK = ['127.0.0.0/8', '::1/128']

/** Returns whether a text is a network such as 10.0.0.0/8, or the name of a host such as localhost. */
export function isNetworkOrHost(text: string): boolean {
  return isCidr(text) || /^(?!-)(?=.*[a-z])[a-z\d-]{1,63}(\.[a-z\d-]{1,63})*$/i.test(text)
}

/**
 * Returns a function that tells whether the address of a host belongs to one of the networks, or the host is listed by
 * its name. `localhost` stands for all loopback addresses.
 */
export function allowing(entries: readonly string[]): (address: string, host: string) => boolean {
  const names = entries.filter((entry) => !isCidr(entry)).map((name) => name.toLowerCase())
  const networks = [...entries.filter(isCidr), ...(names.includes('localhost') ? LOOPBACK : [])]
  const isInNetwork = trusting(networks)
  return (address, host) => isInNetwork(address) || names.includes(host.toLowerCase().replace(/\.$/, ''))
}
