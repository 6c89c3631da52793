/** Runs the demo server on a temporary database. A week of history is sent through the real webhooks. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Deps } from '../../actions/deps.ts'
import { createOrganization } from '../../actions/organizations.ts'
import { createSetupLink } from '../../actions/sessions.ts'
import { createToken } from '../../actions/tokens.ts'
import type { Config } from '../../config.ts'
import { systemDeps } from '../../deps.ts'
import type { Scope } from '../../domain/token.ts'
import type { Engine } from '../../engine/engine.ts'
import { type Running, serve } from '../../serve.ts'
import type { Log } from '../../server/log.ts'
import { setupAddress } from '../../server/welcome.ts'
import { openStore } from '../../store/sqlite/open.ts'
import { migrate } from '../../store/sqlite/schema/migrate.ts'
import { DAY, MINUTE, type Request } from './senders.ts'
import type { PersonAction } from './troubles.ts'
import { type Story, weekOf } from './week.ts'

type DemoOptions = {
  readonly settings: Config
  readonly log: Log
  readonly seed: number
  /** Returns the current Unix time in milliseconds. */
  readonly now: () => number
}

export type Demo = {
  readonly url: string
  /** A setup link, which can be used once to sign in. */
  readonly link: string
  /** A token with the read and write scopes. */
  readonly token: string
  /** Sends all requests that are due. */
  readonly goOn: () => Promise<void>
  /** Stops the server and deletes its files. */
  readonly close: () => Promise<void>
}

const PEOPLE = ['Ada', 'Kim']

/** Starts the server and writes the past week's history. Rejects if the port is in use. */
export async function startDemo({ settings, log, seed, now }: DemoOptions): Promise<Demo> {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-demo-'))
  const remove = () => rmSync(directory, { recursive: true, force: true })
  process.once('exit', remove)
  try {
    const story = weekOf(now(), seed)
    const clock = { now: now() - 7 * DAY - MINUTE }
    const deps = temporaryDeps(join(directory, 'incmon.db'), () => clock.now)
    const running = await serve({ deps, settings, tls: null, log })
    const shop = openShop(deps, running)
    const play = player(running, clock, story, shop)
    await play(now())
    const link = setupAddress(running.url, createSetupLink(deps, shop.organizationId).secret)
    const close = async () => {
      await running.close()
      deps.db.close()
      process.off('exit', remove)
      remove()
    }
    return { url: running.url, link, token: shop.people.get(PEOPLE[0] ?? '') ?? '', goOn: () => play(now()), close }
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

/** The organization with its tokens. */
type Shop = {
  readonly url: string
  readonly organizationId: number
  readonly sender: string
  readonly people: ReadonlyMap<string, string>
}

function openShop(deps: Deps, { url }: Running): Shop {
  const { rowId } = createOrganization(deps, { name: 'Demo shop', plan: 'Pro' })
  const token = (name: string, scopes: readonly Scope[]) =>
    createToken(deps, { organizationId: rowId, name, scopes }).token
  const people = new Map(PEOPLE.map((name) => [name, token(name, ['read', 'write'])]))
  return { url, organizationId: rowId, sender: token('senders', ['ingest']), people }
}

type Happening = { readonly at: number } & ({ readonly request: Request } | { readonly act: PersonAction })

/** Returns a function that sends all requests due by a given time and sets the clock to that time. */
function player({ engine }: Running, clock: { now: number }, story: Story, shop: Shop) {
  const happenings: readonly Happening[] = [
    ...story.requests.map((request) => ({ at: request.at, request })),
    ...story.acts.map((act) => ({ at: act.at, act })),
  ].sort((a, b) => a.at - b.at)
  const act = createActor(shop.url, shop.people)
  let next = 0
  return async (until: number) => {
    for (let one = happenings[next]; one && one.at <= until; one = happenings[next]) {
      await passTo(engine, clock, one.at)
      if ('request' in one) await send(shop, one.request)
      else await act(one.act)
      next += 1
    }
    await passTo(engine, clock, until)
  }
}

/** The step is short enough for rules that wait a few minutes. */
const STEP_MS = 5 * MINUTE

/** Advances the clock in steps and runs the sweep after each step. */
async function passTo(engine: Engine, clock: { now: number }, time: number): Promise<void> {
  while (clock.now < time) {
    clock.now = Math.min(time, clock.now + STEP_MS)
    while (await engine.sweep());
  }
}

async function send({ url, sender }: Shop, { source, body }: Request): Promise<void> {
  const proof = source === 'ci' ? { 'x-gitlab-token': sender } : bearer(sender)
  await request(url, proof, 'POST', `/api/webhooks/${source}`, body)
}

type Json = Record<string, unknown>

/** Returns a function that performs an action as a given person. Skips the action if the incident did not open. */
function createActor(url: string, people: ReadonlyMap<string, string>): (act: PersonAction) => Promise<void> {
  return async ({ person, service, do: what }) => {
    const proof = bearer(people.get(person) ?? '')
    const call = (method: string, path: string, body?: unknown) => request(url, proof, method, path, body)
    const services = (await call('GET', '/api/services?archived=1')) as Json[]
    const wanted = services.find(({ namespace, name }) => name === service || `${namespace}/${name}` === service)
    if (!wanted) return
    const { data } = (await call('GET', `/api/incidents?serviceId=${wanted.id}&limit=1`)) as { data: Json[] }
    const [incident] = data
    if (!incident) return
    const path = `/api/incidents/${incident.id}`
    if ('status' in what) await call('PATCH', path, { status: what.status })
    else if ('note' in what) await call('POST', `${path}/notes`, { text: what.note })
    else if ('postmortem' in what) await call('PATCH', `${path}/postmortem`, what.postmortem)
    else await confirm(call, path, what.confirm)
  }
}

async function confirm(
  call: (method: string, path: string, body?: unknown) => Promise<unknown>,
  path: string,
  ref: string,
): Promise<void> {
  const { correlations } = (await call('GET', path)) as { correlations: { id: string; change: { ref: string } }[] }
  for (const { id, change } of correlations) {
    if (change.ref === ref) await call('PATCH', `/api/correlations/${id}`, { verdict: 'confirmed' })
  }
}

type Proof = Readonly<Record<string, string>>

function bearer(token: string): Proof {
  return { authorization: `Bearer ${token}` }
}

async function request(url: string, proof: Proof, method: string, path: string, body?: unknown): Promise<unknown> {
  const headers = { ...proof, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const answer = await fetch(`${url}${path}`, { method, headers, ...sent })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`the demo could not ${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text)
}
