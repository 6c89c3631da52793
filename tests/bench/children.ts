/**
 * Manages child processes: tracks them by pid, pauses some while others are measured, and ends them with the benchmark.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'

export type Child = {
  /** The pid of the program itself, even if it runs under another one such as strace. */
  readonly pid: number
  /** According to `performance.now()`. */
  readonly startedAt: number
  /** Returns the end of its output, to explain a failure. */
  readonly said: () => string
  /** Resolves with the first match in the output on either stream. Rejects if the process ends first. */
  readonly says: (pattern: RegExp) => Promise<string>
  readonly stop: () => Promise<void>
}

const running = new Set<ChildProcess>()
const TIMEOUT_MS = 60_000
const KEPT = 4_000

// A failed or interrupted benchmark leaves no processes behind.
process.on('exit', () => {
  for (const child of running) if (child.pid) endTree(child.pid)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1))

export function start(
  command: string,
  args: readonly string[],
  options: { readonly env?: Record<string, string>; readonly cwd?: string } = {},
): Child {
  const env = { PATH: process.env.PATH ?? '', NODE_ENV: 'production', ...options.env }
  const startedAt = performance.now()
  const child = spawn(command, args, { env, cwd: options.cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  child.once('close', () => running.delete(child))
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      said = (said + chunk).slice(-KEPT)
      child.emit('said')
    })
  }
  return {
    get pid() {
      return innermost(child.pid ?? 0)
    },
    startedAt,
    said: () => said,
    says: (pattern) => awaitWords(child, () => said, pattern),
    stop: () => stop(child),
  }
}

function awaitWords(child: ChildProcess, said: () => string, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`${child.spawnfile} ${why}: ${said()}`))
    const timer = setTimeout(() => fail(`did not start within ${TIMEOUT_MS} ms`), TIMEOUT_MS)
    const check = () => {
      const found = pattern.exec(said())
      if (!found) return
      clearTimeout(timer)
      child.off('said', check)
      resolve(found[1] ?? found[0])
    }
    child.on('said', check)
    child.once('error', (error) => fail(`could not be started: ${error.message}`))
    child.once('close', () => {
      clearTimeout(timer)
      fail('ended early')
    })
    check()
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (!running.has(child) || !child.pid) return
  const closed = once(child, 'close')
  const pid = innermost(child.pid)
  process.kill(pid, 'SIGCONT')
  process.kill(pid, 'SIGTERM')
  const timer = setTimeout(() => endTree(child.pid ?? 0), TIMEOUT_MS)
  await closed
  clearTimeout(timer)
}

function endTree(pid: number): void {
  for (const one of [innermost(pid), pid]) {
    try {
      if (one > 0) process.kill(one, 'SIGKILL')
    } catch {
      // The process has already ended.
    }
  }
}

/** Under strace, the program is the only child. */
function innermost(pid: number): number {
  try {
    if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('strace')) return pid
    const [only = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')
    return only === '' ? pid : Number(only)
  } catch {
    return pid
  }
}

/** Pauses all servers except one, so that the others do not take its CPU time. */
export function silenceAllBut(one: Child, all: readonly Child[]): void {
  for (const child of all) process.kill(child.pid, child === one ? 'SIGCONT' : 'SIGSTOP')
}

/** Returns the current and peak resident memory in megabytes. */
export function memoryOf(child: Child): { readonly now: number; readonly highest: number } {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const kilobytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
  return { now: kilobytes('VmRSS') / 1000, highest: kilobytes('VmHWM') / 1000 }
}

/** Returns the CPU time of a process's main thread in milliseconds. */
export function workedBy({ pid }: Pick<Child, 'pid'>): number {
  return schedule(pid).worked
}

/** Returns the CPU time of all running threads of a process in milliseconds. */
export function workedByAll({ pid }: Pick<Child, 'pid'>): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + schedule(pid, thread).worked, 0)
}

/** Returns how long the main thread has waited for a CPU, in milliseconds. */
export function queuedBy({ pid }: Pick<Child, 'pid'>): number {
  return schedule(pid).queued
}

function schedule(pid: number, thread: number | string = pid): { readonly worked: number; readonly queued: number } {
  const [worked = '0', queued = '0'] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')
  return { worked: Number(worked) / 1e6, queued: Number(queued) / 1e6 }
}
