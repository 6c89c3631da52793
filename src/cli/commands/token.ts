/**
 * incmon token and setup-link: creates, lists and revokes tokens, and creates setup links. Secrets are shown only once.
 */

import type { Command } from 'commander'
import type { InferInput } from 'valibot'
import { setupAddress } from '../../domain/request/session.ts'
import { SCOPES, type Scope } from '../../domain/request/token.ts'
import { shellQuote, visible } from '../../domain/terminal.ts'
import { formatDay } from '../../domain/text.ts'
import type { tokenShape } from '../../http/api/tokens.ts'
import type { Listening } from '../../server/context.ts'
import { withApi } from '../api/api.ts'
import {
  isPartOf,
  listOrganizations,
  type OrganizationOptions,
  SHORTEST_PART,
  withOrganization,
} from '../api/records.ts'
import { requireConfig } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { parseDuration } from '../input.ts'
import { type Common, hint, instant, print, printError, printList } from '../output.ts'
import { addCommand, addOrgCommand } from '../plain-command.ts'
import { configuredAddress, namedAddress, reachableUrl } from '../server-address.ts'

const MAX_NAME = 100
const MAX_CLUSTER = 253
const PATH = '/api/tokens'
const CHANNELS = '/api/channels'

type Wanted = OrganizationOptions & {
  readonly name?: string
  readonly person?: string
  readonly contact?: string
  readonly scopes?: readonly Scope[]
  readonly cluster?: string
  /** Milliseconds until the token expires. Without this option, the token never expires. */
  readonly expires?: number
}

type Token = InferInput<typeof tokenShape>

/** @param now returns the current Unix time in milliseconds */
export function addToken(program: Command, now: () => number): void {
  const token = addCommand(program, 'token', 'manage the tokens of senders and API users')
  addOrgCommand(token, 'create', 'create a token and print it once')
    .option(
      '--name <name>',
      'the name of the token, which timelines show as the actor (default: API token and the date)',
    )
    .option('--person <name>', 'create the token for a person, whose name timelines and messages show')
    .option(
      '--contact <address>',
      'with --person: the URL of an ntfy topic or a mail address, which becomes a channel with the name of the person',
    )
    .option(
      '--scopes <list>',
      `the scopes of the token, separated by commas: ${SCOPES.join(',')} (default: ingest; for a person read,write)`,
      parseScopes,
    )
    .option('--cluster <name>', 'the cluster for everything sent with this token')
    .option(
      '--expires <duration>',
      'how long the token is valid, such as 12h or 90d (default: until revoked)',
      parseDuration('--expires'),
    )
    .action((options) => createToken(options, now()))
  addOrgCommand(token, 'list', 'list the tokens of an organization, including revoked tokens').action((options) =>
    listTokens(options, now()),
  )
  addCommand(token, 'revoke', 'revoke a token immediately')
    .argument('<id>', 'the id of the token, or at least the last 8 characters of the id')
    .action(revokeToken)
}

async function createToken(options: Wanted, now: number): Promise<void> {
  const { cluster = '', person, contact } = options
  if (person !== undefined && options.name !== undefined)
    throw new UsageError('--person and --name cannot be combined: the token has the name of the person')
  if (contact !== undefined && person === undefined) throw new UsageError('--contact belongs to a person: use --person')
  // The name is the actor in timelines.
  const named = person ?? options.name ?? `API token ${formatDay(now)}${cluster === '' ? '' : ` for ${cluster}`}`
  const name = named.trim().slice(0, MAX_NAME)
  if (name === '')
    throw new UsageError(`${person === undefined ? '--name' : '--person'}: use 1 to ${MAX_NAME} characters`)
  if (cluster.length > MAX_CLUSTER) throw new UsageError(`--cluster: use at most ${MAX_CLUSTER} characters`)
  const expiresAt = options.expires === undefined ? null : instant(now + options.expires)
  const scopes = options.scopes ?? (person === undefined ? ['ingest' as const] : ['read' as const, 'write' as const])
  const wanted = { name, scopes, cluster, expiresAt }
  const channel = contact === undefined ? null : { name, ...addressOf(contact) }
  const made = await withOrganization(options, async (api, organization) => {
    const added = channel && (await api.json<{ warnings: readonly string[] }>('POST', CHANNELS, { body: channel }))
    const { id, token } = await api.json<{ id: string; token: string }>('POST', PATH, { body: wanted })
    for (const warning of added?.warnings ?? []) printError(`warning: ${warning}`)
    return { token, id, organization: organization.name, ...wanted }
  })
  if (options.json) return print(JSON.stringify(made))
  print(made.token)
  // Prints to stderr so that TOKEN=$(incmon token create) contains only the token.
  printError(sentenceOf(made))
  if (!channel) return
  const [test, rule] = [`channel test ${shellQuote(name)}`, `channel set ${shellQuote(name)} --rule RULE`]
  printError(
    `added channel ${visible(name)}, which gets all messages: test it with ${hint(options, test)}, choose its messages with ${hint(options, rule)}`,
  )
}

