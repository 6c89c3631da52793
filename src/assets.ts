/** Files that travel with the program: the only place that knows whether it runs from a checkout or as an executable. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The text of `sql/<name>.sql`. */
export function migrationText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../sql/${name}.sql`, import.meta.url)), 'utf8')
}

/** The program's version, as package.json has it. */
export function programVersion(): string {
  const text = readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}
