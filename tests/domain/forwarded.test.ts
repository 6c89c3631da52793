/** The client's address behind proxies: only headers from trusted proxies are used. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Client, clientOf } from '../../src/domain/request/forwarded.ts'

const PROXY = '10.0.0.1'

function seen(peer: string, said: Readonly<Record<string, string>>): Client {
  return clientOf(
    peer,
    (name) => said[name] ?? '',
    (address) => address.startsWith('10.'),
  )
}

describe('the address', () => {
  for (const [what, peer, said, address] of [
    ['is who connected', '192.0.2.7', {}, '192.0.2.7'],
    ['of IPv4 in IPv6 is shown as IPv4', '::ffff:192.0.2.7', {}, '192.0.2.7'],
    ['is not what a stranger says', '192.0.2.7', { 'x-forwarded-for': '203.0.113.9' }, '192.0.2.7'],
    ['is what a proxy says', PROXY, { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
    ['is what a proxy in IPv6 clothes says', '::ffff:10.0.0.1', { 'x-forwarded-for': '203.0.113.9' }, '203.0.113.9'],
    ['is the last that is no proxy', PROXY, { 'x-forwarded-for': '1.1.1.1, 203.0.113.9, 10.0.0.2' }, '203.0.113.9'],
    ['is the first where all are proxies', PROXY, { 'x-forwarded-for': '10.0.0.3, 10.0.0.2' }, '10.0.0.3'],
    ['has no port', PROXY, { 'x-forwarded-for': '203.0.113.9:4711' }, '203.0.113.9'],
    ['ends where a word stands', PROXY, { 'x-forwarded-for': '203.0.113.9, unknown, 10.0.0.2' }, '10.0.0.2'],
    ['is the proxy where nothing can be read', PROXY, { 'x-forwarded-for': '<script>' }, PROXY],
    ['comes from Forwarded too', PROXY, { forwarded: 'For="[2001:db8::1]:80";proto=https' }, '2001:db8::1'],
    ['is the last of several in Forwarded', PROXY, { forwarded: 'for=1.1.1.1, for=203.0.113.9' }, '203.0.113.9'],
    ['may be said twice', PROXY, { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=203.0.113.9' }, '203.0.113.9'],
    ['is not guessed from two that disagree', PROXY, { 'x-forwarded-for': '1.1.1.1', forwarded: 'for=2.2.2.2' }, PROXY],
  ] as const) {
    test(what, () => assert.equal(seen(peer, said).address, address))
  }

  test('cannot be forged by a client in front of a proxy', () => {
    fc.assert(
      fc.property(fc.string(), (lie) => {
        assert.equal(seen(PROXY, { 'x-forwarded-for': `${lie}, 203.0.113.9` }).address, '203.0.113.9')
      }),
    )
  })
})

describe('the origin', () => {
  const https = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'incmon.example.com' }
  for (const [what, peer, said, origin] of [
    ['is not known without a proxy', '192.0.2.7', {}, ''],
    ['is not what a stranger says', '192.0.2.7', https, ''],
    ['is what a proxy says', PROXY, https, 'https://incmon.example.com'],
    ['may have a port', PROXY, { ...https, 'x-forwarded-host': '[::1]:8443' }, 'https://[::1]:8443'],
    ['is in Forwarded too', PROXY, { forwarded: 'for=1.1.1.1;host=a.example;proto=http' }, 'http://a.example'],
    ['is not half known', PROXY, { 'x-forwarded-proto': 'https' }, ''],
    ['is no other scheme', PROXY, { ...https, 'x-forwarded-proto': 'javascript' }, ''],
    ['is no address with a path', PROXY, { ...https, 'x-forwarded-host': 'a.example/x' }, ''],
    ['does not break out of a header', PROXY, { ...https, 'x-forwarded-host': 'a>; rel="next' }, ''],
  ] as const) {
    test(what, () => assert.equal(seen(peer, said).origin, origin))
  }
})
