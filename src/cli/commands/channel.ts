/** incmon channel: add, list, test and remove the channels that messages about incidents are sent over. */
import type { ChannelKind } from '../../domain/notification/format.ts'
import { type Api, withApi } from '../api/api.ts'
import { type OfOrganization, requireOrganization } from '../api/organization.ts'
import { hint } from '../database.ts'
import { CommandError, NegativeAnswer, UsageError } from '../failure.ts'
import { readInput } from '../input.ts'
import { print, printError, printList } from '../output.ts'

const PATH = '/api/channels'

type Added = OfOrganization & { readonly kind: ChannelKind; readonly url?: string; readonly to?: string }

/** As `GET /api/channels` lists them. */
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
  if (kind === 'mail' && to === undefined) throw new UsageError('--to: name the mail addresses')
  if (kind !== 'mail' && options.url === undefined) throw new UsageError('--url: name the address of the receiver')
  const url = options.url === '-' ? await readAddress() : options.url
  const { id, secret, warnings } = await withApi(options, async (api) => {
    const { id: organization } = await requireOrganization(api, options)
    const body = { name, kind, url, to }
    return api.json<{ id: string; secret: string | null; warnings: readonly string[] }>('POST', PATH, {
      organization,
      body,
    })
  })
  if (options.json) return print(JSON.stringify({ id, secret, warnings }))
  print(`added the channel ${name}: ${hint(options, `channel test ${name}`)} sends a test message`)
  for (const warning of warnings) printError(`warning: ${warning}`)
  if (secret !== null) print(`messages are signed with ${secret}; keep it, it is not shown again`)
}

async function readAddress(): Promise<string> {
  return Buffer.from(await readInput('-', 'with the address'))
    .toString('utf8')
    .trim()
}

/** Lists the channels of an organization without their secrets. */
export async function listOrgChannels(options: OfOrganization): Promise<void> {
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
      empty: `no channel: ${hint(options, 'channel add')} makes one`,
    },
    options.json,
  )
}

/** Sends a test message and prints what the receiver answered. Exit code 1 if it was not delivered. */
export async function testOrgChannel(name: string, options: OfOrganization): Promise<void> {
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
export async function removeOrgChannel(name: string, options: OfOrganization): Promise<void> {
  const removed = await withApi(options, async (api) => {
    const { organization, ...channel } = await requireChannel(api, name, options)
    await api.json('DELETE', `${PATH}/${channel.id}`, { organization })
    return channel
  })
  print(options.json ? JSON.stringify({ id: removed.id }) : `removed the channel ${removed.name}`)
}

async function requireChannel(api: Api, name: string, options: OfOrganization) {
  const { id: organization } = await requireOrganization(api, options)
  const channels = await api.all<Channel>(PATH, { organization })
  const channel = channels.find((one) => one.name === name) ?? channels.find(({ id }) => id === name)
  if (!channel) throw new CommandError(`no channel ${name}: ${hint(options, 'channel list')} shows them`)
  return { ...channel, organization }
}
