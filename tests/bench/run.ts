/** The bench: measures what was asked for, shows the tables, and writes them where that is wanted. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bench } from './bench.ts'
import { bundle } from './bundle.ts'
import { benchSlowDisk } from './fsync.ts'
import { benchIngest } from './ingest.ts'
import { isInstalled } from './load.ts'
import { benchMemory } from './memory.ts'
import { type Options, PARTS, type PartName, readOptions, USAGE } from './options.ts'
import { benchPrune } from './prune.ts'
import { benchReads } from './reads.ts'
import { type Part, toMarkdown, toText } from './report.ts'
import { benchStart } from './start.ts'

const MEASURES: Readonly<Record<PartName, (bench: Bench) => Promise<Part[]>>> = {
  ingest: benchIngest,
  fsync: benchSlowDisk,
  start: benchStart,
  reads: benchReads,
  memory: benchMemory,
  prune: benchPrune,
}
const MILLION = 1_000_000

if (process.env.CI === 'true') print('The bench is not run in CI: shared machines measure nothing.')
else await run(options())

function options(): Options {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    print(`${error instanceof Error ? error.message : error}\n${USAGE}`)
    process.exit(2)
  }
}

async function run(options: Options): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-bench-'))
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
  const tell = (line: string) => void process.stderr.write(`${line}\n`)
  const bench: Bench = { ...options, ...(await bundle(directory)), directory, tell }
  const parts: Part[] = []
  for (const name of partsOf(options)) {
    if (name !== 'reads' && name !== 'prune' && !isInstalled('wrk'))
      parts.push(`${name} was skipped: wrk is not installed.`)
    else parts.push(...(await MEASURES[name](bench)))
  }
  print(`\n${machine()}\n\n${parts.map(toText).join('\n')}`)
  if (options.output) writeFileSync(options.output, `# Bench\n\n${machine()}\n\n${parts.map(toMarkdown).join('\n')}`)
}

/** Memory and pruning take minutes, so that they want rows enough, or to be named. */
function partsOf({ only, rows }: Options): readonly PartName[] {
  if (only) return [only]
  return PARTS.filter((name) => (name !== 'memory' && name !== 'prune') || rows >= MILLION)
}

function machine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model.trim()}, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
