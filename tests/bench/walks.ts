/**
 * Follows four requests through the code, function by function. `files`: the files of `src` with a function that runs.
 * `climbs`: the files to which somebody who reads along must turn back, because a function that has not run yet is
 * entered there after others.
 */
import { type Debugger, type Profiler, Session } from 'node:inspector/promises'
import { withEngine } from '../../src/actions/deps.ts'
import { createApp } from '../../src/app.ts'
import { systemDeps } from '../../src/deps.ts'
import { readHere } from '../../src/store/read.ts'
import { makeOrganization, makeToken } from '../helpers/factory.ts'
import { makeServerContext } from '../helpers/server-context.ts'
import { temporaryStore } from '../helpers/store.ts'
import { type Part, verdict } from './report.ts'

const SOURCE = new URL('../../src/', import.meta.url).href
/** The most files and climbs of each walk. */
const TARGETS = {
  'new alert': [70, 20],
  'repeated alert': [50, 12],
  'GET /api/alerts': [18, 4],
  'resolve an incident': [75, 15],
} as const
type Name = keyof typeof TARGETS

declare global {
  /** The functions that the request entered, by number. The conditions of the breakpoints push to it. */
  var walked: number[]
}

/** A function of `src` that can be entered. */
type Entered = { readonly file: string; readonly scriptId: string; readonly offset: number; readonly end: number }

export async function benchWalks(): Promise<Part[]> {
  const endings: (() => unknown)[] = []
  const send = requests({ after: (end) => void endings.push(end as () => unknown) })
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Debugger.enable')
  const rows: string[][] = []
  for (const name of Object.keys(TARGETS) as Name[]) {
    const paths = await walk(session, name, send)
    const climbs = climbsOf(paths)
    const [mostFiles, mostClimbs] = TARGETS[name]
    const files = new Set(paths).size
    const told = (value: number, most: number) => `${value} (${verdict(value, { most })})`
    rows.push([name, told(files, mostFiles), told(climbs, mostClimbs)])
  }
  session.disconnect()
  for (const end of endings) await end()
  return [{ title: 'Walks through the code', columns: ['request', 'files', 'climbs'], rows, note: 'In one process.' }]
}

type Send = (name: Name, turn: number) => Promise<void>

/** Returns a function that sends one of the requests to the application, with other alerts at each turn. */
function requests(t: { after: (work: () => void | Promise<void>) => void }): Send {
  const deps = withEngine(systemDeps(temporaryStore(t)))
  const app = createApp(deps, readHere(deps.db), makeServerContext())
  const acme = makeOrganization(deps.db, 'Acme', 'Team')
  const token = makeToken(deps.db, acme, ['ingest', 'read', 'write'])
  const ask = async (method: string, path: string, body?: unknown) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
    const response = await app.request(path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { readonly data: readonly { readonly id: string }[] }
  }
  const post = (service: string) => ask('POST', '/api/webhooks/metrics', groupOf(service))
  const sending: Readonly<Record<Name, (turn: number) => Promise<unknown>>> = {
    'new alert': (turn) => post(`new-${turn}`),
    'repeated alert': () => post('new-0'),
    'GET /api/alerts': () => ask('GET', '/api/alerts'),
    'resolve an incident': async (turn) => {
      const { data } = await ask('GET', '/api/incidents')
      await ask('PATCH', `/api/incidents/${data[turn]?.id}`, { status: 'resolved' })
    },
  }
  return async (name, turn) => void (await sending[name](turn))
}

const STARTS_AT = new Date(Date.now() - 5_000).toISOString()

function groupOf(service: string) {
  const labels = { alertname: 'HighErrorRate', severity: 'critical', namespace: 'shop', service }
  const times = { startsAt: STARTS_AT, endsAt: '0001-01-01T00:00:00Z' }
  const alert = { status: 'firing', labels, annotations: { summary: '40 % fail' }, ...times, fingerprint: service }
  return { version: '4', receiver: 'incmon', status: 'firing', groupKey: `{service="${service}"}`, alerts: [alert] }
}

/** Returns the files of the functions that a request enters, in the order of their first entry. */
async function walk(session: Session, name: Name, send: Send): Promise<string[]> {
  // The first request compiles what runs once, the second says which functions run, and the third in which order.
  await send(name, 0)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await send(name, 1)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const entered = result.filter(({ url }) => url.startsWith(SOURCE)).flatMap(functionsOf)
  globalThis.walked = []
  const breakpoints = await Promise.all(entered.map((one, index) => watch(session, one, index)))
  await send(name, 2)
  for (const id of breakpoints) if (id) await session.post('Debugger.removeBreakpoint', { breakpointId: id })
  return [...new Set(globalThis.walked)].flatMap((index) => entered[index]?.file ?? [])
}

function functionsOf({ url, scriptId, functions }: Profiler.ScriptCoverage): Entered[] {
  // The first function is the module itself.
  return functions.slice(1).flatMap(({ ranges: [range] }) => {
    if (!range || range.count === 0) return []
    return { file: url.slice(SOURCE.length), scriptId, offset: range.startOffset, end: range.endOffset }
  })
}

/** Sets a breakpoint that notes the function and never stops. */
async function watch(session: Session, one: Entered, index: number): Promise<string | null> {
  const { scriptSource } = await session.post('Debugger.getScriptSource', { scriptId: one.scriptId })
  const [start, end] = [one.offset, one.end].map((offset) => placeOf(scriptSource, one.scriptId, offset))
  if (!start || !end) return null
  const { locations } = await session.post('Debugger.getPossibleBreakpoints', { start, end, restrictToFunction: true })
  const [location] = locations
  if (!location) return null
  const condition = `walked.push(${index}), false`
  return (await session.post('Debugger.setBreakpoint', { location, condition })).breakpointId
}

function placeOf(source: string, scriptId: string, offset: number): Debugger.Location {
  const before = source.slice(0, offset)
  const lineNumber = before.split('\n').length - 1
  return { scriptId, lineNumber, columnNumber: offset - (before.lastIndexOf('\n') + 1) }
}

function climbsOf(paths: readonly string[]): number {
  const isBack = (file: string, index: number) => paths[index - 1] !== file && paths.indexOf(file) < index
  return new Set(paths.filter(isBack)).size
}
