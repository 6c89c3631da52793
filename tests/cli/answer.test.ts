/** What is shown of an answer: the sentence of ours, or the first words of a stranger's page. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite, type TestContext, test } from 'node:test'
import { detailOf } from '../../src/cli/answer.ts'
import { incmon } from '../helpers/cli.ts'

const PAGE = `<!DOCTYPE html>\r\n<html>\r\n<head><title>502 Bad Gateway</title>
<style>body { color: red }</style><!-- a padding to disable MSIE -->
<script>if (1 < 2) alert("x")</script ></head>
<body>\t<center><h1 class="ab">502 Bad&nbsp;Gateway</h1></center><hr>nginx &amp; more</body></html>`

for (const [what, text, shown] of [
  ['a sentence of ours', '{"status":503,"detail":"the disk is full"}', 'the disk is full'],
  ['the page of a proxy, without its markup', PAGE, '502 Bad Gateway 502 Bad Gateway nginx & more'],
  ['a text', 'upstream connect error\n or reset\n', 'upstream connect error or reset'],
  ['JSON of somebody else', '{"message":"no Route"}', '{"message":"no Route"}'],
  ['what would steer the terminal', '\u001b[2Jgone', '�[2Jgone'],
  ['nothing', '', 'nothing; is this the address of incmon?'],
  ['a page without words', '<html><body></body></html>', 'nothing; is this the address of incmon?'],
  ['a tag that is never closed', '<html><script>alert(1)', 'alert(1)'],
] as const) {
  test(`${what} is told in one line`, () => assert.equal(detailOf(text), shown))
}

test('a long page is cut, and a long sentence of ours is longer', () => {
  const lengths = [`<p>${'word '.repeat(1_000)}</p>`, JSON.stringify({ detail: 'x'.repeat(999) })].map(detailOf)
  assert.deepEqual(
    lengths.map(({ length }) => length),
    [200, 300],
  )
})

test('a page of a million open tags costs no more than its beginning', () => {
  assert.equal(detailOf('<script'.repeat(1_000_000)).length, 200)
})

/** A proxy that answers whatever it is asked with its page. */
async function proxy(t: TestContext, status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status, { 'Content-Type': 'text/html' }).end(PAGE))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

suite("a proxy's page", { concurrency: 4 }, () => {
  for (const [status, command, said] of [
    [
      502,
      ['health'],
      /^incmon: http\S+ is not ready: it answered 502, 502 Bad Gateway [^\n<]+: "incmon doctor" [^\n]+\n$/,
    ],
    [
      200,
      ['health'],
      /^incmon: http\S+ is not ready: it answered 200, 502 Bad Gateway [^\n<]+: that is not incmon[^\n]+\n$/,
    ],
    [502, ['send-test', 'ci', '--token', 'x'], /^incmon: http\S+ answered 502: 502 Bad Gateway [^\n<]+\n$/],
    [
      200,
      ['send-test', 'ci', '--token', 'x'],
      /^incmon: http\S+ answered 200: 502 Bad [^\n<]+: that is not incmon[^\n]+\n$/,
    ],
  ] as const) {
    test(`with status ${status} is no success of ${command[0]}, in one line`, async (t) => {
      const { code, out, err } = await incmon('/', [...command, '--url', await proxy(t, status)])
      assert.deepEqual([code, out], [1, ''])
      assert.match(err, said)
    })
  }
})
