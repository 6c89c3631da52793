/** Where the write path's time goes: a CPU profile of the server under one load, by function. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { SourceMap } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import { LOADS, nameOf, post, warmUp } from './load.ts'
import { milliseconds, rounded, toText } from './report.ts'
import { startIncmon } from './servers.ts'

type CallFrame = {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
  readonly columnNumber: number
}
type Profile = {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  readonly samples: readonly number[]
  /** Microseconds since the sample before. */
  readonly timeDeltas: readonly number[]
}

const SHOWN = 20

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: '1 new warning' },
    seconds: { type: 'string', default: '10' },
    connections: { type: 'string', default: '64' },
  },
})
const load = LOADS.find((one) => nameOf(one) === values.load)
if (!load) throw new TypeError(`--load: known are ${LOADS.map(nameOf).join(', ')}`)

const directory = mkdtempSync(join(tmpdir(), 'incmon-profile-'))
process.on('exit', () => rmSync(directory, { recursive: true, force: true }))
const { main: program } = await bundle(directory)
const flags = ['--cpu-prof', `--cpu-prof-dir=${directory}`]
const server = await startIncmon(program, join(directory, 'incmon.db'), { flags })
await warmUp(server)
const outcome = await post(server, load, { seconds: Number(values.seconds), connections: Number(values.connections) })
await server.child.stop()
show(readProfile())

function readProfile(): Profile {
  const name = readdirSync(directory).find((one) => one.endsWith('.cpuprofile'))
  if (!name) throw new Error(`the server left no profile: ${server.child.said()}`)
  return JSON.parse(readFileSync(join(directory, name), 'utf8'))
}

function show(profile: Profile): void {
  const times = selfTimes(profile)
  const total = sum(times.values())
  const idle = times.get('(idle)') ?? 0
  const collector = times.get('(garbage collector)') ?? 0
  const busy = total - idle
  const largest = [...times].filter(([name]) => name !== '(idle)').sort(([, a], [, b]) => b - a)
  const title = `${nameOf(load ?? { mode: 'new', alerts: 1, severity: 'warning' })}: ${rounded(outcome.perSecond)} requests a second while profiled, p99 ${milliseconds(outcome.p99)}`
  const rows = largest.slice(0, SHOWN).map(([name, time]) => [name, share(time, busy), milliseconds(time / 1000)])
  const note = `Idle ${share(idle, total)} of all time; the garbage collector ${share(collector, busy)} of the rest.`
  process.stdout.write(`${toText({ title, columns: ['function', 'of busy time', 'self time'], rows, note })}\n`)
}

/** Microseconds by function and file. */
function selfTimes({ nodes, samples, timeDeltas }: Profile): Map<string, number> {
  const names = new Map<number, string>()
  const nameOfFrame = namer()
  for (const { id, callFrame } of nodes) names.set(id, nameOfFrame(callFrame))
  const times = new Map<string, number>()
  for (const [index, sample] of samples.entries()) {
    const name = names.get(sample) ?? '(unknown)'
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index + 1] ?? 0))
  }
  return times
}

/** `storePayload src/store/payloads.ts:18`, found through the bundle's source map. */
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
