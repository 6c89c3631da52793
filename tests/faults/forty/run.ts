/**
 * Runs the proofs and prints a table of the results: `npm run test:faults`. Exits with 1 if any proof is not met. If
 * INCMON is set to an executable, it is tested instead of the source. `--short` takes a few minutes instead of 15 and runs
 * for every commit. `--markdown` also updates the table in tests/faults/README.md. `--within SECONDS` leaves out and names
 * the files that measure time and have not begun by then.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { takePriority } from '../size.ts'
import { FORTY } from './forty.ts'
import { passedOf, REPORTER, readReport, resultOf, type Said } from './report.ts'

const isMarkdown = process.argv.includes('--markdown')
const isShort = process.argv.includes('--short')
/** Files that measure time run one at a time. */
const MEASURING = /^tests\/faults\/(load|history|bad-input|hostile-clients|streams|soak|wrong-tokens)\.test\.ts$/
/** The restarts after kills are also measured, unless the run is short. */
const isMeasuring = (file: string) => MEASURING.test(file) || (!isShort && file === 'tests/faults/kill.test.ts')
const DOCUMENT = 'tests/faults/README.md'
const MAX_TEST = 900_000
const within = process.argv.indexOf('--within')
const maxSeconds = within < 0 ? Number.POSITIVE_INFINITY : Number(process.argv[within + 1])

const files = [...new Set(FORTY.flatMap(({ proofs }) => proofs.map(({ file }) => file)))]
const began = performance.now()
const [quiet, loud] = [files.filter((file) => !isMeasuring(file)), files.filter(isMeasuring)]
const faults = quiet.filter((file) => file.startsWith('tests/faults/'))
const others = quiet.filter((file) => !file.startsWith('tests/faults/'))
const texts = await Promise.all([run(faults), run(others)])
const restorePriority = takePriority()
const leftOut: string[] = []
for (const file of loud) {
  if (performance.now() - began > maxSeconds * 1000) leftOut.push(file)
  else texts.push(await run([file]))
}
restorePriority()
const said = readReport(texts.join('\n'))
const failed = print(said)
console.log(`\n${Math.round((performance.now() - began) / 1000)} s, ${said.outcomes.length} tests`)
process.exitCode = failed.length === 0 ? 0 : 1

async function run(group: readonly string[]): Promise<string> {
  const flags = ['--import', 'tsx', '--test', '--test-isolation=none', '--test-concurrency=1']
  const reporting = [`--test-timeout=${MAX_TEST}`, `--test-reporter=${REPORTER}`]
  const child = spawn(process.execPath, [...flags, ...reporting, ...group], {
    env: { ...process.env, FAULTS: isShort ? 'short' : 'whole' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return text
}

/** Prints the table. Returns the numbers of the proofs that are not met. */
function print(said: Said): number[] {
  const rows = FORTY.toSorted((a, b) => a.number - b.number).map((row) => {
    const figure = said.figures.get(row.number)?.join('; ') ?? `${passedOf(row, said)} tests`
    return [String(row.number), row.title, figure, row.limit, row.control, resultOf(row, said)]
  })
  const head = ['', 'Proof', 'Measured', 'Limit', 'Seen to fail', 'Result']
  console.log([head, ...rows].map((cells) => cells.join('  ·  ')).join('\n'))
  if (isMarkdown) quote([head, head.map(() => '---'), ...rows])
  for (const { file, name, state, ...why } of said.outcomes.filter(({ state }) => state === 'failed'))
    console.error(`${state}: ${name} (${file}) ${'why' in why ? why.why : ''}`)
  for (const [number, words] of said.unjudged) console.error(`the time of ${number} was not judged: ${words}`)
  if (leftOut.length > 0) console.error(`left out after ${maxSeconds} s: ${leftOut.join(', ')}`)
  const ran = FORTY.filter(({ proofs }) => !proofs.some(({ file }) => leftOut.includes(file)))
  return ran.filter((row) => !['met', 'time not judged'].includes(resultOf(row, said))).map(({ number }) => number)
}

/** Updates the table in tests/faults/README.md, and the sentence that says how it was measured. */
function quote(rows: readonly (readonly string[])[]): void {
  const day = new Date().toLocaleDateString('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })
  const [cores, form] = [availableParallelism(), isShort ? 'short' : 'full']
  const program = process.env.INCMON ? 'executable' : 'source'
  const table = rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')
  const text = readFileSync(DOCUMENT, 'utf8')
    .replace(
      /^The figures were measured on .*$/m,
      `The figures were measured on ${day} by running the ${form} form of the proofs against the ${program} on ${cores} cores.`,
    )
    .replace(/^\| +\| Proof[\s\S]*?(?=\n\n|\n*$(?![\s\S]))/m, () => table)
  writeFileSync(DOCUMENT, text)
}
