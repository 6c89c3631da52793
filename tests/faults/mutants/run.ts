/**
 * Negative controls: each mutant removes one thing that the promise rests on, in a copy of the program, and the tests that
 * prove it must fail. `npm run test:mutants` runs all, `npm run test:mutants -- no-sync` the named ones.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RULE_MUTANTS } from './of-rules.ts'
import { STORAGE_MUTANTS } from './of-storage.ts'

/** A change of the program that removes one thing which the promise rests on. */
export type Mutant = {
  readonly name: string
  readonly file: string
  /** A text that stands there once, and what stands there instead. */
  readonly from: string
  readonly to: string
  readonly test: string
  /** Only the tests whose name contains this text. */
  readonly only?: string
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const MUTANTS = [...STORAGE_MUTANTS, ...RULE_MUTANTS]

const wanted = process.argv.slice(2)
const chosen = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length === 0) throw new Error(`no such mutant: there are ${MUTANTS.map(({ name }) => name).join(', ')}`)
const survivors = chosen.filter((mutant) => !isCaught(mutant))
console.log(
  `${chosen.length - survivors.length} of ${chosen.length} caught, ${Math.round(performance.now() / 60_000)} min`,
)
process.exitCode = survivors.length === 0 ? 0 : 1

function isCaught(mutant: Mutant): boolean {
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
    const flags = ['--import', 'tsx', '--test', '--test-timeout=240000', '--test-reporter=spec', ...only, mutant.test]
    const { status, stdout } = spawnSync(process.execPath, flags, {
      ...{ cwd: copy, encoding: 'utf8', timeout: 300_000 },
      env: { ...process.env, FAULTS: 'short' },
    })
    const [, first = ''] = /^ *✖ (?!failing)(.*?) \(/m.exec(stdout) ?? []
    console.log(`${status === 0 ? 'SURVIVED' : 'caught'}  ${mutant.name}  ${status === 0 ? mutant.test : first}`)
    return status !== 0 && first !== ''
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
