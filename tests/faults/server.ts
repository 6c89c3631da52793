/** A real server process with its own database, optionally under strace. It is always stopped after the test. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createOrganization } from '../../src/actions/organizations.ts'
import { createToken } from '../../src/actions/tokens.ts'
import { systemDeps } from '../../src/deps.ts'
import type { Plan } from '../../src/domain/organization.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { bundle } from '../bench/bundle.ts'
import { AS_BUILT } from '../bench/servers.ts'
import { eventually } from '../helpers/server.ts'
import { pruneOnce } from '../helpers/store.ts'

/** Bundled once per run, with its worker threads. */
const PROGRAM = mkdtempSync(join(tmpdir(), 'incmon-program-'))
const { main: MAIN } = await bundle(PROGRAM)
// Another user must be able to run it.
chmodSync(PROGRAM, 0o755)
process.once('exit', () => rmSync(PROGRAM, { recursive: true, force: true }))
/** The executable in INCMON, or the bundle run by Node. */
export const PROGRAM_LINE = process.env.INCMON ? [process.env.INCMON] : [process.execPath, ...AS_BUILT, MAIN]
/** In milliseconds. Under strace, everything takes long on a busy machine. */
const LONGEST = 240_000
/** With -D, the server stays our child. With --seccomp-bpf, only the traced calls are slowed down. */
const STRACE = ['strace', '-D', '-f', '--seccomp-bpf', '-qq']

export type Server = {
  readonly url: string
  readonly pid: number
  readonly signal: (signal: NodeJS.Signals) => void
  readonly said: () => string
  /** Log output arrives on a different channel than responses, sometimes later. */
  readonly untilSaid: (words: RegExp) => Promise<unknown>
  /** The exit code, or null after a signal. Resolves after the whole trace is written. */
  readonly ended: Promise<number | null>
  readonly kill: () => Promise<void>
}

type After = { after: (work: () => void | Promise<void>) => void }

/** Returns why tests with strace are skipped, or false if they are not. */
export function lacksStrace(): string | false {
  const { status } = spawnSync('strace', ['-o', '/dev/null', '-D', 'true'])
  return status === 0 ? false : 'strace is not installed or may not trace: apt-get install strace'
}

/** Records disk writes and responses in `file`, with all bytes. */
export function tracing(file: string, more: readonly string[] = []): string[] {
  const calls = 'trace=pwrite64,ftruncate,fsync,fdatasync,write,writev'
  return [...STRACE, '-yy', '-xx', '-s', '8192', '-o', file, '-e', calls, ...more]
}

/** Makes calls fail, or only appear to succeed: `fdatasync:error=EIO:when=3` is the third call in each thread. */
export function injecting(...faults: readonly string[]): string[] {
  return faults.flatMap((fault) => ['-e', `inject=${fault}`])
}

/**
 * Creates a database with Acme on the Pro plan. Returns its path and a token with all scopes. It has been pruned, so
 * that faults affect only what the test does.
 */
export function makeDatabase(directory: string): { readonly file: string; readonly token: string } {
  const file = join(directory, 'incmon.db')
  const db = openStore(file)
  try {
    migrate(db, Date.now())
    const token = addOrganization(db, 'Acme', 'Pro')
    pruneOnce(db)
    return { file, token }
  } finally {
    db.close()
  }
}

/** Adds an organization and returns a token with all scopes except admin. */
export function addOrganization(db: Db, name: string, plan: Plan): string {
  const deps = systemDeps(db)
  const { rowId: organizationId } = createOrganization(deps, { name, plan })
  return createToken(deps, { organizationId, name: 'faults', scopes: ['ingest', 'read', 'write'] }).token
}

/**
 * Starts the server on a free port of the loopback interface. `under` is a command that runs the server as its child.
 */
export async function startServer(
  t: After,
  file: string,
  under: readonly string[] = [],
  flags: readonly string[] = [],
  longest = LONGEST,
): Promise<Server> {
  const [command = '', ...args] = [...under, ...PROGRAM_LINE, 'serve', '--port', '0', '--database', file, ...flags]
  const child = spawn(command, args, {
    // The proofs of load open more alerts than the default limit of an organization.
    env: { PATH: process.env.PATH ?? '', INCMON_LIMITS: 'live-alerts=10000000,services=10000000' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timer = setTimeout(() => {
    process.stderr.write(`killed: a server that had not ended after ${longest} ms; it said: ${said()}\n`)
    child.kill('SIGKILL')
  }, longest)
  const ended = once(child, 'close').then(([code]) => {
    clearTimeout(timer)
    return code as number | null
  })
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  t.after(kill)
  const said = keepWords(child)
  const url = await Promise.race([firstUrl(child, said), ended.then(() => '')])
  if (url === '') throw new Error(`the server did not start: ${said()}`)
  const untilSaid = (words: RegExp) =>
    eventually(
      async () => said(),
      (text) => words.test(text),
    )
  const signal = (name: NodeJS.Signals) => void child.kill(name)
  return { url, pid: child.pid ?? 0, signal, said, untilSaid, ended, kill }
}

function keepWords(child: ChildProcess): () => string {
  let words = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (chunk) => {
      words += chunk
    })
  }
  return () => words
}

function firstUrl({ stdout }: ChildProcess, said: () => string): Promise<string> {
  return new Promise((resolve) => {
    stdout?.on('data', () => {
      const [, url] = /incmon listens on (\S+)\n/.exec(said()) ?? []
      if (url) resolve(url)
    })
  })
}
