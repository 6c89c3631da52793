/** Starts the real program as a user would. Commands that are rejected run in this process, which is faster. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Readable, Writable } from 'node:stream'
import { type Command, CommanderError } from 'commander'
import { createProgram, runProgram } from '../../src/cli/cli.ts'
import { explainFailure } from '../../src/cli/failure.ts'
import { spellCommands } from '../../src/cli/output.ts'
import { CACHED, MAIN } from './bundle.ts'
import { unstarved } from './server.ts'

// Makes messages call the program "incmon", as if it was not started by npm.
delete process.env.npm_lifecycle_event

/** A command that takes longer, in milliseconds, is killed, and its standard error says so. */
const LONGEST = 180_000

export { CACHED, MAIN }

type After = { after: (work: () => void) => void }
export type Outcome = { readonly code: number | null; readonly out: string; readonly err: string }

/** A running command with its output so far. */
export function start(
  cwd: string,
  args: readonly string[],
  env: Record<string, string> = {},
  uid: number | null = null,
) {
  return run(cwd, process.execPath, [MAIN, ...args], env, uid)
}

function run(cwd: string, command: string, args: readonly string[], env: Record<string, string>, uid: number | null) {
  const child = spawn(command, args, {
    cwd,
    env: { PATH: process.env.PATH ?? '', ...CACHED, ...env },
    ...(uid === null ? {} : { uid, gid: uid }),
  })
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk) => {
    said.err += chunk
  })
  child.stdin.on('error', () => {})
  const timer = setTimeout(() => {
    said.err += `\n(killed: it had not ended after ${LONGEST} ms)\n`
    child.kill('SIGKILL')
  }, LONGEST)
  child.once('close', () => clearTimeout(timer))
  return { child, said }
}

/** Runs a command in a directory until it ends. With `until`, stops it when its standard output contains this text. */
export async function incmon(
  cwd: string,
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string | Promise<string>; until?: string; uid?: number | null } = {},
): Promise<Outcome> {
  const { child, said } = start(cwd, args, more.env, more.uid)
  void Promise.resolve(more.input ?? '').then((text) => child.stdin.end(text))
  if (more.until !== undefined) stopOnce(child, said, more.until)
  const [code] = await once(child, 'close')
  return { code, ...said }
}

/** Sends a single signal, because a second one after half a second would end the program immediately. */
function stopOnce(child: ChildProcess, said: Readonly<{ out: string }>, until: string): void {
  const onData = () => {
    if (!said.out.includes(until)) return
    child.stdout?.off('data', onData)
    child.kill('SIGTERM')
  }
  child.stdout?.on('data', onData)
}

let lastCall: Promise<unknown> = Promise.resolve()

/**
 * Runs a command until it ends, in this process, which saves starting another. Calls run one after another, because a
 * process has one directory, environment and output.
 */
export function call(
  cwd: string,
  args: readonly string[],
  more: { env?: Record<string, string>; input?: string } = {},
): Promise<Outcome> {
  const next = lastCall.then(() => callAlone(cwd, args, more))
  lastCall = next.catch(() => {})
  return next
}

async function callAlone(
  cwd: string,
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string },
): Promise<Outcome> {
  const [stdout, stderr] = [collecting(), collecting()]
  const { env: ownEnv } = process
  const ownCwd = process.cwd()
  const streams = Object.entries({ stdin: Readable.from([Buffer.from(input)]), stdout, stderr })
  const own = streams.map(([name]) => [name, Object.getOwnPropertyDescriptor(process, name) ?? {}] as const)
  process.chdir(cwd)
  process.env = { PATH: ownEnv.PATH, ...env }
  for (const [name, value] of streams) Object.defineProperty(process, name, { value, configurable: true })
  try {
    const code = await runProgram(args)
    return { code, out: stdout.text(), err: stderr.text() }
  } finally {
    for (const [name, descriptor] of own) Object.defineProperty(process, name, descriptor)
    process.env = ownEnv
    process.chdir(ownCwd)
  }
}

/** A stream that collects what is written to it. */
function collecting() {
  const chunks: Buffer[] = []
  const stream = new Writable({
    write: (chunk, _, done) => {
      chunks.push(Buffer.from(chunk))
      done()
    },
  })
  return Object.assign(stream, { text: () => Buffer.concat(chunks).toString() })
}

/**
 * Runs a command that checks whether a server is ready. Retries if the server only reports that the machine is busy.
 */
export function asking(...args: Parameters<typeof call>): Promise<Outcome> {
  // Node reads this variable when a process starts.
  const run = args[2]?.env?.NODE_EXTRA_CA_CERTS === undefined ? call : incmon
  return unstarved(() => run(...args))
}

/** Runs a shell script, for tests with pipes and limits. `incmon` in the script runs the program. */
export async function shell(cwd: string, script: string): Promise<Outcome> {
  const program = `incmon() { '${process.execPath}' '${MAIN}' "$@"; }`
  const { child, said } = run(cwd, '/bin/sh', ['-c', `${program}\n${script}`], {}, null)
  child.stdin.end()
  const [code] = await once(child, 'close')
  return { code, ...said }
}

/**
 * Starts a server, by default on a free port. Resolves when it is listening. If it is still running after the test, it is killed.
 */
export async function incmonServe(t: After, cwd: string, env: Record<string, string> = {}, port = '0') {
  const { child, said } = start(cwd, ['serve', '--port', port], env)
  t.after(() => child.kill('SIGKILL'))
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', () => {
      const [, found] = /incmon listens on (\S+)\n/.exec(said.out) ?? []
      if (found) resolve(found)
    })
    child.once('close', () => reject(new Error(`the server ended: ${said.out}${said.err}`)))
  })
  return { url, said, child, stop: (signal: NodeJS.Signals = 'SIGTERM') => stop(child, signal) }
}

async function stop(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const closed = once(child, 'close')
  child.kill(signal)
  const [code] = await closed
  return code
}

/** Runs a rejected command in this process. Returns its output and exit code. */
export async function refusal(args: readonly string[]): Promise<{ readonly text: string; readonly code: number }> {
  const program = await createProgram(Date.now)
  silence(program)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const { lines, exitCode } = explainFailure(error)
    const spelled = lines.map((line) => spellCommands(line, program.opts()))
    return { text: error instanceof CommanderError ? error.message : spelled.join('\n'), code: exitCode }
  }
  throw new Error(`not refused: ${args.join(' ')}`)
}

function silence(command: Command): void {
  command.configureOutput({ outputError: () => {}, writeErr: () => {} })
  for (const child of command.commands) silence(child)
}
