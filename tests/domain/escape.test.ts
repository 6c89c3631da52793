/** Texts from senders in chats: no mention, no link under a name of its own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { linkAddress } from '../../src/domain/notification/escape.ts'
import {
  formatDiscord,
  formatNtfy,
  formatSlack,
  formatTeams,
  formatTelegram,
} from '../../src/domain/notification/format.ts'
import { formatMail } from '../../src/domain/notification/mail.ts'
import type { MessageText } from '../../src/domain/notification/words.ts'

const HOSTILE = [
  ...[
    '@channel',
    '@here',
    '@all',
    '@everyone',
    '<!channel>',
    '<!here|here>',
    '<@U123>',
    '<@&123>',
    '(@alice)',
    '_@bob_',
  ],
  ...['[Acknowledge](https://evil.example)', '![x](https://evil.example)', '<https://evil.example|Acknowledge>'],
  ...[
    '<a href="https://evil.example">Acknowledge</a>',
    '[Acknowledge][1]',
    '[1]: https://evil.example',
    '<at>all</at>',
  ],
]

const textOf = (hostile: string): MessageText => ({
  ...{ tone: 'critical', symbol: '🔴', subject: hostile, title: hostile, body: hostile },
  links: [
    { text: 'Acknowledge', url: 'https://incmon.example.com/acknowledge?x=1' },
    { text: `Runbook: ${hostile}`, url: 'https://wiki.example/rb' },
  ],
})

/** What the reader of each dialect treats as a mention or as a link with a name. */
const DIALECTS = {
  Slack: [(text: MessageText) => formatSlack(text).body.replace(/"fallback":"[^"]*"/, ''), [/<[!@#]/, /<https:..evil/]],
  'Mattermost and Rocket.Chat': [
    (text: MessageText) => formatSlack(text).body,
    [/(?<![a-z0-9])@[a-z]/i, /\]\(https:..evil/, /\]\[/, /\]: ?https/],
  ],
  Discord: [
    (text: MessageText) => formatDiscord(text).body,
    [/(?<![a-z0-9])@[a-z]/i, /(?<!\\)<[@#]/, /(?<!\\)\]\(https:..evil/],
  ],
  Teams: [
    (text: MessageText) => formatTeams(text).body.replaceAll(/"title":"[^"]*"/g, ''),
    [/(?<!\\)<at>/, /(?<!\\)\]\(https:..evil/],
  ],
  Telegram: [
    (text: MessageText) => formatTelegram(text, '1', null).body,
    [/(?<![a-z0-9])@[a-z]/i, /<a href=\\?"https:..evil/],
  ],
  mail: [
    (text: MessageText) => formatMail(text, { id: 'i', thread: null, isFirst: true, host: 'h' }).html,
    [/<a [^>]*evil/],
  ],
} as const

for (const [dialect, [format, forbidden]] of Object.entries(DIALECTS)) {
  test(`in ${dialect}, a text from a sender mentions nobody and names no link`, () => {
    for (const hostile of HOSTILE) {
      const body = format(textOf(hostile))
      for (const pattern of forbidden) assert.doesNotMatch(body, pattern, hostile)
    }
  })

  test(`in ${dialect}, the link of incmon remains`, () => {
    assert.match(format(textOf('checkout is down')), /https:..incmon\.example\.com.acknowledge\?x=1/)
  })
}

test('an email address stays as it is, so that people can copy it', () => {
  assert.match(formatSlack(textOf('ask ops@example.com')).body, /ask ops@example\.com/)
})

test('the address of a runbook contains nothing that ends a link in any dialect', () => {
  const hostile = 'https://wiki.example/rb> <!channel> <http://evil.example|Acknowledge) · [x](y)"\u202e#<a>|@here'
  assert.match(linkAddress(hostile) ?? '', /^https:\/\/wiki\.example\/rb[\w%./:,#!-]*$/)
  assert.equal(linkAddress('https://wiki.example/a?b=c&d=e#f'), 'https://wiki.example/a?b=c&d=e#f')
})

for (const refused of [
  'javascript:alert(1)',
  'https://incmon.example@evil.example/',
  'wiki/rb',
  'file:///etc/passwd',
  '',
]) {
  test(`${JSON.stringify(refused)} is no address of a runbook`, () => assert.equal(linkAddress(refused), null))
}

test('no message contains characters that turn the direction of text', () => {
  for (const [format] of Object.values(DIALECTS))
    assert.doesNotMatch(format(textOf('a\u202eb\u2066c')), /[\u202e\u2066]/)
  const { subject, text } = formatMail(textOf('a\u202eb\u2066c'), { id: 'i', thread: null, isFirst: true, host: 'h' })
  for (const plain of [subject, text, formatNtfy(textOf('a\u202eb\u2066c'), 'topic').body])
    assert.doesNotMatch(plain, /[\u202e\u2066]/)
})
