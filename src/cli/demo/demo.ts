/** incmon demo: starts a server with 90 days of an example shop's history. The shop keeps sending events. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { createOrganization } from '../../actions/organizations.ts'
import { createSetupLink } from '../../actions/sessions.ts'
import { createToken } from '../../actions/tokens.ts'
import { recordedText } from '../../assets.ts'
import type { Config } from '../../config.ts'
import { systemClock, systemDeps } from '../../deps.ts'
import type { Source } from '../../domain/event/event.ts'
import { readRecorded } from '../../domain/example/recorded.ts'
import { setupAddress } from '../../domain/request/session.ts'
import type { Scope } from '../../domain/request/token.ts'
import { DAY, MINUTE } from '../../domain/units.ts'
import type { Engine } from '../../engine/engine.ts'
import { READERS } from '../../intake/index.ts'
import { serve } from '../../serve.ts'
import { listening } from '../../server/connection/port.ts'
import { createProcessLog, type Log } from '../../server/log.ts'
import { openStore } from '../../store/sqlite/open.ts'
import { migrate } from '../../store/sqlite/schema/migrate.ts'
import { requireConfig } from '../database.ts'
import { type Common, print } from '../output.ts'

const UPDATE_INTERVAL_MS = 2_000

/** Resolves when the server is listening. Ctrl-C stops the server and deletes its files. */
export async function runDemo(options: Common): Promise<void> {
  const settings = requireConfig(options)
  const log = createProcessLog(options.json ? 'silent' : 'error')
  let demo: Demo | null = null
  let timer: NodeJS.Timeout | undefined
  let ended = false
  const end = async () => {
    // The terminal and npm both send a signal for the same Ctrl-C.
    if (ended) return
    ended = true
    clearInterval(timer)
    // The files are deleted on exit, even if the server could not be closed.
    await demo?.close().catch((error) => log.error({ error }, 'the demo server could not be stopped cleanly'))
    process.exit(0)
  }
  process.on('SIGINT', end).on('SIGTERM', end)
  if (!options.json) print('Creating 90 days of example data. This takes a few seconds.')
  const made = await listening(settings, () => startDemo({ settings, log, now: systemClock }))
  demo = made
  timer = setInterval(() => {
    made.goOn().catch((error) => log.error({ error }, 'the demo could not send further example data'))
  }, UPDATE_INTERVAL_MS)
  if (options.json) print(JSON.stringify({ url: made.url, link: made.link, token: made.token }))
  else for (const line of words(made)) print(line)
}

function words({ url, link, token }: Demo): string[] {
  return [
    '',
    'Open this link in a browser to sign in. It works once and expires after 30 minutes:',
    '',
    `  ${link}`,
    '',
    `Or sign in at ${url} with this token: ${token}`,
    'All data is fictional. Press Ctrl-C to stop the server and delete the data.',
  ]
}

// Runs the demo server on a temporary database. The server's own readers and rules process the recorded history.

/** `now` returns the current Unix time in milliseconds. */
type DemoOptions = { readonly settings: Config; readonly log: Log; readonly now: () => number }

type Demo = {
  readonly url: string
  /** A setup link, which can be used once to sign in. */
  readonly link: string
  /** A token that can open every page. */
  readonly token: string
  /** Sends all requests that are due. */
  readonly goOn: () => Promise<void>
  /** Stops the server and deletes its files. */
  readonly close: () => Promise<void>
}

/** A recorded delivery, or what a person does with the open incident of `service`. */
type Happening = { readonly at: number } & (
  | { readonly source: Source; readonly body: unknown }
  | { readonly person: string; readonly service: string; readonly do: PersonAction }
)
type PersonAction = {
  readonly status?: string
  readonly note?: string
  readonly confirm?: string
  readonly postmortem?: unknown
}

/** Sends a request with a token and returns the parsed response. */
type Call = (method: string, path: string, body?: unknown) => Promise<unknown>
const PEOPLE = ['Ada', 'Kim']
type Json = Record<string, unknown>

