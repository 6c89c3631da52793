/** Programs that some tests need. If they are missing, those tests are skipped, except in CI. */
import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const PROGRAMS = [
  'chromium-headless-shell',
  'zsh',
  'fish',
  'strace',
  'openssl',
  'curl',
  'prometheus',
  'prometheus-alertmanager',
  'amtool',
  'systemd-analyze',
  'strip',
  'kubectl',
] as const

/** Test files that cannot skip themselves, recognized by what they import or run. */
const NEEDED_BY: Readonly<Record<string, RegExp>> = {
  'chromium-headless-shell': /from '[./]*\/helpers\/browser\.ts'/,
  openssl: /from '[./]*\/helpers\/certificates\.ts'|Sync\('openssl'/,
  curl: /\bcurl -|walkthrough\.sh|spawn\('bash', \['block/,
}

/** Returns the programs that are not on the PATH. */
export function missingPrograms(path = process.env.PATH ?? ''): string[] {
  return PROGRAMS.filter((program) => !path.split(delimiter).some((directory) => isProgram(join(directory, program))))
}

/** Returns the test files that can run without the missing programs. */
export function runnable(files: readonly string[], missing: readonly string[]): string[] {
  const needs = missing.flatMap((program) => NEEDED_BY[program] ?? [])
  return files.filter((file) => needs.length === 0 || !needs.some((need) => need.test(readFileSync(file, 'utf8'))))
}

/** Returns one line about the skipped tests, or null if no program is missing. */
export function skippedLine(missing: readonly string[]): string | null {
  if (missing.length === 0) return null
  return `skipped: the tests that need ${missing.join(', ')}. Install them with "npm run setup-dev".`
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
