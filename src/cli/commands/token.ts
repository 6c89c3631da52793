/** incmon token: tokens made and shown this once, listed, revoked. */
import { SCOPES, type Scope } from '../../domain/token.ts'
import type { Deps } from '../../operations/deps.ts'
import { createToken, revokeToken } from '../../operations/tokens.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import type { Db } from '../../store/sqlite/open.ts'
import { listTokens, type TokenRecord } from '../../store/tokens.ts'
import { type Common, makeFirstOrganization, requireOrganization, withDatabase, withMadeDatabase } from '../database.ts'
import { CommandError, UsageError } from '../failure.ts'
import { instant, print, printError, printList, visible } from '../output.ts'

const EVERY = { page: 1, limit: 1_000_000 }
const MAX_NAME = 100
const MAX_CLUSTER = 253

type Wanted = Common & {
  readonly org?: string
  readonly name?: string
  readonly scopes: readonly Scope[]
  readonly cluster?: string
  /** Milliseconds from now; without it the token lasts until it is revoked. */
  readonly expires?: number
}

export async function createOrgToken(options: Wanted): Promise<void> {
  const { scopes, cluster = '' } = options
  const name = (options.name ?? [scopes.join('+'), cluster].filter(Boolean).join(' ')).trim().slice(0, MAX_NAME)
  if (name === '') throw new UsageError(`--name: 1 to ${MAX_NAME} characters are allowed`)
  if (cluster.length > MAX_CLUSTER) throw new UsageError(`--cluster: at most ${MAX_CLUSTER} characters are allowed`)
  const made = await withMadeDatabase(options, (deps) => {
    const organization = makeFirstIfMeant(deps, options.org) ?? requireOrganization(deps.db, options.org)
    const expiresAt = options.expires === undefined ? null : deps.now() + options.expires
    const { id, token } = createToken(deps, { organizationId: organization.key, name, scopes, cluster, expiresAt })
    return { token, id, organization: organization.name, name, scopes, cluster, expiresAt: instant(expiresAt) }
  })
  if (options.json) return print(JSON.stringify(made))
  print(made.token)
  // Beside stdout, so that TOKEN=$(incmon token create) holds the token alone.
  printError(sentenceOf(made))
}

function makeFirstIfMeant(deps: Deps, org: string | undefined): OrganizationRecord | null {
  return org === undefined || org === 'default' ? makeFirstOrganization(deps) : null
}

function sentenceOf(made: { organization: string; scopes: readonly Scope[]; expiresAt: string | null }): string {
  const until = made.expiresAt === null ? 'until it is revoked' : `until ${made.expiresAt}`
  return `a token of ${visible(made.organization)} for ${made.scopes.join(', ')}, ${until}; keep it, it is not shown again`
}

export async function listOrgTokens(options: Common & { readonly org?: string }): Promise<void> {
  const items = await withDatabase(options, ({ db, now }) => {
    const { key } = requireOrganization(db, options.org)
    return listTokens(db, key, EVERY).items.map((token) => show(token, now()))
  })
  printList(
    {
      items,
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
      empty: 'no token yet: "incmon token create" makes one',
    },
    options.json,
  )
}

function show(token: TokenRecord, now: number) {
  return {
    ...token,
    state: stateOf(token, now),
    createdAt: instant(token.createdAt),
    expiresAt: instant(token.expiresAt),
    revokedAt: instant(token.revokedAt),
    lastUsedAt: instant(token.lastUsedAt),
  }
}

function stateOf({ revokedAt, expiresAt }: TokenRecord, now: number): 'usable' | 'revoked' | 'expired' {
  if (revokedAt !== null) return 'revoked'
  return expiresAt !== null && expiresAt <= now ? 'expired' : 'usable'
}

/** Whether anybody can call at all: whether some token of some organization counts now. */
export function hasUsableToken(db: Db, now: number): boolean {
  return everyToken(db).some(({ token }) => stateOf(token, now) === 'usable')
}

export async function revokeOrgToken(id: string, options: Common): Promise<void> {
  const { token, organization } = await withDatabase(options, (deps) => {
    const found = everyToken(deps.db).find((one) => one.token.id === id.trim().toLowerCase())
    if (!found) throw new CommandError(`no token ${id}: "incmon token list" shows the id of each`)
    revokeToken(deps, found.organization.key, found.token.id)
    return found
  })
  const { name } = token
  if (options.json) return print(JSON.stringify({ id: token.id, name, organization: organization.name, revoked: true }))
  print(`revoked the token ${visible(name)} of ${visible(organization.name)}; a running server refuses it from now on`)
}

function everyToken(db: Db): { organization: OrganizationRecord; token: TokenRecord }[] {
  return listOrganizations(db).flatMap((organization) =>
    listTokens(db, organization.key, EVERY).items.map((token) => ({ organization, token })),
  )
}

/** `ingest,read` as scopes, each once, in their order. */
export function parseScopes(text: string): Scope[] {
  const words = text.split(/[\s,]+/).filter(Boolean)
  const unknown = words.filter((word) => !SCOPES.some((scope) => scope === word))
  if (unknown.length > 0)
    throw new UsageError(`--scopes: no scope ${unknown.join(', ')}: allowed are ${SCOPES.join(', ')}`)
  if (words.length === 0) throw new UsageError(`--scopes: empty; name some of ${SCOPES.join(', ')}`)
  return SCOPES.filter((scope) => words.includes(scope))
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000, y: 365 * 86_400_000 }
const LONGEST = 100 * 365 * 86_400_000

/** `90d` in milliseconds. */
export function parseDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdwy])$/.exec(text.trim()) ?? []
  const duration = Number(count) * (UNITS[unit] ?? 0)
  if (duration > 0 && duration <= LONGEST) return duration
  throw new UsageError(`--expires: ${text} is no duration: allowed are such as 12h, 90d, 26w, 1y, up to 100y`)
}
