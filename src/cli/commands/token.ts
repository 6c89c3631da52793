/** incmon token: creates, lists and revokes tokens. A token is shown only once. */
import { SCOPES, type Scope } from '../../domain/token.ts'
import { withApi } from '../api/api.ts'
import { listOrganizations, type OrganizationOptions, requireOrganization } from '../api/organization.ts'
import { type Common, hint } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { instant, print, printError, printList, visible } from '../output.ts'

const MAX_NAME = 100
const MAX_CLUSTER = 253
const PATH = '/api/tokens'
const SHORTEST_PREFIX = 8

type Wanted = OrganizationOptions & {
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly cluster?: string
  /** Milliseconds from now; without it the token lasts until it is revoked. */
  readonly expires?: number
}

/** As `GET /api/tokens` lists them. */
type Token = {
  readonly id: string
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly cluster: string
  readonly createdAt: string
  readonly expiresAt: string | null
  readonly revokedAt: string | null
  readonly lastUsedAt: string | null
}

/** Creates a token and prints it. `now` in milliseconds UTC. */
export async function createOrgToken(options: Wanted, now: number): Promise<void> {
  const { scopes, cluster = '' } = options
  const name = (options.name ?? [scopes.join('+'), cluster].filter(Boolean).join(' ')).trim().slice(0, MAX_NAME)
  if (name === '') throw new UsageError(`--name: 1 to ${MAX_NAME} characters are allowed`)
  if (cluster.length > MAX_CLUSTER) throw new UsageError(`--cluster: at most ${MAX_CLUSTER} characters are allowed`)
  const expiresAt = options.expires === undefined ? null : instant(now + options.expires)
  const wanted = { name, scopes, cluster, expiresAt }
  const made = await withApi(options, async (api) => {
    const organization = await requireOrganization(api, options)
    const asked = { organization: organization.id, body: wanted }
    const { id, token } = await api.json<{ id: string; token: string }>('POST', PATH, asked)
    return { token, id, organization: organization.name, ...wanted }
  })
  if (options.json) return print(JSON.stringify(made))
  print(made.token)
  // On stderr, so that TOKEN=$(incmon token create) contains only the token.
  printError(sentenceOf(made))
}

function sentenceOf(made: { organization: string; scopes: readonly Scope[]; expiresAt: string | null }): string {
  const until = made.expiresAt === null ? 'until it is revoked' : `until ${made.expiresAt}`
  return `created a token of ${visible(made.organization)} for ${made.scopes.join(', ')}, valid ${until}; store it now, because it is not shown again`
}

/** Lists the tokens of an organization. `now` in milliseconds UTC. */
export async function listOrgTokens(options: OrganizationOptions, now: number): Promise<void> {
  const tokens = await withApi(options, async (api) => {
    const { id } = await requireOrganization(api, options)
    return api.all<Token>(PATH, { organization: id })
  })
  printList(
    {
      items: tokens.map((token) => ({ ...token, state: stateOf(token, now) })),
      columns: [
        ['NAME', ({ name }) => name],
        ['SCOPES', ({ scopes }) => scopes.join(',')],
        ['CLUSTER', ({ cluster }) => cluster],
        ['STATE', ({ state }) => state],
        ['EXPIRES', ({ expiresAt }) => expiresAt],
        ['LAST USED', ({ lastUsedAt }) => lastUsedAt],
        ['CREATED', ({ createdAt }) => createdAt],
        ['ID', ({ id }) => id],
      ],
      empty: `there is no token: create one with ${hint(options, 'token create')}`,
    },
    options.json,
  )
}

function stateOf({ revokedAt, expiresAt }: Token, now: number): 'usable' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && Date.parse(expiresAt) <= now ? 'expired' : 'usable'
}

/** Revokes the token whose id is, or begins with, the given text. Looks in all organizations. */
export async function revokeOrgToken(id: string, options: Common): Promise<void> {
  const { token, organization } = await withApi(options, async (api) => {
    for (const organization of await listOrganizations(api)) {
      const tokens = await api.all<Token>(PATH, { organization: organization.id })
      const word = id.trim().toLowerCase()
      const [token, second] = tokens.filter((one) => one.id.startsWith(word) && word.length >= SHORTEST_PREFIX)
      if (!token) continue
      if (second) throw new CommandError(`several tokens have an id that begins with ${id}: write more of it`)
      await api.json('DELETE', `${PATH}/${token.id}`, { organization: organization.id })
      return { token, organization }
    }
    throw new CommandError(`no token has the id ${id}: ${hint(options, 'token list')} shows the ids`)
  })
  const { name } = token
  if (options.json) return print(JSON.stringify({ id: token.id, name, organization: organization.name, revoked: true }))
  print(`revoked the token ${visible(name)} of ${visible(organization.name)}; it is no longer valid`)
}

/** Reads a list such as `ingest,read`. Returns each scope once, in a fixed order. */
export function parseScopes(text: string): Scope[] {
  const words = text.split(/[\s,]+/).filter(Boolean)
  const unknown = words.filter((word) => !SCOPES.some((scope) => scope === word))
  if (unknown.length > 0)
    throw new UsageError(`--scopes: ${unknown.join(', ')} is not a scope: write some of ${SCOPES.join(', ')}`)
  if (words.length === 0) throw new UsageError(`--scopes: empty; write some of ${SCOPES.join(', ')}`)
  return SCOPES.filter((scope) => words.includes(scope))
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 }
const MAX_MS = 100 * 365 * 86_400_000

/** Reads a duration such as `90d` as milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? []
  const duration = Number(count) * (UNITS[unit] ?? 0)
  if (duration > 0 && duration <= MAX_MS) return duration
  throw new UsageError(`--expires: ${text} is not a duration: write one such as 12h, 90d, 26w or 1y, at most 100y`)
}
