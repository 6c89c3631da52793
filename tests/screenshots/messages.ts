/**
 * Writes pictures of messages to a directory: `node --import tsx tests/screenshots/messages.ts DIRECTORY`. Small local
 * pages imitate Slack, Teams, an email client and a lock screen. Their content is what the channels send.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { digestTextOf } from '../../src/domain/notification/digest.ts'
import { formatDiscord, formatNtfy, formatSlack, formatTeams } from '../../src/domain/notification/format.ts'
import type { MessageKind } from '../../src/domain/notification/kind.ts'
import { formatMail } from '../../src/domain/notification/mail.ts'
import { type MessageItem, type MessageText, messageTextOf } from '../../src/domain/notification/words.ts'
import { CHROMIUM } from '../helpers/browser.ts'
import { messageItem } from '../helpers/messages.ts'

const FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--hide-scrollbars']
const NOW = Date.UTC(2026, 2, 14, 13, 6)
const MINUTE = 60_000
const CONTEXT = {
  now: NOW,
  resolveAfter: 30 * MINUTE,
  timeZone: 'Europe/Berlin',
  cause: 'Likely cause: failed deploy shop/checkout#4711, started 3 min before the incident.',
  suspects: [],
  url: 'https://incmon.example.com/incidents/12',
  acknowledgeUrl: 'https://incmon.example.com/acknowledge?incident=019a&channel=019b&until=1773753960&signature=v1',
  acknowledgeUrls: {},
}
const KINDS: readonly MessageKind[] = [
  ...(['opened', 'severity', 'reminder', 'escalation', 'acknowledged', 'recovered', 'again'] as const),
  ...(['resolved', 'still-firing', 'sender-silent', 'test'] as const),
]

function item(kind: MessageKind, number = 12, service = 'checkout'): MessageItem {
  const isOpen = !['resolved', 'still-firing', 'acknowledged', 'test'].includes(kind)
  const title = kind === 'sender-silent' ? 'Alertmanager (incmon) is silent' : `${service}: CrashLoopBackOff`
  const own = { name: kind === 'sender-silent' ? 'source/metrics/incmon' : service, namespace: 'shop', cluster: '' }
  return messageItem(
    { kind, at: NOW, actor: 'Anna', severityBefore: 'warning', service: own },
    {
      ...{ id: `${number}`, number, title, status: isOpen ? 'open' : 'resolved', resolvedAt: isOpen ? null : NOW },
      ...{ firingAlerts: kind === 'still-firing' ? 3 : 0, hasPostmortem: kind === 'resolved' },
    },
  )
}

const DIGEST = ['cart', 'payment', 'search', 'login', 'mail'].map((name, index) => item('opened', 13 + index, name))
const ALL: readonly MessageText[] = [
  ...KINDS.map((kind) => {
    const one = item(kind)
    return messageTextOf(one, one.incident.status === 'open' ? CONTEXT : { ...CONTEXT, acknowledgeUrl: null })
  }),
  digestTextOf(DIGEST, { ...CONTEXT, acknowledgeUrl: null }),
]

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
const read = ({ body }: { body: string }) => JSON.parse(body)

/** Slack renders `<url|text>` as a link and everything else as text. */
function slack(words: MessageText): string {
  const { text, attachments } = read(formatSlack(words))
  const shown = attachments.map(({ color, text: body }: Record<string, string>) => {
    const linked = (body ?? '').replace(/<(http[^|]+)\|([^>]+)>/g, '<a>$2</a>').replaceAll('\n', '<br>')
    return `<div class="attachment" style="border-color:${color}">${linked}</div>`
  })
  return `<section><b>incmon</b> <small>14:06</small><br>${text}${shown.join('')}</section>`
}

function teams(words: MessageText): string {
  const { body, actions } = read(formatTeams(words)).attachments[0].content
  const lines = body.map(({ text, weight }: Record<string, string>) => {
    const plain = escaped((text ?? '').replace(/\\(.)/g, '$1'))
    return weight ? `<b>${plain}</b>` : plain
  })
  const buttons = actions.map(({ title }: { title: string }) => `<button>${title}</button>`)
  return `<section class="card">${lines.join('<br>')}<p>${buttons.join(' ')}</p></section>`
}

function mail(words: MessageText): string {
  const { subject, html } = mailOf(words)
  return `<section class="card"><b>${escaped(subject)}</b>${html.replace(/^.*?<body/, '<div').replace(/<.body>.*$/, '</div>')}</section>`
}

function plainMail(words: MessageText): string {
  const { subject, text } = mailOf(words)
  return `<section class="card"><b>${escaped(subject)}</b><pre>${escaped(text)}</pre></section>`
}

function mailOf(words: MessageText) {
  return formatMail(words, { id: 'm', thread: 'i', isFirst: true, host: 'example.com' })
}

function discord(words: MessageText): string {
  const [{ title, description, color }] = read(formatDiscord(words)).embeds
  const linked = escaped(description)
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '<a>$1</a>')
    .replaceAll('\n', '<br>')
  const colour = `#${color.toString(16).padStart(6, '0')}`
  return `<section class="attachment" style="border-color:${colour}"><b>${escaped(title)}</b><br>${linked}</section>`
}

/** A lock screen shows the title and about two lines. */
function lockScreen(words: MessageText): string {
  const { title, message, actions = [] } = read(formatNtfy(words, 'topic'))
  const buttons = actions.map(({ label }: { label: string }) => `<u>${label}</u>`).join(' ')
  return `<section class="lock"><small>ntfy · now</small><b>${escaped(title)}</b><p>${escaped(message)}</p>${buttons}</section>`
}

const STYLE = `body{font:15px/1.4 system-ui,sans-serif;margin:16px;background:#fff;color:#1d1c1d}section{margin:0 0 14px}
a{color:#1264a3}small{color:#616061}.attachment{border-left:4px solid;padding:2px 10px;margin-top:4px}
.card{border:1px solid #ddd;border-radius:6px;padding:10px}.card p{margin:8px 0 0}pre{white-space:pre-wrap;overflow-wrap:anywhere}
.lock{background:#e9e9ee;border-radius:14px;padding:10px 14px}.lock b,.lock small{display:block}.lock p{margin:2px 0;
display:-webkit-box;-webkit-line-clamp:3;-webkit-box-orient:vertical;overflow:hidden}`

const PICTURES = {
  slack: [slack, 640],
  teams: [teams, 560],
  discord: [discord, 520],
  mail: [mail, 640],
  'mail-text': [plainMail, 640],
  'lock-screen': [lockScreen, 360],
} as const

const folder = process.argv[2] ?? 'screenshots'
mkdirSync(folder, { recursive: true })
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS })
try {
  for (const [name, [render, width]] of Object.entries(PICTURES)) {
    const page = await browser.newPage({ viewport: { width, height: 600 } })
    await page.setContent(`<!doctype html><style>${STYLE}</style>${ALL.map(render).join('')}`)
    await page.screenshot({ path: join(folder, `message-${name}.png`), fullPage: true })
    await page.close()
  }
} finally {
  await browser.close()
}
