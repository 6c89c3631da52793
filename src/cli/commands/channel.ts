/** incmon channel: adds, changes, lists, tests and removes notification channels. */
import { type Command, Option } from 'commander'
import { CHANNEL_KINDS, type ChannelKind } from '../../domain/notification/format.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import type { Api } from '../api/api.ts'
import { type OrganizationOptions, withOrganization } from '../api/records.ts'
import { parseMinutes, parseRule, RULE_HELP } from '../channel-rules.ts'
import { hint, shellQuote } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'

const PATH = '/api/channels'

type Settings = {
  readonly url?: string
  readonly to?: string
  readonly rule?: readonly Rule[]
  readonly timeZone?: string
  /** In minutes; 0 means never. */
  readonly remindAfter?: number
  readonly remindEvery?: number
  readonly escalateAfter?: number
}
type Added = OrganizationOptions & Settings & { readonly kind: ChannelKind }
type Changed = OrganizationOptions &
  Settings & { readonly name?: string; readonly enable?: true; readonly disable?: true }

/** An item of `GET /api/channels`. */
type Channel = {
  readonly id: string
  readonly name: string
  readonly kind: ChannelKind
  readonly target: string
  readonly enabled: boolean
  readonly failing: string | null
  readonly lastDelivery: string | null
}

export function addChannel(program: Command): void {
  const channel = addCommand(program, 'channel', 'channels: where messages about incidents are sent')
  addSettings(
    addOrgCommand(channel, 'add', 'add a channel; a running server uses it at once')
      .argument('<name>', 'its name')
      .addOption(new Option('--kind <kind>', 'the kind of the receiver').choices(CHANNEL_KINDS).makeOptionMandatory()),
  ).action(createChannel)
  addSettings(
    addOrgCommand(channel, 'set', 'change a channel; all other settings stay unchanged')
      .argument('<name>', 'its name or id')
      .option('--name <name>', 'another name')
      .option('--enable', 'send messages again, pending ones at once')
      .option('--disable', 'send nothing'),
  ).action(changeChannel)
  addOrgCommand(channel, 'list', 'list the channels of an organization; their secrets are not shown').action(
    listChannels,
  )
  addOrgCommand(channel, 'test', 'send a test message and print the answer; exit code 1 if it was not delivered')
    .argument('<name>', 'its name or id')
    .action(testChannel)
  addOrgCommand(channel, 'remove', 'delete a channel with its deliveries')
    .argument('<name>', 'its name or id')
    .action(removeChannel)
}

function addSettings(command: Command): Command {
  const minutes = (name: string, doc: string) => command.option(`--${name} <minutes>`, doc, parseMinutes(`--${name}`))
  command
    .option('--url <url>', 'the address of the receiver, - to read it from standard input')
    .option('--to <addresses>', 'for mail: the addresses, separated by commas')
    .option('--rule <rule>', RULE_HELP, parseRule)
    .option('--time-zone <zone>', 'the time zone of the times in messages')
  minutes('remind-after', 'the first reminder of an unacknowledged incident; off: none')
  minutes('remind-every', 'the pause between further reminders; off: none')
  return minutes('escalate-after', 'send only incidents that are unacknowledged for this long')
}

/** Creates a channel. For a webhook, prints its secret, which is not shown again. */
async function createChannel(name: string, options: Added): Promise<void> {
  const { kind, to } = options
  refuseWrongAddress(kind, options)
  if (kind === 'mail' && to === undefined) throw new UsageError('--to: name the mail addresses')
  if (kind !== 'mail' && options.url === undefined) throw new UsageError('--url: name the address of the receiver')
  const settings = await bodyOf(options)
  const body = { name, kind, ...settings }
  type Created = { id: string; secret: string | null; warnings: readonly string[] }
  const { id, secret, warnings } = await withOrganization(options, (api) => api.json<Created>('POST', PATH, { body }))
  if (options.json) return print(JSON.stringify({ id, secret, warnings }))
  print(`added the channel ${name}: send a test message with ${hint(options, `channel test ${shellQuote(name)}`)}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
  if (secret !== null) print(`messages are signed with ${secret}; store it now, because it is not shown again`)
}

async function changeChannel(name: string, options: Changed): Promise<void> {
  const { enable, disable, name: newName } = options
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other')
  const enabled = enable ? true : disable ? false : undefined
  const body = { ...(await bodyOf(options)), name: newName, enabled }
  if (Object.values(body).every((value) => value === undefined)) throw new UsageError('name what to change; see --help')
  const { id, warnings } = await withOrganization(options, async (api) => {
    const channel = await requireChannel(api, name, options)
    refuseWrongAddress(channel.kind, options)
    return api.json<{ id: string; warnings: readonly string[] }>('PATCH', `${PATH}/${channel.id}`, { body })
  })
  if (options.json) return print(JSON.stringify({ id, warnings }))
  print(`changed the channel ${newName ?? name}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
}

/** Rejects an option that applies only to other kinds of channels and that the server would ignore. */
function refuseWrongAddress(kind: ChannelKind, { url, to }: Settings): void {
  if (kind === 'mail' && url !== undefined) throw new UsageError('--url: a mail channel has addresses; write --to')
  if (kind !== 'mail' && to !== undefined) throw new UsageError(`--to: a ${kind} channel has an address; write --url`)
}

async function bodyOf({ rule: rules, to, timeZone, remindAfter, remindEvery, escalateAfter, ...options }: Settings) {
  const url = options.url === '-' ? await readAddress() : options.url
  return { url, to, rules, timeZone, remindAfter, remindEvery, escalateAfter }
}

async function readAddress(): Promise<string> {
  return Buffer.from(await readInput('-', 'with the address'))
    .toString('utf8')
    .trim()
}

async function listChannels(options: OrganizationOptions): Promise<void> {
  printList(
    {
      items: await withOrganization(options, (api) => api.all<Channel>(PATH)),
      columns: [
        ['NAME', ({ name }) => name],
        ['KIND', ({ kind }) => kind],
        ['TARGET', ({ target }) => target],
        ['STATE', ({ enabled, failing }) => (enabled ? (failing === null ? 'ok' : `failing: ${failing}`) : 'disabled')],
        ['LAST DELIVERY', ({ lastDelivery }) => lastDelivery],
        ['ID', ({ id }) => id],
      ],
      empty: `there is no channel: add one with ${hint(options, 'channel add')}`,
    },
    options.json,
  )
}

/** @throws NegativeAnswer or CommandError if the test message was not delivered */
async function testChannel(name: string, options: OrganizationOptions): Promise<void> {
  const outcome = await withOrganization(options, async (api) => {
    const { id } = await requireChannel(api, name, options)
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

async function removeChannel(name: string, options: OrganizationOptions): Promise<void> {
  const removed = await withOrganization(options, async (api) => {
    const channel = await requireChannel(api, name, options)
    await api.json('DELETE', `${PATH}/${channel.id}`)
    return channel
  })
  print(options.json ? JSON.stringify({ id: removed.id }) : `removed the channel ${removed.name}`)
}

async function requireChannel(api: Api, name: string, options: OrganizationOptions): Promise<Channel> {
  const channels = await api.all<Channel>(PATH)
  const channel = channels.find((one) => one.name === name) ?? channels.find(({ id }) => id === name)
  if (!channel)
    throw new CommandError(`there is no channel ${name}: list the channels with ${hint(options, 'channel list')}`)
  return channel
}
