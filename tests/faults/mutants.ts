/**
 * Negative controls: each mutant removes one thing that the promise rests on, in a copy of the program, and the tests that
 * prove it must fail. `npm run test:mutants` runs all, `npm run test:mutants -- no-sync` the named ones.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

type Mutant = {
  readonly name: string
  readonly file: string
  /** A text that stands there once, and what stands there instead. */
  readonly from: string
  readonly to: string
  readonly test: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const STORE = 'src/store/sqlite'
const LOST = 'tests/store/log-file.test.ts'
const PLACE = 'tests/store/place.test.ts'

const MUTANTS: readonly Mutant[] = [
  {
    name: 'no-sync',
    file: `${STORE}/log-file.ts`,
    from: 'fdatasync(handle, (error) => {',
    to: 'setImmediate((error: Error | null = null) => {',
    test: 'tests/faults/power-loss.test.ts',
  },
  {
    name: 'no-full-sync',
    file: `${STORE}/file.ts`,
    from: "sqlite.pragma('synchronous = FULL')",
    to: "sqlite.pragma('synchronous = NORMAL')",
    test: 'tests/store/open.test.ts',
  },
  {
    name: 'ignored-sync-error',
    file: `${STORE}/log-file.ts`,
    from: 'if (error) throw error',
    to: 'if (error) return resolve()',
    test: 'tests/faults/disk-errors.test.ts',
  },
  {
    name: 'unwatched-log',
    file: `${STORE}/log-file.ts`,
    from: 'if (now.nlink === 0 || inodeOf(log) !== inode)',
    to: 'if (now.nlink === -1)',
    test: LOST,
  },
  {
    name: 'unwatched-size',
    file: `${STORE}/log-file.ts`,
    from: 'now.size < Math.min(size, LOG_LIMIT) || hasGap',
    to: 'hasGap',
    test: LOST,
  },
  {
    name: 'unseen-gap',
    file: `${STORE}/log-file.ts`,
    from: 'const hasGap = !isCompressed &&',
    to: 'const hasGap = isCompressed &&',
    test: LOST,
  },
  {
    name: 'no-rescue',
    file: `${STORE}/rescue.ts`,
    from: "sqlite.pragma('wal_checkpoint(PASSIVE)')",
    to: "sqlite.pragma('wal_checkpoint(NOOP)')",
    test: LOST,
  },
  {
    name: 'unresolved-link',
    file: `${STORE}/place.ts`,
    from: 'return real === resolve(file) ? file : real',
    to: 'return real === resolve(file) ? real : file',
    test: PLACE,
  },
  { name: 'hard-links', file: `${STORE}/place.ts`, from: 'links.nlink > 1', to: 'links.nlink > 9', test: PLACE },
  {
    name: 'lock-by-name',
    file: `${STORE}/lock.ts`,
    from: 'realNameOf(file)}.lock',
    to: 'file}.lock',
    test: PLACE,
  },
  {
    name: 'foreign-file',
    file: `${STORE}/file.ts`,
    from: "if (application === 'empty' || application === APPLICATION_ID) return",
    to: 'return',
    test: 'tests/store/open.test.ts',
  },
  {
    name: 'any-schema',
    file: `${STORE}/restore.ts`,
    from: 'if (difference) throw',
    to: 'if (difference === name) throw',
    test: 'tests/cli/restore-refusals.test.ts',
  },
  {
    name: 'uuid-follows-clock',
    file: 'src/domain/increasing-ids.ts',
    from: 'if (ms > time)',
    to: 'if (ms !== time)',
    test: 'tests/domain/increasing-ids.test.ts',
  },
  {
    name: 'unlimited-bodies',
    file: 'src/server/connection/pending-bodies.ts',
    from: 'total + bytes <= most',
    to: 'total + bytes > 0 || most > 0',
    test: 'tests/server/pending-bodies.test.ts',
  },
  {
    name: 'unseen-damage',
    file: 'src/server/damage.ts',
    from: 'if (isDamage(error)) remember',
    to: 'if (!isDamage(error)) remember',
    test: 'tests/server/damage.test.ts',
  },
  {
    name: 'any-encoding',
    file: 'src/http/middleware/body.ts',
    from: 'return encoding !== undefined &&',
    to: 'return encoding === undefined &&',
    test: 'tests/faults/bad-input.test.ts',
  },
  {
    name: 'unredacted',
    file: 'src/intake/redact.ts',
    from: 'export function redactText(text: string): string {',
    to: 'export function redactText(text: string): string {\n  if (text !== "") return text',
    test: 'tests/faults/canary.test.ts',
  },
]

const wanted = process.argv.slice(2)
const chosen = MUTANTS.filter(({ name }) => wanted.length === 0 || wanted.includes(name))
if (chosen.length === 0) throw new Error(`no such mutant: there are ${MUTANTS.map(({ name }) => name).join(', ')}`)
const survivors = chosen.filter((mutant) => !isCaught(mutant))
process.exitCode = survivors.length === 0 ? 0 : 1

function isCaught(mutant: Mutant): boolean {
  const copy = mkdtempSync(join(tmpdir(), 'incmon-mutant-'))
  try {
    for (const name of ['src', 'sql', 'tests', 'docs', 'examples'])
      cpSync(join(ROOT, name), join(copy, name), { recursive: true })
    for (const name of ['package.json', 'tsconfig.json', 'README.md']) cpSync(join(ROOT, name), join(copy, name))
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const parts = readFileSync(join(copy, mutant.file), 'utf8').split(mutant.from)
    if (parts.length !== 2)
      throw new Error(`${mutant.name}: ${mutant.file} holds that text ${parts.length - 1} times: mend the mutant`)
    writeFileSync(join(copy, mutant.file), parts.join(mutant.to))
    const flags = ['--import', 'tsx', '--test', '--test-timeout=240000', '--test-reporter=spec', mutant.test]
    const { status, stdout } = spawnSync(process.execPath, flags, { cwd: copy, encoding: 'utf8', timeout: 300_000 })
    const [, first = ''] = /^ *✖ (?!failing)(.*?) \(/m.exec(stdout) ?? []
    console.log(`${status === 0 ? 'SURVIVED' : 'caught'}  ${mutant.name}  ${status === 0 ? mutant.test : first}`)
    return status !== 0 && first !== ''
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
}
