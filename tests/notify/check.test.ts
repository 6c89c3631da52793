/** Checks of a channel's URL before it is saved, and the warning about messages without links. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { helpersOf } from '../../src/notify/notifier.ts'
import { allowing } from '../../src/server/connection/addresses.ts'

const check = (addresses: readonly string[], allowed: readonly string[] = []) =>
  helpersOf({
    transports: () => ({
      network: { resolve: async () => addresses, isAllowed: allowing(allowed), timeoutMs: 5_000 },
      mailServer: null,
    }),
    publicUrl: () => '',
  })

test('an address in a private network is refused, and the error names the setting that permits it', async () => {
  const { refusal } = await check(['10.0.0.1']).checkTarget('slack', 'https://chat.lan/hooks/x')
  assert.match(refusal ?? '', /add chat\.lan or its network to notify-allow in the server configuration/)
})

for (const [what, kind, target, addresses, allowed] of [
  ['a public address', 'slack', 'https://chat.example/', ['1.1.1.1'], []],
  ['an allowed host', 'slack', 'https://chat.lan/', ['10.0.0.1'], ['chat.lan']],
  ['a mail address', 'mail', 'team@example.com', [], []],
  ['a text that is no URL, which is refused elsewhere', 'slack', 'nonsense', [], []],
] as const) {
  test(`${what} is accepted`, async () =>
    assert.deepEqual(await check(addresses, allowed).checkTarget(kind, target), { refusal: null, warning: null }))
}

test('a name that DNS cannot resolve yet causes only a warning', async () => {
  const { refusal, warning } = await check([]).checkTarget('slack', 'https://chat.example/')
  assert.equal(refusal, null)
  assert.match(warning ?? '', /cannot be resolved/)
})

test('a server without a URL explains why messages have no links', () => {
  assert.match(check([]).warning() ?? '', /no links.+set public-url/)
})
