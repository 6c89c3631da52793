/**
 * Runs the forty proofs and prints one table of them: `npm run test:faults`. With INCMON set to an executable, servers are
 * started from it. Ends with 1 if any of them is not met. `--markdown` prints the table for docs/promise.md.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { ELSEWHERE, FORTY } from './forty.ts'
import { REPORTER, readReport, resultOf, type Said } from './report.ts'

const isMarkdown = process.argv.includes('--markdown')
/** Those that measure time have the machine for themselves. */
const MEASURING = /^tests\/faults\/(load|mixed|bad-input)\.test\.ts$/

const files = [...new Set(FORTY.flatMap(({ proofs }) => proofs.map(({ file }) => file)))]
const began = performance.now()
const [quiet, loud] = [files.filter((file) => !MEASURING.test(file)), files.filter((file) => MEASURING.test(file))]
const faults = quiet.filter((file) => file.startsWith('tests/faults/'))
const others = quiet.filter((file) => !file.startsWith('tests/faults/'))
const texts = await Promise.all([run(faults), run(others)])
texts.push(await run(loud))
const said = readReport(texts.join('\n'))
const failed = print(said)
console.log(`\n${Math.round((performance.now() - began) / 1000)} s, ${said.outcomes.length} tests`)
process.exitCode = failed.length === 0 ? 0 : 1

async function run(group: readonly string[]): Promise<string> {
  const flags = ['--import', 'tsx', '--test', '--test-isolation=none', '--test-timeout=300000', '--test-concurrency=1']
  const child = spawn(process.execPath, [...flags, `--test-reporter=${REPORTER}`, ...group], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.on('data', (chunk) => {
    text += chunk
  })
  await once(child, 'close')
  return text
}

/** Returns the numbers of those that are not met. */
function print(said: Said): number[] {
  const rows = FORTY.map((row) => {
    const figure = (said.figures.get(row.number) ?? []).join('; ')
    return [
      String(row.number),
      row.title,
      figure || testsOf(row.number, said),
      row.limit,
      row.control ?? '–',
      resultOf(row, said),
    ]
  })
  const elsewhere = ELSEWHERE.map(([number, title, where]) => [
    String(number),
    title,
    '–',
    '–',
    '–',
    `not here: ${where}`,
  ])
  const sorted = [...rows, ...elsewhere].sort(([a], [b]) => Number(a) - Number(b))
  const table = [['', 'Proof', 'Measured', 'Limit', 'Seen to fail', 'Result'], ...sorted]
  const line = isMarkdown ? (cells: string[]) => `| ${cells.join(' | ')} |` : (cells: string[]) => cells.join('  ·  ')
  const [head = [], ...body] = table
  console.log([line(head), ...(isMarkdown ? ['|---|---|---|---|---|---|'] : []), ...body.map(line)].join('\n'))
  for (const { file, name, state, ...why } of said.outcomes.filter(({ state }) => state === 'failed'))
    console.error(`${state}: ${name} (${file}) ${'why' in why ? why.why : ''}`)
  return FORTY.filter((row) => !['met', 'machine busy'].includes(resultOf(row, said))).map(({ number }) => number)
}

function testsOf(number: number, { outcomes }: Said): string {
  const files = FORTY.find((row) => row.number === number)?.proofs.map(({ file }) => file) ?? []
  return `${outcomes.filter(({ file, state }) => files.includes(file) && state === 'passed').length} tests`
}
