/** The line shown for an error response: incmon's `detail`, or the first words of another program's page. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { detailOf } from '../../src/cli/ask.ts'
import { incmon } from '../helpers/cli.ts'

const PAGE = `<!DOCTYPE html>\r\n<html>\r\n<head><title>502 Bad Gateway</title>
<style>body { color: red }</style><!-- a padding to disable MSIE -->
<script>if (1 < 2) alert("x")</script ></head>
<body>\t<center><h1 class="ab">502 Bad&nbsp;Gateway</h1></center><hr>nginx &amp; more</body></html>`

for (const [what, text, shown] of [
  ['a detail of incmon', '{"status":503,"detail":"the disk is full"}', 'the disk is full'],
  ['the page of a proxy, without its markup', PAGE, '502 Bad Gateway 502 Bad Gateway nginx & more'],
  ['plain text', 'upstream connect error\n or reset\n', 'upstream connect error or reset'],
  ['JSON of another program', '{"message":"no Route"}', '{"message":"no Route"}'],
  ['a control sequence', '\u001b[2Jgone', '�[2Jgone'],
  ['an empty body', '', 'an empty body; check that this is the URL of incmon'],
  ['a page without text', '<html><body></body></html>', 'an empty body; check that this is the URL of incmon'],
  ['a tag that is never closed', '<html><script>alert(1)', 'alert(1)'],
] as const) {
  test(`${what} is shown in one line`, () => assert.equal(detailOf(text), shown))
}

test('a long page is truncated to 200 characters, and a detail to 300', () => {
  const lengths = [`<p>${'word '.repeat(1_000)}</p>`, JSON.stringify({ detail: 'x'.repeat(999) })].map(detailOf)
  assert.deepEqual(
    lengths.map(({ length }) => length),
    [200, 300],
  )
})

test('only the start of a page with a million open tags is read', () => {
  assert.equal(detailOf('<script'.repeat(1_000_000)).length, 200)
})

/** Starts a proxy that responds to every request with its own page. */
async function proxy(t: TestContext, status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status, { 'Content-Type': 'text/html' }).end(PAGE))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

suite("a proxy's page", { concurrency: 4 }, () => {
  for (const [status, command, line] of [
    [
      502,
      ['health'],
      /^incmon: http\S+ is not ready: it responded with 502, 502 Bad Gateway [^\n<]+: run "incmon doctor" [^\n]+\n$/,
    ],
    [
      200,
      ['health'],
      /^incmon: http\S+ is not ready: it responded with 200, 502 Bad Gateway [^\n<]+: this is not incmon[^\n]+\n$/,
    ],
    [502, ['send-test', 'ci', '--token', 'x'], /^incmon: http\S+ responded with 502: 502 Bad Gateway [^\n<]+\n$/],
    [
      200,
      ['send-test', 'ci', '--token', 'x'],
      /^incmon: http\S+ responded with 200: 502 Bad [^\n<]+: this is not incmon[^\n]+\n$/,
    ],
  ] as const) {
    test(`with status ${status} makes ${command[0]} fail with one line`, async (t) => {
      const { code, out, err } = await incmon('/', [...command, '--url', await proxy(t, status)])
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, line)
    })
  }
})
