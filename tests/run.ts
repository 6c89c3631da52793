/**
 * Runs every test, in four processes side by side: one process a file would load the program eighty times, one process
 * for all would leave the second core idle. Ends with what node's own runner ends with, for all of them together.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { staleness } from './helpers/executable.ts'

/** Those that mostly wait for other processes, and those that shuffle; the others take about as long together. */
const WAITING = /^tests\/(cli|ui)\/|^tests\/(alertmanager|build|examples|executable|smoke)\./
const SHUFFLING = /^tests\/(scenarios|operations)\//
/** Those that let disks and servers fail. */
const FAILING = /^tests\/faults\//
/** Those that run the executable. */
const DELIVERED = /^tests\/(examples|executable|smoke)\./
const COUNTS = ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const

const wanted = process.argv.slice(2)
const files = globSync(wanted.length > 0 ? wanted : 'tests/**/*.test.ts').sort()
const groups = [
  files.filter((file) => WAITING.test(file)),
  files.filter((file) => SHUFFLING.test(file)),
  files.filter((file) => FAILING.test(file)),
  files.filter((file) => ![WAITING, SHUFFLING, FAILING].some((group) => group.test(file))),
]
// What keeps it from being built is said by the build; its tests are skipped then.
if (staleness() && files.some((file) => DELIVERED.test(file))) {
  spawnSync(process.execPath, ['build.mjs'], { stdio: 'inherit' })
}
const began = performance.now()
const outcomes = await Promise.all(groups.filter((group) => group.length > 0).map(runTests))

const totals = COUNTS.map(
  (name) => `ℹ ${name} ${outcomes.reduce((sum, { counts }) => sum + (counts.get(name) ?? 0), 0)}`,
)
console.log([...totals, `ℹ duration_ms ${Math.round(performance.now() - began)}`].join('\n'))
const ran = outcomes.some(({ counts }) => (counts.get('pass') ?? 0) > 0)
if (!ran) console.error('no test ran')
process.exitCode = ran && outcomes.every(({ code }) => code === 0) ? 0 : 1

async function runTests(group: readonly string[]) {
  const args = ['--import', 'tsx', '--test', '--test-isolation=none', '--test-reporter=spec', ...group]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const lines = await linesOf(child)
  const counts = new Map<string, number>()
  const told = lines.filter((line) => {
    const [, name = '', count] = /^ℹ (\w+) ([\d.]+)$/.exec(line) ?? []
    counts.set(name, Number(count))
    return name === ''
  })
  console.log(told.join('\n'))
  return { code: child.exitCode, counts }
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  let out = ''
  child.stdout?.on('data', (chunk: Buffer) => {
    out += chunk.toString('utf8')
  })
  await once(child, 'close')
  return out.trimEnd().split('\n')
}
