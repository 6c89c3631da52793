/** incmon replay: what it sends, in which order and when, and what it rejects before sending anything. */
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { suite, type TestContext, test } from 'node:test'
import { moveTimes } from '../../src/domain/example/recorded.ts'
import { call, refusal } from '../helpers/cli.ts'
import { alert, alertmanager, pipeline } from '../helpers/senders.ts'
import { startServer } from '../helpers/server.ts'
import { temporaryDirectory } from '../helpers/store.ts'

const T = Date.UTC(2023, 8, 22, 15, 55, 30)
const SECOND = 1_000
const iso = (ms: number) => new Date(ms).toISOString()
const firing = (name: string, at: number) => alertmanager([alert(name, { service: 'cart' }, { startsAt: at })])
const metrics = (name: string, at: number) => ({ t: iso(at), endpoint: 'metrics', body: firing(name, at) })

function recording(t: TestContext, ...lines: unknown[]): string {
  const file = join(temporaryDirectory(t), 'requests.jsonl')
  writeFileSync(file, lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'))
  return file
}

type Seen = Pick<IncomingMessage, 'url' | 'headers'> & { body: string; at: number }

/** Starts a server that records requests and responds to all of them in the same way. */
async function listener(t: TestContext, answer = { status: 200, body: '{"received":true,"eventIds":["x"]}' }) {
  const seen: Seen[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { url, headers } = request
    seen.push({ url, headers, body: Buffer.concat(chunks).toString(), at: performance.now() })
    response.writeHead(answer.status, { Location: '/elsewhere' }).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

const replay = (file: string, ...args: string[]) => call('/', ['replay', file, ...args])

suite('replay', { concurrency: 4 }, () => {
  test('a recording of all endpoints arrives at a real server, shifted to the present', async (t) => {
    const { url, token, get } = await startServer(t)
    const pod = { namespace: 'shop', podName: 'cart-6c9d7f5b84-zq4wn', reason: 'BackOff', message: 'x', count: 1 }
    const file = recording(
      t,
      {
        t: iso(T),
        endpoint: 'ci',
        headers: { 'X-Ci-Token': '{{token}}' },
        body: pipeline('success', 'shop/cart', { at: T }),
      },
      metrics('Down', T + 60_000),
      { ...metrics('Slow', T + 60_000), endpoint: 'dashboard', headers: { Authorization: 'Bearer {{token}}' } },
      { t: iso(T + 120_000), endpoint: 'cluster', headers: {}, body: { ...pod, lastTime: iso(T + 120_000) } },
    )
    const before = Date.now()
    const { code, out, err } = await replay(file, '--url', `${url}/`, '--token', token, '--shift', 'now', '--json')
    const { sent, statuses, accepted, rejected, refusal } = JSON.parse(out)
    assert.deepEqual([code, err, sent, statuses], [0, '', 4, { 200: 4 }])
    assert.deepEqual([accepted, rejected, refusal], [4, 0, null])
    const [last, , , first] = (await get('/api/events')).data.map(({ at }: { at: string }) => Date.parse(at))
    assert.ok(last > before - SECOND && last <= Date.now(), `${last} is not between ${before} and now`)
    assert.equal(last - first, 120_000)
  })

  test('rejected requests and items are counted, the first error is printed, and the exit code is 1', async (t) => {
    const { url, token } = await startServer(t)
    const mixed = { ...metrics('Down', T), body: { alerts: [alert('Down', {}, { startsAt: T }), {}] } }
    const file = recording(t, mixed, { t: iso(T), endpoint: 'ci', body: {} }, metrics('Slow', T + 1000))
    const { code, out, err } = await replay(file, '--url', url, '--token', token)
    assert.equal(code, 1)
    assert.equal(out, `sent 3 requests to ${url}: 2 × 200, 1 × 400; items: 2 accepted, 2 rejected\n`)
    assert.match(
      err,
      /^incmon: the server did not accept everything; the first error: line 1: item 1 was rejected: labels: [^\n]+\n$/,
    )
  })

  test('a wrong token is rejected in one line', async (t) => {
    const { url } = await startServer(t)
    const { code, err } = await replay(recording(t, metrics('Down', T)), '--url', url, '--token', 'wrong')
    assert.equal(code, 1)
    assert.match(
      err,
      /^incmon: the server did not accept everything; the first error: line 1: the server responded with 401: unknown token; [^\n]+\n$/,
    )
  })

  test("requests are sent in chronological order, with the recorded headers and the sender's own", async (t) => {
    const { url, seen } = await listener(t)
    const headers = { 'X-Gitlab-Token': '{{token}}', 'Content-Length': '7', Host: 'elsewhere' }
    const file = recording(
      t,
      metrics('B', T + 1),
      { t: iso(T), endpoint: 'ci', headers, body: { b: 1, a: iso(T) } },
      '',
    )
    const { out, err } = await replay(file, '--url', url, '--token', 's3cret')
    const [first, second] = seen
    assert.deepEqual([first?.url, second?.url, err], ['/api/webhooks/ci', '/api/webhooks/metrics', ''])
    assert.equal(first?.body, `{"b":1,"a":"${iso(T)}"}`)
    assert.deepEqual([first.headers['x-gitlab-token'], first.headers['x-ci-token']], ['s3cret', undefined])
    assert.equal(second?.headers.authorization, 'Bearer s3cret')
    assert.match(out, /2 × 200; items: 2 accepted, 0 rejected\n$/)
  })

  test('--speed 60 waits a sixtieth of the time between two requests', async (t) => {
    const { url, seen } = await listener(t)
    const [one, other] = [metrics('A', T), metrics('B', T + 120 * SECOND)]
    await replay(recording(t, one, other), '--url', url, '--token', 'x', '--speed', '60')
    const waited = (seen[1]?.at ?? 0) - (seen[0]?.at ?? 0)
    // Two seconds. On a busy machine, either request can be late.
    assert.ok(waited > 100 && waited < 100 * SECOND, `${waited} ms`)
  })

  test('a redirect is not followed, so that data goes only to --url', async (t) => {
    const { url, seen } = await listener(t, { status: 307, body: '' })
    const { code, err } = await replay(recording(t, metrics('A', T)), '--url', url, '--token', 'x')
    assert.deepEqual([code, seen.length], [1, 1])
    assert.match(err, /line 1: the server responded with 307/)
  })
})

test('the first request without a response stops the replay, and the message says how many were sent', async (t) => {
  const file = recording(t, '', metrics('A', T), metrics('B', T))
  const { text, code } = await refusal(['replay', file, '--url', 'http://127.0.0.1:9', '--token', 'x'])
  assert.equal(code, 1)
  assert.match(
    text,
    /^no response from http:\/\/127\.0\.0\.1:9 \([^)]+\), stopped at line 2, after 0 of 2 requests: start /,
  )
})

for (const [line, fault] of [
  ['{"t":', 'not JSON (Unexpected end)'],
  ['['.repeat(100_000), 'nested more than 64 levels deep'],
  [`[${'1,'.repeat(500_000)}1]`, 'more than 500000 values'],
  ['[]', 'expected an object { t, endpoint, headers, body }'],
  [{ endpoint: 'ci', body: {} }, 't: expected a time such as 2026-03-14T02:11:09Z'],
  [{ t: '2026-02-30T00:00:00Z', endpoint: 'ci', body: {} }, 't: expected a time such as 2026-03-14T02:11:09Z'],
  [{ t: iso(T), endpoint: 'pager', body: {} }, 'endpoint: expected one of cluster, metrics, dashboard, ci'],
  [{ t: iso(T), endpoint: 'ci' }, 'body: missing'],
  [{ t: iso(T), endpoint: 'ci', body: {}, headers: { 'a b': 'c' } }, 'headers: invalid header name'],
  [
    { t: iso(T), endpoint: 'ci', body: {}, headers: { a: 'b\r\nc: d' } },
    'headers: a: expected a string of printable ASCII characters',
  ],
] as const) {
  test(`${JSON.stringify(line).slice(0, 60)} is reported with its line before anything is sent`, async (t) => {
    const { url, seen } = await listener(t)
    const file = recording(t, metrics('A', T), line)
    const { text, code } = await refusal(['replay', file, '--url', url, '--token', 'x'])
    assert.deepEqual([text, code], [`${file}: line 2: ${fault}; nothing was sent: correct the file`, 1])
    assert.equal(seen.length, 0)
  })
}

test('five bad lines are listed, and the others are counted', async (t) => {
  const { text } = await refusal(['replay', recording(t, ...Array(8).fill('x')), '--token', 'x'])
  assert.match(
    text,
    /: line 1: not JSON[^\n]+; line 5: not JSON[^\n]+; and 3 more lines; nothing was sent: correct the file$/,
  )
})

for (const [args, code, line] of [
  ['--token x', 1, /contains no requests: choose a file with one request per line$/],
  ['--token x --url ftp://a', 2, /^--url: ftp:\/\/a is not a URL: use a URL such as http:\/\/127\.0\.0\.1:8080/],
  ['--token x --url http://me:secret@a', 2, /without a password$/],
  ['--token x --speed fast', 2, /^--speed: fast is not a speed: use a number such as 60/],
  ['--token x --speed -1', 2, /^--speed: -1 is not a speed|there is no option/],
  ['--token x --shift yesterday', 2, /^--shift: "yesterday" is not valid; choose one of now$/],
  ['', 2, /^a token is required: set --token or INCMON_TOKEN/],
] as const) {
  test(`replay of an empty recording ${args || 'without a token'} ends with ${code}`, async (t) => {
    const { text, code: found } = await refusal(['replay', recording(t), ...args.split(' ').filter(Boolean)])
    assert.match(text, line)
    assert.equal(found, code)
  })
}

test('a missing recording is rejected with a remedy', async () => {
  const { text, code } = await refusal(['replay', '/nowhere.jsonl', '--token', 'x'])
  assert.deepEqual(
    [text, code],
    ['/nowhere.jsonl does not exist: choose a file with one request per line, or - for standard input', 1],
  )
})

for (const [before, after] of [
  ['2016-08-12T15:23:28Z', '2016-08-13T15:23:29Z'],
  ['2016-08-12 15:23:28 UTC', '2016-08-13 15:23:29 UTC'],
  ['2016-08-12T15:23:28.123456789Z', '2016-08-13T15:23:29.123456789Z'],
  ['2016-12-31T23:59:59+05:30', '2017-01-02T00:00:00+05:30'],
  ['2016-08-12 15:23:28 +0200', '2016-08-13 15:23:29 +0200'],
  ['2016-08-12 15:23:28.5 -0700 MST', '2016-08-13 15:23:29.5 -0700 MST'],
  ['2016-08-12T15:23:28', '2016-08-13T15:23:29'],
  ['since 2016-08-12T15:23:28Z, and on', 'since 2016-08-13T15:23:29Z, and on'],
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
  ['2016-02-30T15:23:28Z', '2016-02-30T15:23:28Z'],
  ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59Z'],
  ['2016-08-12 15:23:28', '2016-08-12 15:23:28'],
  ['v2016-08-12T15:23', 'v2016-08-12T15:23'],
] as const) {
  test(`${before} shifted by a day and a second is ${after}`, () => {
    assert.deepEqual(moveTimes({ a: [{ b: before }], n: 1471015408 }, 86_401_000), { a: [{ b: after }], n: 1471015408 })
  })
}
