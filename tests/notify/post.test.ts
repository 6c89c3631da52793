/** Posting to bad receivers, and protection of private networks. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { isPrivate, type Network, PrivateAddress, post } from '../../src/notify/post.ts'
import { createResolve } from '../../src/notify/resolve.ts'
import { allowing } from '../../src/server/connection/addresses.ts'
import { isNetworkOrHost } from '../../src/settings.ts'
import { answering, startReceiver } from './receiver.ts'

const POSTED = { body: '{}', headers: {} }
const CLOSED: Network = { resolve: createResolve(), isAllowed: () => false, timeoutMs: 5_000 }
const OPEN: Network = { ...CLOSED, isAllowed: allowing(['127.0.0.0/8']) }

for (const address of [
  ...['127.0.0.1', '127.255.0.1', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '100.64.0.1'],
  ...['169.254.169.254', '192.0.0.192', '198.18.0.1', '224.0.0.1', '240.0.0.1', '255.255.255.255', '::', '::1'],
  ...[
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:0:7f00:1',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    'fd00::1',
    'fe80::1',
  ],
  ...['fe80::1%eth0', 'fec0::1', 'ff02::1', 'fd00:ec2::254', '2001:db8::1', 'no address'],
]) {
  test(`${address} is private`, () => assert.equal(isPrivate(address), true))
}

for (const address of ['1.1.1.1', '172.32.0.1', '100.128.0.1', '193.0.6.139', '2606:4700::1111', '2a00:1450::1']) {
  test(`${address} is public`, () => assert.equal(isPrivate(address), false))
}

const HOSTS = [
  ...['127.0.0.1', '127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0.0.0.0', '0', 'localhost'],
  ...['[::]', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]', '１２７.0.0.1'],
  ...['user@127.0.0.1', 'example.com@127.0.0.1', '127.0.0.1.', '%31%32%37.0.0.1'],
]

/** Returns the error for a URL that is rejected as private. */
async function refusalOf(url: string): Promise<string> {
  const error = await post(new URL(url), POSTED, CLOSED).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof PrivateAddress, url)
  return error.message
}

test('no notation of a loopback address reaches a listener, and an open port looks like a closed one', async (t) => {
  const { port, received } = await startReceiver(t)
  for (const host of HOSTS) {
    const texts = [port, 65_000].map((to) => refusalOf(`http://${host}:${to}/`))
    assert.equal(await texts[0], await texts[1])
  }
  // Whether this name can be resolved depends on the operating system.
  await assert.rejects(post(new URL(`http://localhost.:${port}/`), POSTED, CLOSED))
  assert.equal(received.length, 0)
})

test('a name that resolves to a private address is refused, even if it also has a public one', async (t) => {
  const { port, received } = await startReceiver(t)
  for (const addresses of [['127.0.0.1'], ['1.1.1.1', '127.0.0.1'], ['169.254.169.254'], ['fd00::1']]) {
    const network = { ...CLOSED, resolve: async () => addresses }
    await assert.rejects(post(new URL(`http://example.com:${port}/`), POSTED, network), PrivateAddress)
  }
  assert.equal(received.length, 0)
})

test('a name is resolved only once, so a change between lookup and connection has no effect', async (t) => {
  const { port, received } = await startReceiver(t)
  const answers = [['127.0.0.1'], ['10.0.0.1'], ['10.0.0.1']]
  let asked = 0
  const network = { ...OPEN, resolve: async () => answers[asked++] ?? [] }
  const { status } = await post(new URL(`http://example.com:${port}/`), POSTED, network)
  assert.deepEqual([status, asked, received[0]?.headers.host], [200, 1, `example.com:${port}`])
})

test('an address in an allowed network is reached', async (t) => {
  const { url, received } = await startReceiver(t, answering(200, 'ok'))
  const answer = await post(new URL(`${url}/hook?a=1`), POSTED, OPEN)
  assert.deepEqual([answer.status, answer.text, received[0]?.path], [200, 'ok', '/hook?a=1'])
})

test('a redirect is returned and not followed', async (t) => {
  const target = await startReceiver(t)
  const { url } = await startReceiver(t, answering(302, 'moved', { location: target.url }))
  assert.equal((await post(new URL(url), POSTED, OPEN)).status, 302)
  assert.equal(target.received.length, 0)
})

test('only 1 kB of an endless response is read', async (t) => {
  const { url } = await startReceiver(t, (response) => {
    response.writeHead(200)
    const more = () => response.write('x'.repeat(65_536)) && !response.destroyed && setImmediate(more)
    response.on('drain', more)
    more()
  })
  assert.equal((await post(new URL(url), POSTED, OPEN)).text.length, 1_024)
})

