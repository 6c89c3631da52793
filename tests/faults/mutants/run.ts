/**
 * Negative controls: each mutant removes one safeguard from a copy of the program, which must make the corresponding
 * tests fail. `npm run test:mutants` runs all of them, `npm run test:mutants -- no-sync` only the named ones.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RULE_MUTANTS } from './of-rules.ts'
import { STORAGE_MUTANTS } from './of-storage.ts'

/** A change of the program that removes one safeguard. */
export type Mutant = {
  readonly name: string
  readonly file: string
  /** The text to replace, which must occur exactly once, and its replacement. */
  readonly from: string
  readonly to: string
  readonly test: string
  /** Runs only tests whose name contains this text. */
  readonly only?: string
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const MAX_TESTS = 300_000
const MUTANTS = [...STORAGE_MUTANTS, ...RULE_MUTANTS]

const wanted = process.argv.slice(2)
const chosen = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length === 0) throw new Error(`no such mutant: there are ${MUTANTS.map(({ name }) => name).join(', ')}`)
const survivors: Mutant[] = []
for (const mutant of chosen) if (!(await isCaught(mutant))) survivors.push(mutant)
console.log(
  `${chosen.length - survivors.length} of ${chosen.length} caught, ${Math.round(performance.now() / 60_000)} min`,
)
process.exitCode = survivors.length === 0 ? 0 : 1

async function isCaught(mutant: Mutant): Promise<boolean> {
  const copy = mkdtempSync(join(tmpdir(), 'incmon-mutant-'))
  try {
    for (const name of ['src', 'sql', 'tests', 'docs', 'examples'])
      cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    for (const name of ['package.json', 'tsconfig.json', 'README.md']) cpSync(join(ROOT, name), join(copy, name))
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const parts = readFileSync(join(copy, mutant.file), 'utf8').split(mutant.from)
    if (parts.length !== 2) {
      console.log(`MEND IT  ${mutant.name}  ${mutant.file} contains its text ${parts.length - 1} times`)
      return false
    }
    writeFileSync(join(copy, mutant.file), parts.join(mutant.to))
    const only = mutant.only === undefined ? [] : [`--test-name-pattern=${mutant.only}`]
    const { status, said } = await runTests(copy, [...only, mutant.test])
    const [, first = ''] = /^ *✖ (?!failing)(.*?) \(/m.exec(said) ?? []
    const isFound = status !== 0 && first !== ''
    const outcome = isFound ? 'caught  ' : status === 0 ? 'SURVIVED' : 'NO TEST '
    console.log(`${outcome}  ${mutant.name}  ${isFound ? first : mutant.test}`)
    return isFound
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}

/** Runs the tests in their own process group. After the last test, or after `MAX_TESTS`, the whole group is killed. */
async function runTests(cwd: string, chosen: readonly string[]) {
  const flags = ['--import', 'tsx', '--test', '--test-isolation=none', '--test-timeout=240000', '--test-reporter=spec']
  const child = spawn(process.execPath, [...flags, ...chosen], {
    ...{ cwd, detached: true, stdio: ['ignore', 'pipe', 'ignore'] },
    env: { ...process.env, FAULTS: 'short' },
  })
  const { pid } = child
  if (pid === undefined) throw new Error(`${process.execPath} cannot be started`)
  const endGroup = () => {
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      // All processes of the group have ended.
    }
  }
  const timer = setTimeout(endGroup, MAX_TESTS)
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  const [status] = await once(child, 'exit')
  clearTimeout(timer)
  endGroup()
  return { status, said }
}
