/** A real server process on a database of its own, at times below strace; gone after the test, however it goes. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemDeps } from '../../src/deps.ts'
import type { Plan } from '../../src/domain/organization.ts'
import { createOrganization } from '../../src/operations/organizations.ts'
import { createToken } from '../../src/operations/tokens.ts'
import { type Db, openStore } from '../../src/store/sqlite/open.ts'
import { migrate } from '../../src/store/sqlite/schema/migrate.ts'
import { bundle } from '../bench/bundle.ts'
import { AS_BUILT } from '../bench/servers.ts'
import { eventually } from '../helpers/server.ts'
import { pruneOnce } from '../helpers/store.ts'

/** Bundled once a run, with its threads. */
const PROGRAM = mkdtempSync(join(tmpdir(), 'incmon-program-'))
const { main: MAIN } = await bundle(PROGRAM)
// Another user runs it too.
chmodSync(PROGRAM, 0o755)
process.once('exit', () => rmSync(PROGRAM, { recursive: true, force: true }))
/** The executable that INCMON names, or the bundle with Node. */
export const PROGRAM_LINE = process.env.INCMON ? [process.env.INCMON] : [process.execPath, ...AS_BUILT, MAIN]
/** Milliseconds; below strace on a busy machine everything takes long. */
const LONGEST = 240_000
/** Below it the server stays our own child, and only the calls that are asked for cost time. */
const STRACE = ['strace', '-D', '-f', '--seccomp-bpf', '-qq']

export type Server = {
  readonly url: string
  readonly pid: number
  readonly signal: (signal: NodeJS.Signals) => void
  readonly said: () => string
  /** What it writes to its log reaches us on another way than its answers, at times behind them. */
  readonly untilSaid: (words: RegExp) => Promise<unknown>
  /** The exit code, null after a signal; resolves once all that was traced is written. */
  readonly ended: Promise<number | null>
  readonly kill: () => Promise<void>
}

type After = { after: (work: () => void | Promise<void>) => void }

/** Why tests below strace are skipped; false where it works. */
export function lacksStrace(): string | false {
  const { status } = spawnSync('strace', ['-o', '/dev/null', '-D', 'true'])
  return status === 0 ? false : 'strace is not installed or may not trace: apt-get install strace'
}

/** Records into `file` what reaches the disk and what is answered, with all bytes. */
export function tracing(file: string, more: readonly string[] = []): string[] {
  const calls = 'trace=pwrite64,ftruncate,fsync,fdatasync,write,writev'
  return [...STRACE, '-yy', '-xx', '-s', '8192', '-o', file, '-e', calls, ...more]
}

/** Lets calls fail, or only seem to succeed: `fdatasync:error=EIO:when=3` is the third of each thread. */
export function injecting(...faults: readonly string[]): string[] {
  return faults.flatMap((fault) => ['-e', `inject=${fault}`])
}

/**
 * Makes the database of the organization Acme on plan Pro; its path, and a token with all scopes. It is pruned, so
 * that faults are met by what a test does.
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

/** Adds an organization and returns a token of it for everything but administration. */
export function addOrganization(db: Db, name: string, plan: Plan): string {
  const deps = systemDeps(db)
  const { rowId: organizationId } = createOrganization(deps, { name, plan })
  return createToken(deps, { organizationId, name: 'faults', scopes: ['ingest', 'read', 'write'] }).token
}

/** Starts it on a free port of loopback; `under` is a command that runs the server below itself. */
export async function startServer(
  t: After,
  file: string,
  under: readonly string[] = [],
  flags: readonly string[] = [],
  longest = LONGEST,
): Promise<Server> {
  const [command = '', ...args] = [...under, ...PROGRAM_LINE, 'serve', '--port', '0', '--database', file, ...flags]
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH ?? '' },
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
