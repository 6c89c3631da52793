/** incmon channel: adds, changes, lists, tests and removes notification channels. */

import { type Command, Option } from 'commander'
import type { InferInput } from 'valibot'
import { CHANNEL_KINDS, type ChannelKind } from '../../domain/notification/format.ts'
import { type Rule, remindersText, rulesText } from '../../domain/notification/rule.ts'
import { shellQuote, visible } from '../../domain/terminal.ts'
import type { newChannelBody } from '../../http/api/channels/bodies.ts'
import type { channelShape } from '../../http/api/channels/channels.ts'
import type { Api } from '../api/api.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { parseMinutes, parseRule, RULE_HELP } from '../channel-rules.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { hint, print, printError, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'
import { type Decision, toldLines } from '../told.ts'

const PATH = '/api/channels'

/** The options with the names of the API's fields, except `rule`, which can be repeated. */
type Settings = Omit<InferInput<typeof newChannelBody>, 'name' | 'kind' | 'rules'> & { readonly rule?: readonly Rule[] }
type Added = OrganizationOptions & Settings & { readonly kind: ChannelKind }
type Changed = OrganizationOptions &
  Settings & { readonly name?: string; readonly enable?: true; readonly disable?: true }

type Channel = InferInput<typeof channelShape>

export function addChannel(program: Command): void {
  const channel = addCommand(program, 'channel', 'manage notification channels')
  addSettings(
    addOrgCommand(channel, 'add', 'add a channel; a running server uses it immediately')
      .argument('<name>', 'the name of the channel')
      .addOption(new Option('--kind <kind>', 'the kind of receiver').choices(CHANNEL_KINDS).makeOptionMandatory()),
  ).action(createChannel)
  addSettings(
    addOrgCommand(channel, 'set', 'change the settings of a channel')
      .argument('<name>', 'the name or id of the channel')
      .option('--name <name>', 'the new name')
      .option('--enable', 'enable the channel, and tell it what it missed')
      .option('--disable', 'disable the channel'),
  ).action(changeChannel)
  addOrgCommand(channel, 'list', 'list the channels of an organization, without their secrets').action(listChannels)
  addOrgCommand(channel, 'test', 'send a test message and print the response; exit with 1 if delivery fails')
    .argument('<name>', 'the name or id of the channel')
    .option('--alert <file>', 'send nothing; say whether and when the channel would be told about this alert')
    .action(testChannel)
  addOrgCommand(channel, 'remove', 'delete a channel with its deliveries')
    .argument('<name>', 'the name or id of the channel')
    .action(removeChannel)
}

function addSettings(command: Command): Command {
  const minutes = (name: string, doc: string) => command.option(`--${name} <minutes>`, doc, parseMinutes(`--${name}`))
  command
    .option('--url <url>', 'the URL of the receiver, or - to read it from standard input')
    .option('--to <addresses>', 'the email addresses, separated by commas; only for mail channels')
    .option('--rule <rule>', RULE_HELP, parseRule)
    .option('--time-zone <zone>', 'the time zone for times in messages')
  minutes('remind-after', 'the time until the first reminder about an unacknowledged incident, or off')
  minutes('remind-every', 'the time between further reminders, or off')
  return minutes('escalate-after', 'send an incident only after it has been unacknowledged for this long')
}

/** Creates a channel. For a webhook, prints its secret, which is not shown again. */
async function createChannel(name: string, options: Added): Promise<void> {
  const { kind, to } = options
  refuseWrongAddress(kind, options)
  if (kind === 'mail' && to === undefined) throw new UsageError('--to is missing: specify the email addresses')
  if (kind !== 'mail' && options.url === undefined)
    throw new UsageError('--url is missing: specify the URL of the receiver')
  const settings = await bodyOf(options)
  const body = { name, kind, ...settings }
  type Created = { id: string; secret: string | null; warnings: readonly string[] }
  const { id, secret, warnings } = await withOrganization(options, (api) => api.json<Created>('POST', PATH, { body }))
  if (options.json) return print(JSON.stringify({ id, secret, warnings }))
  print(`added channel ${name}: send a test message with ${hint(options, `channel test ${shellQuote(name)}`)}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
  if (secret !== null) print(`messages are signed with ${secret}; save this secret now, because it is shown only once`)
}

async function changeChannel(name: string, options: Changed): Promise<void> {
  const { enable, disable, name: newName } = options
  if (enable && disable) throw new UsageError('--enable and --disable cannot be combined')
  const enabled = enable ? true : disable ? false : undefined
  const body = { ...(await bodyOf(options)), name: newName, enabled }
  if (Object.values(body).every((value) => value === undefined))
    throw new UsageError('nothing to change: specify at least one option; see --help')
  const { id, warnings } = await withOrganization(options, async (api) => {
    const channel = await requireChannel(api, name)
    refuseWrongAddress(channel.kind, options)
    return api.json<{ id: string; warnings: readonly string[] }>('PATCH', `${PATH}/${channel.id}`, { body })
  })
  if (options.json) return print(JSON.stringify({ id, warnings }))
  print(`changed channel ${newName ?? name}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
}

/** Rejects an option that applies only to other kinds of channels. The server would ignore such an option. */
function refuseWrongAddress(kind: ChannelKind, { url, to }: Settings): void {
  if (kind === 'mail' && url !== undefined) throw new UsageError('--url: a mail channel has no URL; use --to')
  if (kind !== 'mail' && to !== undefined)
    throw new UsageError(`--to: a ${kind} channel has no email addresses; use --url`)
}

async function bodyOf({ rule: rules, to, timeZone, remindAfter, remindEvery, escalateAfter, ...options }: Settings) {
  const url = options.url === '-' ? (await readInput('-', 'with the URL')).toString('utf8').trim() : options.url
  return { url, to, rules, timeZone, remindAfter, remindEvery, escalateAfter }
}

async function listChannels(options: OrganizationOptions): Promise<void> {
  const items = await withOrganization(options, (api) => api.all<Channel>(PATH))
  const empty = `there are no channels: add one with ${hint(options, 'channel add')}`
  printList(options, items, empty, {
    NAME: 'name',
    KIND: 'kind',
    TARGET: 'target',
    GETS: (one) => [...rulesText(one.rules as readonly Rule[]), remindersText(one)].filter(Boolean).join('; '),
    STATE: ({ enabled, failing }) => (enabled ? (failing === null ? 'ok' : `failing: ${failing}`) : 'disabled'),
    'LAST DELIVERY': 'lastDelivery',
    ID: 'id',
  })
}

/** @throws NegativeAnswer or CommandError if the test message was not delivered */
async function testChannel(name: string, options: OrganizationOptions & { readonly alert?: string }): Promise<void> {
  if (options.alert !== undefined) return tryAlert(name, options.alert, options)
  const outcome = await withOrganization(options, async (api) => {
    const { id } = await requireChannel(api, name)
    type Outcome = { delivered: boolean; status: number | null; detail: string | null; warning: string | null }
    return api.json<Outcome>('POST', `${PATH}/${id}/test`)
  })
  const answer = [outcome.status, outcome.detail].filter((part) => part !== null).join(' ')
  if (options.json) print(JSON.stringify(outcome))
  else if (outcome.delivered) print(`delivered: ${answer}`)
  if (!options.json && outcome.delivered && outcome.warning !== null) printError(`warning: ${outcome.warning}`)
  if (outcome.delivered) return
  if (options.json) throw new NegativeAnswer()
  throw new CommandError(`not delivered: ${answer}`)
}

/** Says what a channel would be told about an alert: a notification of Alertmanager or Grafana, or a single alert. */
async function tryAlert(name: string, file: string, options: OrganizationOptions): Promise<void> {
  const decisions = await withOrganization(options, async (api) => {
    const channel = await requireChannel(api, name)
    const payload = notificationOf(await readInput(file, 'with the alert'), file)
    const { decisions } = await api.json<{ decisions: Decision[] }>('POST', '/api/webhooks/metrics?dryRun=1', {
      payload,
    })
    return decisions.map((one) => ({ ...one, told: (one.told ?? []).filter((told) => told.channel === channel.name) }))
  })
  if (options.json) return print(JSON.stringify(decisions, null, 2))
  for (const decision of decisions) {
    for (const [what, decided, rule] of toldLines(decision))
      print(`${visible(what)}: ${visible(decided)}; ${visible(rule)}`)
  }
}

function notificationOf(bytes: Buffer<ArrayBuffer>, file: string): Uint8Array<ArrayBuffer> {
  try {
    const body: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'))
    const isAlert = typeof body === 'object' && body !== null && !Array.isArray(body) && !('alerts' in body)
    return isAlert ? new TextEncoder().encode(JSON.stringify({ alerts: [{ status: 'firing', ...body }] })) : bytes
  } catch {
    throw new CommandError(`${file} is not JSON: choose a file with an alert, such as {"labels":{"alertname":"Down"}}`)
  }
}

async function removeChannel(name: string, options: OrganizationOptions): Promise<void> {
  const removed = await withOrganization(options, async (api) => {
    const channel = await requireChannel(api, name)
    await api.json('DELETE', `${PATH}/${channel.id}`)
    return channel
  })
  print(options.json ? JSON.stringify({ id: removed.id }) : `removed channel ${removed.name}`)
}

async function requireChannel(api: Api, name: string): Promise<Channel> {
  const channels = await api.all<Channel>(PATH)
  const channel = channels.find((one) => one.name === name) ?? channels.find(({ id }) => id === name)
  if (!channel)
    throw new CommandError(`there is no channel named ${name}: list all channels with "incmon channel list"`)
  return channel
}
