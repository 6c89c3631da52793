/**
 * What takes hours, by hand: `npm run test:soak`, or `npm run test:soak -- 10` for ten minutes of load instead of 120.
 * 200 webhooks a second, a backup every tenth of the time, and readers that come and go: memory, descriptors and the log must
 * stay bounded, and nothing may be lost. Then the timing of the token look-up is compared, and 20,000 bodies are fuzzed.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemDeps } from '../../src/deps.ts'
import { authenticate } from '../../src/operations/tokens.ts'
import { openStore } from '../../src/store/sqlite/open.ts'
import { alert, alertmanager } from '../helpers/senders.ts'
import { createGenerator, memoryOf } from './generator.ts'
import { acknowledged } from './load.ts'
import { missing } from './promise.ts'
import { makeDatabase, PROGRAM_LINE, startServer } from './server.ts'

const MINUTES = Number(process.argv[2] ?? 120)
const PER_SECOND = 200
const STEPS = 10
const LOG_LIMIT = 64 * 1_048_576
/** Look-ups of a wrong token of each kind, in turn. */
const TIMED = 20_000
/** Beyond this two means differ by more than chance. */
const MAX_T = 4.5

const faults: string[] = []
const directory = mkdtempSync(join(tmpdir(), 'incmon-soak-'))
const cleanups: (() => void | Promise<void>)[] = []
try {
  compareTokens()
  await soak()
  if (MINUTES > 0) fuzz()
} finally {
  for (const cleanup of cleanups) await cleanup()
  rmSync(directory, { recursive: true, force: true })
}
for (const fault of faults) console.error(fault)
process.exitCode = faults.length === 0 ? 0 : 1

async function soak(): Promise<void> {
  const { file, token } = makeDatabase(directory)
  const t = { after: (work: () => void | Promise<void>) => void cleanups.unshift(work) }
  const server = await startServer(t, file, [], [], (MINUTES + 60) * 60_000)
  const { post, atRate, tally, close } = createGenerator({ url: server.url, token }, 32)
  cleanups.unshift(close)
  const stored: string[] = []
  const memory: number[] = []
  let before = 0
  for (let step = 0; step < STEPS; step += 1) {
    await atRate(PER_SECOND, (MINUTES * 60) / STEPS, async (number) => {
      // A thousand alerts that fire again and again, and now and then a new one.
      const instance = number % 20 === 0 ? `new-${step}-${number}` : `i${number % 1_000}`
      const body = alertmanager([alert('Soak', { deployment: `shop-${number % 40}`, instance, severity: 'warning' })])
      const reply = await post('/api/webhooks/metrics', JSON.stringify(body))
      if (reply) stored.push(...new Set(acknowledged({ status: reply.status, body: JSON.parse(reply.text) })))
    })
    const backup = join(directory, 'backup.db')
    const [command = '', ...args] = PROGRAM_LINE
    const { status } = spawnSync(command, [...args, 'backup', backup, '--force', '--database', file])
    memory.push(memoryOf(server.pid).now)
    if (step === 1) before = descriptorsOf(server.pid)
    const log = statSync(`${file}-wal`).size
    console.log(
      `${step + 1}/${STEPS}: ${stored.length} stored, ${memory.at(-1)} MB, log ${Math.round(log / 1e6)} MB, backup ${status}`,
    )
    if (status !== 0) faults.push(`backup ${step + 1} ended with ${status}`)
    if (log > LOG_LIMIT) faults.push(`the log has ${log} bytes`)
  }
  const after = descriptorsOf(server.pid)
  server.signal('SIGTERM')
  const code = await server.ended
  const lost = missing(file, new Set(stored))
  console.log(
    `27: ${[...tally.statuses].join('; ')}, ${tally.broken} broken, ${lost.length} lost, memory ${memory.join(' ')} MB, descriptors ${before} to ${after}, exit ${code}`,
  )
  const growth = (memory.at(-1) ?? 0) - (memory[Math.floor(STEPS / 2)] ?? 0)
  if (lost.length > 0 || tally.broken > 0 || code !== 0) faults.push('27: lost, broken or no clean end')
  if (growth > Math.max(30, MINUTES / 10)) faults.push(`27: memory grew by ${growth} MB in the second half`)
  if (after > before + 10) faults.push(`27: descriptors grew from ${before} to ${after}`)
}

/** Whether a wrong token with the right beginning takes another time to look up than any other: Welch's t. */
function compareTokens(): void {
  const { file, token } = makeDatabase(mkdtempSync(join(directory, 'tokens-')))
  const db = openStore(file)
  const deps = systemDeps(db)
  const wrong = [`${token.slice(0, -4)}AAAA`, `incmon_${'z'.repeat(token.length - 7)}`]
  const times: [number[], number[]] = [[], []]
  for (let round = -1_000; round < TIMED; round += 1) {
    for (const kind of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const began = performance.now()
      authenticate(deps, wrong[kind] ?? '')
      if (round >= 0) times[kind].push(performance.now() - began)
    }
  }
  db.close()
  const score = welch(...times)
  console.log(`37: Welch's t of ${TIMED} wrong tokens of each kind: ${score.toFixed(2)}`)
  if (Math.abs(score) >= MAX_T) faults.push(`37: t = ${score}`)
}

function welch(one: readonly number[], other: readonly number[]): number {
  const [a, b] = [momentsOf(one), momentsOf(other)]
  return (a.mean - b.mean) / Math.sqrt(a.variance / one.length + b.variance / other.length)
}

/** Without the slowest tenth, which the machine is to blame for. */
function momentsOf(all: readonly number[]) {
  const times = all.toSorted((a, b) => a - b).slice(0, Math.ceil(all.length * 0.9))
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length
  return { mean, variance: times.reduce((sum, time) => sum + (time - mean) ** 2, 0) / (times.length - 1) }
}

function fuzz(): void {
  const runs = MINUTES >= 60 ? 10_000 : 150
  const flags = ['--import', 'tsx', '--test', '--test-timeout=7200000', 'tests/http/fuzz.test.ts']
  const { status } = spawnSync(process.execPath, flags, {
    stdio: 'inherit',
    env: { ...process.env, FUZZ_RUNS: String(runs) },
  })
  if (status !== 0) faults.push(`28: the fuzz tests ended with ${status}`)
}

function descriptorsOf(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length
}
