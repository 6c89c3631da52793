/** Shows where time is spent on the write path: a CPU profile of the server under one load, by part and by function. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { workedBy } from './children.ts'
import { LOADS, nameOf, post, warmUp } from './load.ts'
import { openPage, signIn } from './open-pages.ts'
import { milliseconds, rounded, toText } from './report.ts'
import { startIncmon } from './servers.ts'

type CallFrame = {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}
type Profile = {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: CallFrame
    readonly children?: readonly number[]
  }[]
  /** From the monotonic clock, in microseconds. */
  readonly startTime: number
  readonly samples: readonly number[]
  /** Microseconds since the previous sample. */
  readonly timeDeltas: readonly number[]
}

const SHOWN = 20
const MAX_NAME = 80

/** The parts of the write path. A function belongs to the part of its nearest caller in one of these files. */
const PARTS: readonly (readonly [part: string, files: RegExp])[] = [
  ['open pages and event streams', / src\/(http\/(web|pages)|server\/notices)|\bhono\/.*\/jsx\//],
  ['statements in SQLite', / src\/store\/sqlite\/open\.ts/],
  ['COMMIT', / src\/store\/sqlite\/commit\.ts/],
  ['preparing rows', / src\/store\//],
  ['reading the body', / src\/intake\//],
  ['decisions and live state', / src\/(domain|engine)\//],
  ['HTTP: our code', / src\//],
  ['garbage collection', /^\(garbage collector\)$/],
  ['idle', /^\(idle\)$/],
]

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '1 new warning' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
    pages: { type: 'string', default: '0' },
  },
})
const load = LOADS.find((one) => nameOf(one) === values.load)
if (!load) throw new TypeError(`--load: known are ${LOADS.map(nameOf).join(', ')}`)

const directory = mkdtempSync(join(tmpdir(), 'incmon-profile-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const { main: program } = await bundle(directory)
const flags = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
const settings = ['--max-connections', '5000', '--max-connections-per-address', '5000']
const server = await startIncmon(program, join(directory, 'incmon.db'), { flags, settings })
await warmUp(server)
const pages = Array.from({ length: Number(values.pages) }, async () => openPage(server, await signIn(server)))
await Promise.all(pages)
if (pages.length > 0) await post(server, load, { seconds: 3, connections: Number(values.connections) })
const began = Number(process.hrtime.bigint() / 1000n)
const workedBefore = workedBy(server.child)
const outcome = await post(server, load, { seconds: Number(values.seconds), connections: Number(values.connections) })
// Samples also include time in which other programs had the CPU.
const workedMs = workedBy(server.child) - workedBefore
for (const page of pages) (await page).close()
await server.child.stop()
show(readProfile())

function readProfile(): Profile {
  // The main thread is number 0.
  const name = readdirSync(directory).find((one) => /\.0\.\d+\.cpuprofile$/.test(one))
  if (!name) throw new Error(`the server left no profile: ${server.child.said()}`)
  return JSON.parse(readFileSync(join(directory, name), 'utf8'))
}

function show(profile: Profile): void {
  const { functions, parts } = selfTimes(profile)
  const idle = parts.get('idle') ?? 0
  parts.delete('idle')
  functions.delete('(idle)')
  const busy = sum(parts.values())
  const alerts = outcome.requests * (load?.alerts ?? 1)
  const table = (title: string, times: ReadonlyMap<string, number>) => {
    const largest = [...times].sort(([, a], [, b]) => b - a).slice(0, SHOWN)
    const rows = largest.map(([name, time]) => [
      name.slice(0, MAX_NAME),
      share(time, busy),
      (((time / busy) * workedMs * 1000) / alerts).toFixed(1),
    ])
    return toText({ title, columns: [title, 'of busy time', 'µs an alert'], rows })
  }
  const figures = `${rounded(outcome.perSecond)} requests a second while profiled, p99 ${milliseconds(outcome.p99)}`
  process.stdout.write(`${values.load}: ${figures}, idle ${share(idle, idle + busy)} of the time\n\n`)
  process.stdout.write(`${table('part', parts)}\n${table('function', functions)}\n`)
}

/** Returns the main thread's time under load in microseconds, by function and by part. */
function selfTimes({ nodes, startTime, samples, timeDeltas }: Profile) {
  const nameOfFrame = namer()
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOfFrame(callFrame)]))
  const callers = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  const partOf = (id: number): string => {
    const own = PARTS.find(([, files]) => files.test(names.get(id) ?? ''))
    const caller = callers.get(id)
    return own?.[0] ?? (caller === undefined ? 'HTTP: Node and Hono' : partOf(caller))
  }
  const [functions, parts] = [new Map<string, number>(), new Map<string, number>()]
  const add = (times: Map<string, number>, key: string, time: number) => times.set(key, (times.get(key) ?? 0) + time)
  let at = startTime
  for (const [index, sample] of samples.entries()) {
    at += timeDeltas[index] ?? 0
    if (at < began) continue
    const time = timeDeltas[index + 1] ?? 0
    add(functions, names.get(sample) ?? '(unknown)', time)
    add(parts, partOf(sample), time)
  }
  return { functions, parts }
}

/** Returns names such as `storePayload src/store/payloads.ts:18`, using the bundle's source map. */
function namer(): (frame: CallFrame) => string {
  const map = new SourceMap(JSON.parse(readFileSync(`${program}.map`, 'utf8')))
  return ({ functionName, url, lineNumber, columnNumber }) => {
    if (url === '') return functionName
    const name = functionName || '(anonymous)'
    if (basename(url) !== basename(program))
      return `${name} ${url.replace(/^.*\/node_modules\//, '')}:${lineNumber + 1}`
    const entry = map.findEntry(lineNumber, columnNumber)
    if (!('originalSource' in entry)) return name
    const source = entry.originalSource.replace(/^.*?((?:src|node_modules)\/)/, '$1')
    return `${name} ${source}:${entry.originalLine + 1}`
  }
}

function share(time: number, total: number): string {
  return `${((100 * time) / total).toFixed(1)} %`
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0)
}
