/** Reads an `alertmanager.yml` and plans the channels that do the same in incmon. */

import { isMap, LineCounter, parseDocument } from 'yaml'
import type { ChannelKind } from '../../domain/notification/format.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import { recordOf, recordsOf, routesOf, textOf } from './routes.ts'

/** A channel to create. `url` or `to` is set. */
export type PlannedChannel = {
  readonly name: string
  readonly kind: ChannelKind
  readonly url?: string
  readonly to?: string
  readonly rules: readonly Rule[]
}

/** What is not imported, and why. `line` is the line in the file. */
type Note = { readonly line: number; readonly text: string }

/** Adds a note about the value at a path of the file. */
export type AddNote = (path: Path, text: string) => void
export type Path = readonly (string | number)[]

export type Plan = { readonly channels: readonly PlannedChannel[]; readonly notes: readonly Note[] }

/** @throws SyntaxError if the text is not the configuration of an Alertmanager */
export function planImport(text: string): Plan {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [fault] = document.errors
  if (fault) throw new SyntaxError(fault.message.split('\n')[0])
  const config = recordOf(document.toJS({ maxAliasCount: 100 }))
  if (!isMap(document.contents) || !('route' in config) || !('receivers' in config))
    throw new SyntaxError('expected the configuration of an Alertmanager, with "route" and "receivers"')
  const notes: Note[] = []
  const note: AddNote = (path, why) => {
    const node = document.getIn(path, true) as { readonly range?: readonly number[] } | undefined
    notes.push({ line: lines.linePos(node?.range?.[0] ?? 0).line, text: why })
  }
  noteTopLevel(config, note)
  const found = recordsOf(config.receivers).flatMap((receiver, index) => {
    const path = ['receivers', index]
    const of = channelsOf(receiver, recordOf(config.global), path, note)
    return of.map((channel) => ({ channel, path, receiver: String(receiver.name) }))
  })
  const rules = routesOf(config, new Set(found.map(({ receiver }) => receiver)), note)
  const channels = found.flatMap(({ channel, path, receiver }) => {
    const own = rules.get(receiver)
    if (own) return { ...channel, rules: own }
    note(path, `the receiver ${receiver} was not imported: no route leads to it`)
    return []
  })
  return { channels, notes: notes.sort((a, b) => a.line - b.line) }
}

const ELSEWHERE: Readonly<Record<string, string>> = {
  inhibit_rules: 'incmon mutes alerts that another alert explains by itself',
  templates: 'incmon writes its own messages',
  tracing: 'incmon sends no traces',
}

function noteTopLevel(config: Readonly<Record<string, unknown>>, note: AddNote): void {
  for (const [name, why] of Object.entries(ELSEWHERE)) {
    if (name in config) note([name], `${name} was not imported: ${why}`)
  }
  for (const name of Object.keys(recordOf(config.global))) {
    if (name.startsWith('smtp_'))
      note(['global', name], `${name} was not imported: set smtp-url in the configuration of incmon`)
    else if (!IMPORTED.has(name)) note(['global', name], `${name} was not imported`)
  }
}

/** The global fields that are used, or that have no effect in incmon. */
const IMPORTED = new Set(['slack_api_url', 'resolve_timeout'])

type Fields = Readonly<Record<string, unknown>>
type Target = Pick<PlannedChannel, 'url' | 'to'> | string

/** For each integration: the kind of channel and its address, or why there is none. */
const INTEGRATIONS: Readonly<Record<string, readonly [ChannelKind, (config: Fields, global: Fields) => Target]>> = {
  webhook_configs: ['webhook', ({ url }) => target(url, 'url')],
  slack_configs: ['slack', ({ api_url }, { slack_api_url }) => target(api_url ?? slack_api_url, 'api_url')],
  discord_configs: ['discord', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  msteams_configs: ['teams', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  msteamsv2_configs: ['teams', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  mattermost_configs: ['slack', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  rocketchat_configs: ['slack', ({ webhook_url }) => target(webhook_url, 'webhook_url')],
  email_configs: ['mail', ({ to }) => (textOf(to) === null ? MISSING('to') : { to: String(to) })],
  telegram_configs: ['telegram', telegram],
}

/** The path at which incmon receives alerts. A channel with this URL would send its messages back to incmon. */
const OWN_WEBHOOK = /\/api\/webhooks\/metrics\b/
const NO_HTTP_CONFIG = 'http_config was not imported: write a user and a password into the URL of the channel'
const MISSING = (name: string) => `${name} is missing or is read from a file; add the channel with "incmon channel add"`

function target(url: unknown, name: string): Target {
  const text = textOf(url)
  return text === null ? MISSING(name) : { url: text }
}

function telegram({ bot_token, chat_id, api_url }: Fields): Target {
  const [token, base] = [textOf(bot_token), textOf(api_url) ?? 'https://api.telegram.org']
  if (token === null) return MISSING('bot_token')
  return { url: `${base}/bot${token}/sendMessage?chat_id=${encodeURIComponent(String(chat_id))}` }
}

/** Returns the channels of a receiver, named after the receiver and numbered from the second one. */
function channelsOf(receiver: Fields, global: Fields, path: Path, note: AddNote) {
  const channels: Omit<PlannedChannel, 'rules'>[] = []
  const unknown = Object.keys(receiver).filter((name) => name !== 'name' && !(name in INTEGRATIONS))
  for (const name of unknown)
    note([...path, name], `${name} of the receiver ${receiver.name} was not imported: incmon has no such channel`)
  for (const [name, [kind, targetOf]] of Object.entries(INTEGRATIONS)) {
    for (const [index, config] of recordsOf(receiver[name]).entries()) {
      const at = [...path, name, index]
      const found = targetOf(config, global)
      if (typeof found === 'string') {
        note(at, `${name} of the receiver ${receiver.name} was not imported: ${found}`)
        continue
      }
      if (OWN_WEBHOOK.test(found.url ?? '')) {
        note(at, `the receiver ${receiver.name} was not imported: it sends the alerts to incmon`)
        continue
      }
      if ('http_config' in config) note([...at, 'http_config'], NO_HTTP_CONFIG)
      const suffix = channels.length === 0 ? '' : ` ${channels.length + 1}`
      channels.push({ name: `${receiver.name}${suffix}`, kind, ...found })
    }
  }
  return channels
}
