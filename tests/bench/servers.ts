/**
 * The servers to compare: incmon on its own database, limit, bare, and Debian's Alertmanager, all on the loopback
 * interface.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import manifest from '../../package.json' with { type: 'json' }
import { createOrganization } from '../../src/actions/organizations.ts'
import { createToken } from '../../src/actions/tokens.ts'
import { systemDeps } from '../../src/deps.ts'
import { findOrganizationByName } from '../../src/store/organizations.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { type Child, start } from './children.ts'

export type Server = {
  /** `api`: incmon, which receives the load through its Alertmanager API. */
  readonly name: 'incmon' | 'api' | 'limit' | 'bare' | 'alertmanager'
  readonly child: Child
  readonly url: string
  readonly token: string
}

/** The Node flags that `npm start` uses and that are built into the executable. */
export const AS_BUILT: readonly string[] = manifest.scripts.start.match(/--[\w-]+=\d+/g) ?? []
export const ORGANIZATION = 'Acme'
/** Every disk sync takes 5 ms longer, as in a cloud. */
export const SLOW_DISK = [
  ...['strace', '-f', '--seccomp-bpf', '-o', '/dev/null', '-e', 'trace=fsync,fdatasync'],
  ...['-e', 'inject=fsync,fdatasync:delay_enter=5000'],
]

/** Creates a token with all scopes for Acme. Creates the database and the organization if necessary. */
export function tokenFor(database: string): string {
  const db = openStore(database)
  try {
    const deps = systemDeps(db)
    migrate(db, deps.now())
    const known = findOrganizationByName(db, ORGANIZATION)
    const { rowId: key } = known ?? createOrganization(deps, { name: ORGANIZATION, plan: 'Pro' })
    return createToken(deps, { organizationId: key, name: 'bench', scopes: ['ingest', 'read'] }).token
  } finally {
    db.close()
  }
}

/**
 * @param program a bundle for Node (`.mjs`) or an executable
 * @param more.under a command that runs the program as its child;
 * @param more.flags flags for Node;
 * @param more.settings settings of incmon
 */
export async function startIncmon(
  program: string,
  database: string,
  more: {
    readonly under?: readonly string[]
    readonly flags?: readonly string[]
    readonly settings?: readonly string[]
  } = {},
): Promise<Server> {
  const token = tokenFor(database)
  const { under = [], flags = [], settings = [] } = more
  const runs = program.endsWith('.mjs') ? [process.execPath, ...AS_BUILT, ...flags, program] : [program]
  const line = [
    ...under,
    ...runs,
    'serve',
    '--port',
    '0',
    '--database',
    database,
    '--limits',
    'live-alerts=10000000',
    ...settings,
  ]
  const [command = '', ...args] = line
  const child = start(command, args)
  return { name: 'incmon', child, token, url: await child.says(/incmon listens on (\S+)\n/) }
}

const TOKEN = `incmon_${'t'.repeat(43)}`

export async function startLimit(program: string): Promise<Server> {
  const child = start(process.execPath, [program], { env: { TOKEN } })
  return { name: 'limit', child, token: TOKEN, url: await child.says(/limit listens on (\S+)\n/) }
}

/** Starts the server that stores the same rows without applying any rules. */
export async function startBare(program: string, database: string): Promise<Server> {
  tokenFor(database)
  const child = start(process.execPath, [...AS_BUILT, program], { env: { TOKEN, DATABASE: database } })
  return { name: 'bare', child, token: TOKEN, url: await child.says(/bare listens on (\S+)\n/) }
}

const RECEIVER = `route: { receiver: 'null', group_by: [service] }\nreceivers: [{ name: 'null' }]\n`

/** Starts a single Alertmanager with the same groups as the load and no receivers. */
export async function startAlertmanager(directory: string): Promise<Server> {
  mkdirSync(directory, { recursive: true })
  const config = join(directory, 'alertmanager.yml')
  writeFileSync(config, RECEIVER)
  const url = `http://127.0.0.1:${await freePort()}`
  const child = start('prometheus-alertmanager', [
    `--config.file=${config}`,
    `--storage.path=${join(directory, 'data')}`,
    `--web.listen-address=${url.slice('http://'.length)}`,
    '--cluster.listen-address=',
  ])
  await answers(`${url}/-/ready`, child)
  return { name: 'alertmanager', child, url, token: '' }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

/** Resolves with the first successful response. */
export async function answers(url: string, child: Child): Promise<void> {
  const until = performance.now() + 30_000
  for (;;) {
    try {
      const response = await fetch(url)
      await response.arrayBuffer()
      if (response.ok) return
    } catch {
      if (performance.now() > until) throw new Error(`${url} does not answer: ${child.said()}`)
    }
    await sleep(2)
  }
}