for (const [interim, isTaken] of [
  ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', true],
  ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(20), true],
  ['HTTP/1.1 100 Continue\r\n\r\n'.repeat(21), false],
  ['HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(5_000), false],
] as const) {
  test(`${interim.split('HTTP').length - 1} interim responses are ${isTaken ? 'taken' : 'too many'}`, async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.write(`${interim}${isTaken ? 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok' : ''}`)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const posted = post(new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), POSTED, OPEN)
    if (isTaken) assert.equal((await posted).text, 'ok')
    else await assert.rejects(posted, /more than 20 interim responses/)
  })
}

test('a request to a receiver that hangs is aborted after the timeout', async (t) => {
  const { url } = await startReceiver(t, () => {})
  const network = { ...OPEN, timeoutMs: 100 }
  await assert.rejects(post(new URL(url), POSTED, network), /did not respond within 0.1 s/)
})

test('a request to a DNS server that hangs is aborted after the timeout', async () => {
  const network = { ...OPEN, resolve: () => new Promise<string[]>(() => {}), timeoutMs: 50 }
  await assert.rejects(post(new URL('http://example.com/'), POSTED, network), /DNS did not respond/)
})

test('a receiver that closes immediately is a failed connection', async (t) => {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  await assert.rejects(post(new URL(`http://127.0.0.1:${port}/`), POSTED, OPEN), /the connection failed/)
})

for (const [url, reason] of [
  ['http://127.0.0.1:22/', /port 22/],
  ['http://127.0.0.1:25/', /port 25/],
  ['ftp://127.0.0.1/', /must begin with http/],
  ['file:///etc/passwd', /must begin with http/],
  ['http://name-that-does-not-exist.invalid/', /cannot be resolved/],
] as const) {
  test(`${url} is refused`, async () => assert.rejects(post(new URL(url), POSTED, OPEN), reason))
}

test('the password of a user without a name is a bearer token, as in ntfy', async (t) => {
  const { port, received } = await startReceiver(t)
  await post(new URL(`http://:tk_x@127.0.0.1:${port}/`), POSTED, OPEN)
  await post(new URL(`http://a:b%40@127.0.0.1:${port}/`), POSTED, OPEN)
  const sent = received.map(({ headers }) => headers.authorization)
  assert.deepEqual(sent, ['Bearer tk_x', `Basic ${Buffer.from('a:b@').toString('base64')}`])
})

for (const [entries, host, address, expected] of [
  [['localhost'], 'localhost', '127.0.0.1', true],
  [['localhost'], 'localhost', '::1', true],
  [['localhost'], '127.0.0.1', '127.0.0.1', true],
  [['localhost'], 'example.com', '10.0.0.1', false],
  [['mattermost.lan'], 'Mattermost.lan.', '10.0.0.1', true],
  [['mattermost.lan'], 'other.lan', '10.0.0.1', false],
  [['10.0.0.0/8'], 'other.lan', '10.0.0.1', true],
  [['fd00::/8'], 'other.lan', 'fd00::1', true],
  [[], 'localhost', '127.0.0.1', false],
] as const) {
  test(`notify-allow [${entries}] ${expected ? 'permits' : 'refuses'} ${host} at ${address}`, () =>
    assert.equal(allowing(entries)(address, host), expected))
}

for (const [text, expected] of [
  ...([
    ['localhost', true],
    ['mattermost.lan', true],
    ['10.0.0.0/8', true],
    ['::1', true],
  ] as const),
  ...([
    ['localhost:8065', false],
    ['http://localhost', false],
    ['10.0.0.0/33', false],
    ['10.0.0', false],
    ['', false],
  ] as const),
] as const) {
  test(`notify-allow ${expected ? 'accepts' : 'rejects'} "${text}"`, () =>
    assert.equal(isNetworkOrHost(text), expected))
}

test('a receiver is not blamed for a time in which this process stood still', async (t) => {
  const { url } = await startReceiver(t)
  const sent = post(new URL(url), POSTED, { ...OPEN, timeoutMs: 500 })
  const until = performance.now() + 1_000
  while (performance.now() < until);
  assert.equal((await sent).status, 200)
})

test('a receiver that does not respond is given up', async (t) => {
  const { url } = await startReceiver(t, () => {})
  const sent = post(new URL(url), POSTED, { ...OPEN, timeoutMs: 200 })
  await assert.rejects(sent, { message: 'the receiver did not respond within 0.2 s' })
})
