/** Benchmarks the executable: measures the selected parts, prints the tables, and optionally writes them to a file. */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, tmpdir } from 'node:os'
import { join } from 'node:path'
import { EXECUTABLE, ROOT, staleness } from '../helpers/executable.ts'
import { benchActive } from './active.ts'
import { benchAlertmanager } from './alertmanager.ts'
import { bundle } from './bundle.ts'
import { benchSlowDisk } from './fsync.ts'
import { benchGrowing } from './growing.ts'
import { benchIngest } from './ingest.ts'
import { benchLife } from './life.ts'
import { isInstalled } from './load.ts'
import { benchNotify } from './notify.ts'
import { benchStreams } from './open-pages.ts'
import { type Bench, type Options, PARTS, type PartName, readOptions, USAGE } from './options.ts'
import { benchPages } from './pages.ts'
import { benchReads } from './reads.ts'
import { type Part, toText } from './report.ts'
import { benchStart } from './start.ts'
import { benchStorm } from './storm.ts'
import { benchWalks } from './walks.ts'
import { benchWatch } from './watch.ts'

const MEASURES: Readonly<Record<PartName, (bench: Bench) => Promise<Part[]>>> = {
  ingest: benchIngest,
  growing: benchGrowing,
  storm: benchStorm,
  life: benchLife,
  active: benchActive,
  fsync: benchSlowDisk,
  start: benchStart,
  reads: benchReads,
  pages: benchPages,
  streams: benchStreams,
  notify: benchNotify,
  alertmanager: benchAlertmanager,
  watch: benchWatch,
  walks: benchWalks,
}
/** Parts that run without the load generator. */
const WITHOUT_LOAD: readonly PartName[] = ['growing', 'life', 'reads', 'pages', 'watch', 'walks']

if (process.env.CI === 'true') print('The benchmark does not run in CI: figures from a shared machine mean nothing.')
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
  requireExecutable()
  // A copy, like an installed one. Linux maps a freshly built file in larger pieces, which would add 20 MB to the
  // measured memory.
  const program = join(directory, 'incmon')
  copyFileSync(EXECUTABLE, program)
  const bench: Bench = { ...options, ...(await bundle(directory)), program, directory, tell }
  const parts: Part[] = []
  for (const name of options.only ?? PARTS) {
    if (!WITHOUT_LOAD.includes(name) && !isInstalled('wrk'))
      parts.push(`${name} was skipped: wrk is not installed. Install it with "apt-get install wrk".`)
    else parts.push(...(await MEASURES[name](bench)))
  }
  print(`\n${machine()}\n\n${parts.map(toText).join('\n')}`)
}

/** Builds the executable if it is missing or older than the sources. */
function requireExecutable(): void {
  if (!staleness()) return
  const { status } = spawnSync(process.execPath, ['build.mjs'], { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}

function machine(): string {
  const [first] = cpus()
  return `${cpus().length} × ${first?.model.trim()}, ${process.platform} ${process.arch}, Node ${process.versions.node}, ${new Date().toISOString().slice(0, 10)}`
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
