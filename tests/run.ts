/**
 * Runs all tests in four parallel processes. One process per file would load the program hundreds of times, and a single
 * process would leave the second core idle. Large groups of files are halved, and a process that ends makes room for the
 * next half, so that none runs alone for long. Prints one summary for all processes, in the format of Node's test runner,
 * and the failures last. A test that hangs is reported and killed. Files that do not exist or contain no tests are
 * errors. A few files that fail are run again alone, because the processes compete for the cores.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync } from 'node:fs'
import { staleness } from './helpers/executable.ts'
import { emptyFiles, failedFiles, type Happening, happeningIn, REPORTER, whatHangs } from './helpers/happenings.ts'
import { missingPrograms, runnable, skippedLine } from './helpers/programs.ts'

/**
 * Tests that mostly wait for other processes, browser tests, and property tests. All other tests together take as long as
 * the first two.
 */
const WAITING = /^tests\/(cli|docs)\/|^tests\/(alertmanager|build|examples|executable|smoke)\./
const BROWSING = /^tests\/pages\//
const SHUFFLING = /^tests\/(scenarios|actions)\//
/**
 * Tests with failing disks and servers. `npm run test:faults` runs all of them, `npm test` only those given as
 * arguments.
 */
const FAILING = /^tests\/faults\//
/** Random requests for minutes. Only CI runs them, unless they are given as arguments. */
const FUZZING = /\/fuzz\.test\.ts$/
/** Tests of the executable. */
const DELIVERED = /^tests\/(examples|executable|smoke)\./
const COUNTS = ['tests', 'pass', 'fail', 'cancelled', 'skipped', 'todo'] as const

/**
 * Many times the duration of the longest test on a busy machine, in milliseconds. Node aborts a longer test and reports
 * it.
 */
const MAX_TEST = 300_000
/**
 * After this time without output, the whole process is killed: it is blocked, or no test is running and something was
 * left open. Synchronous tests that follow each other are reported together, so less time would kill a busy process.
 */
const MAX_SILENCE = MAX_TEST + 30_000
/** These signals print the same report. */
const SIGNALS = ['SIGINT', 'SIGTERM'] as const
/** How long a process has to report failures before it is killed, in milliseconds. */
const MAX_FAREWELL = 10_000
/** Two for each core: many tests wait. */
const PROCESSES = 4
/** A group with more files is halved. */
const MAX_WHOLE = 30
/** If more files fail, the machine is not the reason. */
const MAX_REPEATED = 5

const wanted = process.argv.slice(2).map((one) => ({ pattern: one, files: globSync(one) }))
for (const { pattern } of wanted.filter(({ files }) => files.length === 0)) {
  console.error(`there is no test file ${pattern}: name files in tests/, or none to run all tests`)
  process.exit(2)
}
const missing = missingPrograms()
const isCi = process.env.CI === 'true'
if (isCi && missing.length > 0) {
  console.error(`CI must not skip tests: ${missing.join(', ')} missing. Install with "npm run setup-dev".`)
  process.exit(1)
}
const named = [
  ...new Set(
    wanted.length > 0
      ? wanted.flatMap((one) => one.files)
      : globSync('tests/**/*.test.ts').filter((file) => !FAILING.test(file) && (isCi || !FUZZING.test(file))),
  ),
].sort()
const files = runnable(named, missing)
const groups = [
  files.filter((file) => ![WAITING, BROWSING, SHUFFLING, FAILING].some((group) => group.test(file))),
  files.filter((file) => WAITING.test(file)),
  files.filter((file) => BROWSING.test(file)),
  files.filter((file) => SHUFFLING.test(file)),
  files.filter((file) => FAILING.test(file)),
]
const isFirst = (group: readonly string[], index: number) => group.length <= MAX_WHOLE || index % 2 === 0
const queue = [
  ...groups.map((group) => group.filter((_, index) => isFirst(group, index))),
  ...groups.map((group) => group.filter((_, index) => !isFirst(group, index))),
].filter((group) => group.length > 0)
// If the build fails, it prints the reason, and the executable's tests are skipped.
if (staleness() && files.some((file) => DELIVERED.test(file))) {
  spawnSync(process.execPath, ['build.mjs'], { stdio: 'inherit' })
}
const began = performance.now()
const outcomes: Outcome[] = []
await Promise.all(
  Array.from({ length: PROCESSES }, async () => {
    for (let group = queue.shift(); group; group = queue.shift()) outcomes.push(await runTests(group))
  }),
)
const recovered = await passingAlone()