/** Returns the kind of channel for the address of a person. */
function addressOf(contact: string) {
  if (/^https?:\/\//.test(contact)) return { kind: 'ntfy', url: contact }
  if (contact.includes('@')) return { kind: 'mail', to: contact }
  throw new UsageError(`--contact: ${visible(contact)} is neither the URL of an ntfy topic nor a mail address`)
}

function sentenceOf(made: { organization: string; scopes: readonly Scope[]; expiresAt: string | null }): string {
  const until = made.expiresAt === null ? 'until it is revoked' : `until ${made.expiresAt}`
  return `created a token for ${visible(made.organization)} with the ${made.scopes.length === 1 ? 'scope' : 'scopes'} ${made.scopes.join(', ')}, valid ${until}; save it now, because it is shown only once`
}

async function listTokens(options: OrganizationOptions, now: number): Promise<void> {
  const tokens = await withOrganization(options, (api) => api.all<Token>(PATH))
  const items = tokens.map((token) => ({ ...token, state: stateOf(token, now) }))
  const empty = `there are no tokens: create one with ${hint(options, 'token create')}`
  printList(options, items, empty, {
    NAME: 'name',
    SCOPES: ({ scopes }) => scopes.join(','),
    CLUSTER: 'cluster',
    STATE: 'state',
    EXPIRES: 'expiresAt',
    'LAST USED': 'lastUsedAt',
    CREATED: 'createdAt',
    ID: 'id',
  })
}

function stateOf({ revokedAt, expiresAt }: Token, now: number): 'usable' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'usable'
}

/** Finds the token in any organization and revokes it. */
async function revokeToken(id: string, options: Common): Promise<void> {
  const { token, organization } = await withApi(options, async (api) => {
    for (const organization of await listOrganizations(api)) {
      const own = api.of(organization.id)
      const tokens = await own.all<Token>(PATH)
      const [token, second] = tokens.filter((one) => isPartOf(one.id, id))
      if (!token) continue
      if (second)
        throw new CommandError(
          `${id} matches the ids of several tokens: enter the last ${SHORTEST_PART} characters of one id`,
        )
      await own.json('DELETE', `${PATH}/${token.id}`)
      return { token, organization }
    }
    throw new CommandError(`there is no token with the id ${id}: "incmon token list" shows all ids`)
  })
  const { name, revokedAt } = token
  if (options.json) return print(JSON.stringify({ id: token.id, name, organization: organization.name, revoked: true }))
  const of = `${visible(name)} of ${visible(organization.name)}`
  print(revokedAt ? `${of} was already revoked at ${revokedAt}` : `revoked ${of}; it is no longer valid`)
}

/** Parses a list such as `ingest,read`. Returns each scope once, in a fixed order. */
function parseScopes(text: string): Scope[] {
  const words = text.split(/[\s,]+/).filter(Boolean)
  const unknown = words.filter((word) => !SCOPES.some((scope) => scope === word))
  if (unknown.length > 0)
    throw new UsageError(`--scopes: ${unknown.join(', ')} is not a scope: choose from ${SCOPES.join(', ')}`)
  if (words.length === 0) throw new UsageError(`--scopes is empty: choose from ${SCOPES.join(', ')}`)
  return SCOPES.filter((scope) => words.includes(scope))
}

type Options = OrganizationOptions & { readonly url?: string }

export function addSetupLink(program: Command): void {
  addOrgCommand(
    program,
    'setup-link',
    'print a link that signs in one administrator; it works once and expires after 30 minutes',
  )
    .option(
      '--url <url>',
      'the URL at which browsers reach the server (default: INCMON_URL, then public-url, then the address of the server)',
    )
    .action(printSetupLink)
}

/** Prints a setup link. If no server is running, the link works after the next start. */
async function printSetupLink(options: Options): Promise<void> {
  const named = namedAddress(options)
  const { secret, listening } = await withOrganization(options, async (api) => {
    const server = await api.json<{ listening: Listening | null }>('GET', '/operator/server')
    const made = await api.json<{ secret: string }>('POST', '/operator/setup-links')
    return { ...server, ...made }
  })
  const link = setupAddress(named ?? addressFor(listening, options), secret)
  print(options.json ? JSON.stringify({ link }) : link)
  if (listening === null) printError(`no server is running: start ${hint(options, 'serve')} before you open the link`)
}

function addressFor(listening: Listening | null, options: Options): string {
  if (listening !== null) return reachableUrl(listening.publicUrl)
  const config = requireConfig(options)
  const publicUrl = config['public-url'].replace(/\/+$/, '')
  if (publicUrl !== '') return publicUrl
  if (config.port !== 0) return configuredAddress(config)
  throw new UsageError('port 0 means any free port, and no server is running: start the server first, or set --url')
}
