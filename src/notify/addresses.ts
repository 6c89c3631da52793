/**
 * Private addresses. By default, no message is sent to them, because a channel could otherwise reach the server's own
 * network.
 */
import { BlockList, isIP } from 'node:net'

const REFUSED_4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12', '192.0.0.0/24'],
  ...['192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15', '198.51.100.0/24', '203.0.113.0/24'],
  ...['224.0.0.0/4', '240.0.0.0/4'],
]
/** Includes all IPv6 forms that embed an IPv4 address. */
const REFUSED_6 = [
  ...[
    '::/96',
    '::ffff:0:0/96',
    '::ffff:0:0:0/96',
    '64:ff9b::/96',
    '64:ff9b:1::/48',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
  ],
  ...['2002::/16', '3fff::/20', '5f00::/16', 'fc00::/7', 'fe80::/10', 'fec0::/10', 'ff00::/8'],
]

// Each address family has its own list. In a mixed list, Node converts IPv4 addresses to IPv6 before comparing them.
const refused4 = listOf(REFUSED_4, 'ipv4')
const refused6 = listOf(REFUSED_6, 'ipv6')

/**
 * Returns whether an address is private, loopback, link-local, multicast, reserved, or that of a cloud metadata
 * service.
 */
export function isPrivate(address: string): boolean {
  const [plain = ''] = address.split('%')
  if (isIP(plain) === 4) return refused4.check(plain, 'ipv4')
  return isIP(plain) !== 6 || refused6.check(plain, 'ipv6')
}

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    list.addSubnet(address, Number(bits), family)
  }
  return list
}