const totals = COUNTS.map((name) => `ℹ ${name} ${total(name)}`)
console.log([...totals, `ℹ duration_ms ${Math.round(performance.now() - began)}`].join('\n'))
for (const { failures } of outcomes) if (failures.length > 0) console.log(failures.join('\n'))
for (const file of recovered) console.log(`${file} failed beside other tests and passed alone: make it independent`)
const skipped = skippedLine(missing)
if (skipped !== null) console.log(skipped)
const ran = outcomes.some(({ counts }) => (counts.get('pass') ?? 0) > 0)
const told = outcomes.flatMap((outcome) => outcome.faults)
const faults = ran || told.length > 0 ? told : ['no test ran']
for (const fault of faults) console.error(fault)
const hasPassed = outcomes.every(({ code, failed }) => code === 0 || (failed.length > 0 && recovered.length > 0))
process.exitCode = faults.length === 0 && hasPassed ? 0 : 1

/** Returns how many tests have this result. A test of a file that passed alone has passed. */
function total(name: (typeof COUNTS)[number]): number {
  const counted = (one: string) => outcomes.reduce((sum, { counts }) => sum + (counts.get(one) ?? 0), 0)
  if (recovered.length === 0) return counted(name)
  if (name === 'fail' || name === 'cancelled') return 0
  return name === 'pass' ? counted('pass') + counted('fail') + counted('cancelled') : counted(name)
}

/**
 * Runs the files with failing tests again when nothing else runs, and returns them if all their tests pass. Four
 * processes on two cores starve each other, so a test with a real program can fail although incmon has no fault.
 */
async function passingAlone(): Promise<readonly string[]> {
  const failed = outcomes.flatMap((outcome) => outcome.failed)
  const hasDied = outcomes.some(({ faults }) => faults.length > 0)
  if (outcomes.length < 2 || hasDied || failed.length === 0 || failed.length > MAX_REPEATED) return []
  console.log(`running ${failed.join(', ')} again, alone`)
  const { code, faults } = await runTests(failed)
  return code === 0 && faults.length === 0 ? failed : []
}

type Outcome = Awaited<ReturnType<typeof runTests>>

async function runTests(group: readonly string[]) {
  // As in the executable: V8 rarely aborts the process when it replaces the wrappers of WebAssembly.
  const keptWrappers = '--wasm-wrapper-tiering-budget=2147483647'
  const flags = [keptWrappers, '--import', 'tsx', '--test', '--test-isolation=none', `--test-timeout=${MAX_TEST}`]
  const reporters = ['spec', REPORTER].flatMap((one) => [
    `--test-reporter=${one}`,
    '--test-reporter-destination=stdout',
  ])
  const child = spawn(process.execPath, [...flags, ...reporters, ...group], { stdio: ['ignore', 'pipe', 'inherit'] })
  const { lines, happenings, hung } = await watched(child)
  const counts = new Map<string, number>()
  const told = lines.filter((line) => {
    const [, name = '', count] = /^ℹ (\w+) ([\d.]+)$/.exec(line) ?? []
    counts.set(name, Number(count))
    return name === ''
  })
  const failing = told.indexOf('✖ failing tests:')
  const failures = failing < 0 ? [] : told.splice(failing)
  console.log(told.join('\n'))
  const empty = emptyFiles(happenings).map((file) => `no test in ${file}`)
  const died =
    child.signalCode && `${child.signalCode} ended a process with ${group.length} test files, from ${group[0]}`
  const ended = hung ?? died
  const failed = failedFiles(happenings)
  return { code: child.exitCode, counts, failures, failed, faults: ended === null ? empty : [...empty, ended] }
}

/** Collects the output and tests of a process until it ends. If the process had to be killed, reports what hung. */
async function watched(child: ChildProcess) {
  const lines: string[] = []
  const happenings: Happening[] = []
  let hung: string | null = null
  const giveUp = () => {
    hung = whatHangs(happenings)
    child.kill('SIGTERM')
    timer = setTimeout(() => child.kill('SIGKILL'), MAX_FAREWELL)
  }
  let timer = setTimeout(giveUp, MAX_SILENCE)
  for (const signal of SIGNALS) process.once(signal, giveUp)
  const hear = (line: string) => {
    const happening = happeningIn(line)
    if (!happening) return void lines.push(line)
    happenings.push(happening)
    if (hung !== null) return
    clearTimeout(timer)
    timer = setTimeout(giveUp, MAX_SILENCE)
  }
  let rest = ''
  // readline would treat a name that contains U+2028 as two lines.
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = `${rest}${chunk}`.split('\n')
    rest = parts.pop() ?? ''
    for (const line of parts) hear(line)
  })
  await once(child, 'close')
  if (rest !== '') lines.push(rest)
  clearTimeout(timer)
  for (const signal of SIGNALS) process.off(signal, giveUp)
  return { lines, happenings, hung }
}
