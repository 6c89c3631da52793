/** Files that travel with the program: the only place that knows whether it runs from a checkout or as an executable. */
import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'

/** The text of `sql/<name>.sql`. */
export function migrationText(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../sql/${name}.sql`, import.meta.url)), 'utf8')
}

/** The program's version, as package.json has it. */
export function programVersion(): string {
  const text = readFileSync(fileURLToPath(new URL('../package.json', import.meta.url)), 'utf8')
  return (JSON.parse(text) as { version: string }).version
}

/** Starts `src/workers/<name>` in a thread of its own, which gets a copy of the data. */
export function startWorker(name: string, data: unknown): Worker {
  // Node reads our TypeScript by itself; a bundle has its own ending.
  const file = new URL(`./workers/${name}${extname(import.meta.url)}`, import.meta.url)
  return new Worker(file, { workerData: data, execArgv: [] })
}
