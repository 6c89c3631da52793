/** Finds the addresses of a host, without a thread that a name server without an answer could block. */
import { promises as dns, lookup as lookUp } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'

/** Resolves a host name to all of its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>

/** How long to wait for a name server, in milliseconds; twice as long for the second attempt. */
const WAIT = { timeout: 3_000, tries: 2 }
/** How long to wait for an IPv6 address when there is an IPv4 address, in milliseconds. */
const SOON = 500

/**
 * Returns a function that resolves names like the operating system: the hosts file comes first, then DNS, and then the
 * system's own look-up, which knows search domains. That look-up has two threads for all hosts, so a name whose server is
 * silent must never get there.
 * @param servers the name servers; default: those of the system
 */
export function createResolve({ hostsFile = '/etc/hosts', servers = [] as readonly string[] } = {}): Resolve {
  return async (host) => {
    const listed = await addressesIn(hostsFile, host.toLowerCase())
    if (listed.length > 0) return listed
    const resolver = new dns.Resolver(WAIT)
    if (servers.length > 0) resolver.setServers(servers)
    const six = settled(resolver.resolve6(host))
    const four = await settled(resolver.resolve4(host))
    const other = await (four.found.length > 0 ? Promise.race([six, pause(SOON, four)]) : six)
    resolver.cancel()
    const found = [...new Set([...four.found, ...other.found])]
    if (found.length > 0) return found
    const codes = [four.code, other.code]
    if (codes.includes('ETIMEOUT')) throw Object.assign(new Error('DNS is silent'), { name: 'TimeoutError' })
    return codes.includes('ESERVFAIL') ? [] : systemAddresses(host)
  }
}

function settled(asked: Promise<string[]>) {
  return asked.then(
    (found) => ({ found, code: '' }),
    ({ code }) => ({ found: [], code: String(code) }),
  )
}

async function addressesIn(file: string, host: string): Promise<string[]> {
  const lines = (await readFile(file, 'utf8').catch(() => '')).toLowerCase().split('\n')
  const entries = lines.map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
  return entries.flatMap(([address = '', ...names]) => (names.includes(host) ? address : []))
}

function systemAddresses(host: string): Promise<string[]> {
  return new Promise((resolve, reject) => {
    lookUp(host, { all: true, verbatim: true }, (error, addresses) =>
      error ? reject(error) : resolve(addresses.map(({ address }) => address)),
    )
  })
}
