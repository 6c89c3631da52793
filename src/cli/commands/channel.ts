/** incmon channel: adds, changes, lists, tests and removes channels for messages about incidents. */
import type { ChannelKind } from '../../domain/notification/format.ts'
import type { Rule } from '../../domain/notification/rule.ts'
import { type Api, withApi } from '../api/api.ts'
import { type OrganizationOptions, requireOrganization } from '../api/organization.ts'
import { hint, shellQuote } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, printList } from '../output.ts'

const PATH = '/api/channels'

type Settings = {
  readonly url?: string
  readonly to?: string
  readonly rule?: readonly Rule[]
  readonly timeZone?: string
  /** Minutes; 0: never. */
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

/** Adds a channel. The secret of a webhook is printed once. */
export async function addOrgChannel(name: string, options: Added): Promise<void> {
  const { kind, to } = options
  refuseWrongAddress(kind, options)
  if (kind === 'mail' && to === undefined) throw new UsageError('--to: name the mail addresses')
  if (kind !== 'mail' && options.url === undefined) throw new UsageError('--url: name the address of the receiver')
  const settings = await bodyOf(options)
  const { id, secret, warnings } = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const body = { name, kind, ...settings }
    return api.json<{ id: string; secret: string | null; warnings: readonly string[] }>('POST', PATH, {
      organization,
      body,
    })
  })
  if (options.json) return print(JSON.stringify({ id, secret, warnings }))
  print(`added the channel ${name}: send a test message with ${hint(options, `channel test ${shellQuote(name)}`)}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
  if (secret !== null) print(`messages are signed with ${secret}; store it now, because it is not shown again`)
}

/** Changes the fields that the options name. */
export async function changeOrgChannel(name: string, options: Changed): Promise<void> {
  const { enable, disable, name: newName } = options
  if (enable && disable) throw new UsageError('--enable and --disable exclude each other')
  const enabled = enable ? true : disable ? false : undefined
  const body = { ...(await bodyOf(options)), name: newName, enabled }
  if (Object.values(body).every((value) => value === undefined)) throw new UsageError('name what to change; see --help')
  const { id, warnings } = await withApi(options, async (api) => {
    const { organization, ...channel } = await requireChannel(api, name, options)
    refuseWrongAddress(channel.kind, options)
    return api.json<{ id: string; warnings: readonly string[] }>('PATCH', `${PATH}/${channel.id}`, {
      organization,
      body,
    })
  })
  if (options.json) return print(JSON.stringify({ id, warnings }))
  print(`changed the channel ${newName ?? name}`)
  for (const warning of warnings) printError(`warning: ${warning}`)
}

/** Refuses an option of another kind of channel, which the server would ignore. */
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

/** Lists the channels of an organization without their secrets. */
export async function listOrgChannels(options: OrganizationOptions): Promise<void> {
  const items = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    return api.all<Channel>(PATH, { organization })
  })
  printList(
    {
      items,
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

/** Sends a test message and prints the answer of the receiver. Exit code 1 if it was not delivered. */
export async function testOrgChannel(name: string, options: OrganizationOptions): Promise<void> {
  const outcome = await withApi(options, async (api) => {
    const { organization, id } = await requireChannel(api, name, options)
    type Outcome = { delivered: boolean; status: number | null; detail: string | null; warning: string | null }
    return api.json<Outcome>('POST', `${PATH}/${id}/test`, { organization })
  })
  const answer = [outcome.status, outcome.detail].filter((part) => part !== null).join(' ')
  if (options.json) print(JSON.stringify(outcome))
  else if (outcome.delivered) print(`delivered: ${answer}`)
  if (!options.json && outcome.delivered && outcome.warning !== null) printError(`warning: ${outcome.warning}`)
  if (outcome.delivered) return
  if (options.json) throw new NegativeAnswer()
  throw new CommandError(`not delivered: ${answer}`)
}

/** Deletes a channel with its deliveries. */
export async function removeOrgChannel(name: string, options: OrganizationOptions): Promise<void> {
  const removed = await withApi(options, async (api) => {
    const { organization, ...channel } = await requireChannel(api, name, options)
    await api.json('DELETE', `${PATH}/${channel.id}`, { organization })
    return channel
  })
  print(options.json ? JSON.stringify({ id: removed.id }) : `removed the channel ${removed.name}`)
}

async function requireChannel(api: Api, name: string, options: OrganizationOptions) {
  const { id: organization } = await requireOrganization(api, options)
  const channels = await api.all<Channel>(PATH, { organization })
  const channel = channels.find((one) => one.name === name) ?? channels.find(({ id }) => id === name)
  if (!channel)
    throw new CommandError(`there is no channel ${name}: list the channels with ${hint(options, 'channel list')}`)
  return { ...channel, organization }
}
