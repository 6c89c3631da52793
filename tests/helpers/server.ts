/** A running server on a free port, for tests that need real sockets. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withEngine } from '../../src/actions/deps.ts'
import { createOrganization } from '../../src/actions/organizations.ts'
import { createToken } from '../../src/actions/tokens.ts'
import { type Config, DEFAULTS } from '../../src/config.ts'
import { systemClock, systemDeps } from '../../src/deps.ts'
import { serve } from '../../src/serve.ts'
import { createLog } from '../../src/server/log.ts'
import { holdLock } from '../../src/store/sqlite/lock.ts'
import { startBundled } from './bundle.ts'
import { newStore } from './store.ts'

type Cleaner = { after: (work: () => void | Promise<void>) => void }

/**
 * Starts a server. Returns its URL, a token with all scopes, its log, and functions for requests. Stops it after the
 * test.
 */
export async function startServer(t: Cleaner, settings: Partial<Config> = {}, now = systemClock) {
  const directory = mkdtempSync(join(tmpdir(), 'incmon-'))
  const db = newStore(join(directory, 'incmon.db'))
  const release = holdLock(db.file)
  const deps = now === systemClock ? systemDeps(db) : withEngine({ ...systemDeps(db), now })
  const organization = createOrganization(deps, { name: 'Acme', plan: 'Team' })
  const scopes = ['ingest', 'read', 'write', 'admin'] as const
  const { token } = createToken(deps, { organizationId: organization.rowId, name: 'test', scopes })
  const lines: string[] = []
  const log = createLog(settings['log-level'] ?? 'info', (line) => void lines.push(line))
  const running = await serve({
    ...{ deps, settings: { ...DEFAULTS, port: 0, ...settings }, tls: null, log },
    startThread: startBundled,
  })
  // In this order, because the server needs its store until it has stopped.
  t.after(async () => {
    await running.close()
    db.close()
    release()
    rmSync(directory, { recursive: true, force: true })
  })
  const request = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
    const response = await fetch(running.url + path, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: tests look into what they were answered
    return { status: response.status, body: (await response.json()) as any }
  }
  const get = async (path: string) => (await request('GET', path)).body
  return { url: running.url, token, organization, get, request, db, deps, lines, running }
}

/** Waiting fails after this many milliseconds, far more than even the busiest machine needs. */
const WITHIN = 100_000
/** How servers and clients report that the machine was too busy: /readyz, doctor, and commands without an answer. */
const STARVED = new RegExp(
  [
    ...['the process was blocked for', 'incmon is loading the alerts'],
    ...['does not respond at this address', 'does not respond on its socket'],
    ...['no response \\(ETIMEDOUT', 'is not responding: check its log', 'no server is listening on \\S+: wait until'],
  ].join('|'),
)

/** Calls `ask` until `isWanted` accepts the result. Fails with the last result. `within`: in milliseconds. */
export async function eventually<Value>(
  ask: () => Promise<Value>,
  isWanted: (value: Value) => boolean,
  within = WITHIN,
) {
  const until = performance.now() + within
  for (;;) {
    const value = await ask()
    if (isWanted(value)) return value
    if (performance.now() > until) throw new Error(`not within ${within} ms; at last: ${JSON.stringify(value)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/**
 * Checks whether a server is ready. Retries if it only reports that the machine is busy, which it does for ten seconds.
 */
export function unstarved<Value>(ask: () => Promise<Value>): Promise<Value> {
  return eventually(ask, (value) => !STARVED.test(JSON.stringify(value)))
}

/** Returns the status of `/readyz`. */
export async function readiness(url: string): Promise<number> {
  const { status } = await unstarved(async () => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, text: await response.text() }
  })
  return status
}