/** Starts the server and writes the recorded history until now. Rejects if the port is in use. */
export async function startDemo({ settings, log, now }: DemoOptions): Promise<Demo> {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-demo-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const happenings = readRecorded<Happening>(recordedText('demo'), now())
    const clock = { now: (happenings[0]?.at ?? now()) - MINUTE }
    const deps = temporaryDeps(join(directory, 'incmon.db'), () => clock.now)
    const running = await serve({ deps, settings, tls: null, log })
    const { rowId } = createOrganization(deps, { name: 'Demo shop', plan: 'Pro' })
    const token = (name: string, scopes: readonly Scope[]) =>
      createToken(deps, { organizationId: rowId, name, scopes }).token
    const people = new Map(PEOPLE.map((name) => [name, token(name, ['read', 'write', 'admin'])]))
    const common = { organizationId: rowId, cluster: '', idempotencyKey: null, dryRun: false, isFromCache: false }
    const replay = async (one: Happening) => {
      if ('source' in one) {
        const intake = READERS[one.source](one.body, one.at)
        await running.engine.submit({ ...common, source: one.source, intake, receivedAt: one.at })
      } else await act(callAs(running.url, people.get(one.person) ?? ''), one.service, one.do)
    }
    const play = player(running.engine, clock, happenings, replay)
    await play(now())
    const link = setupAddress(running.url, createSetupLink(deps, rowId).secret)
    const close = async () => {
      await running.close()
      deps.db.close()
      process.off('exit', remove)
      remove()
    }
    return { url: running.url, link, token: people.get('Ada') ?? '', goOn: () => play(now()), close }
  } catch (error) {
    remove()
    throw error
  }
}

/** Returns dependencies that do not sync to disk, because the demo does not have to survive a power cut. */
function temporaryDeps(file: string, now: () => number): Deps {
  const db = openStore(file)
  migrate(db, now())
  return { ...systemDeps({ ...db, sync: async () => {} }), now }
}

/** Returns a function that replays everything due by a given time and sets the clock to that time. */
function player(
  engine: Engine,
  clock: { now: number },
  happenings: readonly Happening[],
  replay: (one: Happening) => Promise<void>,
) {
  let next = 0
  return async (until: number) => {
    for (let one = happenings[next]; one && one.at <= until; one = happenings[next]) {
      await passTo(engine, clock, one.at, until)
      await replay(one)
      next += 1
    }
    await passTo(engine, clock, until, until)
  }
}

/** Advances the clock in steps and runs the sweep after each step. The steps of the last week are short. */
async function passTo(engine: Engine, clock: { now: number }, time: number, end: number): Promise<void> {
  while (clock.now < time) {
    const step = clock.now > end - 8 * DAY ? 5 * MINUTE : 30 * MINUTE
    clock.now = Math.min(time, clock.now + step)
    while (await engine.sweep());
    await engine.settled()
  }
}

/** Performs an action. Does nothing if the service has no incident. */
async function act(call: Call, service: string, what: PersonAction): Promise<void> {
  const services = (await call('GET', '/api/services?archived=1')) as Json[]
  const wanted = services.find(({ namespace, name }) => name === service || `${namespace}/${name}` === service)
  if (!wanted) return
  const { data } = (await call('GET', `/api/incidents?serviceId=${wanted.id}&limit=1`)) as { data: Json[] }
  const [incident] = data
  if (!incident) return
  const path = `/api/incidents/${incident.id}`
  if (what.status) await call('PATCH', path, { status: what.status })
  if (what.note) await call('POST', `${path}/notes`, { text: what.note })
  if (what.postmortem) await call('PATCH', `${path}/postmortem`, what.postmortem)
  if (what.confirm) await confirm(call, path, what.confirm)
}

async function confirm(call: Call, path: string, ref: string): Promise<void> {
  const { correlations } = (await call('GET', path)) as { correlations: { id: string; change: { ref: string } }[] }
  for (const { id, change } of correlations) {
    if (change.ref === ref) await call('PATCH', `/api/correlations/${id}`, { verdict: 'confirmed' })
  }
}

function callAs(url: string, token: string): Call {
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(`${url}${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`the demo could not ${method} ${path}: ${answer.status} ${text}`)
    return JSON.parse(text)
  }
}
