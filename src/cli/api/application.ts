/**
 * Runs the application inside a command if no server is running. The application has the server's routes but does not
 * listen on a port.
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Deps } from '../../actions/deps.ts'
import { createApp } from '../../app.ts'
import { appIcon, programVersion, webTexts } from '../../assets.ts'
import { DEFAULTS } from '../../config.ts'
import { systemDeps } from '../../deps.ts'
import { helpersOf } from '../../notify/notifier.ts'
import { sendTest } from '../../notify/test-message.ts'
import { limitPendingBodies } from '../../server/connection/pending-bodies.ts'
import { elapsed, numberRequests, type ServerContext } from '../../server/context.ts'
import { createLog } from '../../server/log.ts'
import { createMetrics } from '../../server/metrics.ts'
import { createNotices } from '../../server/notices.ts'
import { transportsOf } from '../../server/notifying.ts'
import { createWeb, webSettings } from '../../server/web.ts'
import { readHere } from '../../store/read.ts'
import { tryLock } from '../../store/sqlite/lock.ts'
import { type Db, openStore } from '../../store/sqlite/open.ts'
import { migrate, migrationStates, refuseNewerFile } from '../../store/sqlite/schema/migrate.ts'
import { isMissing, requireConfig } from '../database.ts'
import { CommandError } from '../failure.ts'
import { type Common, printError } from '../output.ts'
import type { Transport } from './api.ts'

/** Takes the place of the web pages, which commands do not use. */
const NO_PAGES = {
  program: '',
  csrfKey: '',
  load: webTexts,
  appIcon,
  icons: {},
  manifest: '',
  settings: () => webSettings(DEFAULTS),
  example: () => [],
}
const ORIGIN = 'http://localhost'

/** `mayUpgrade`: whether to upgrade an old or empty database instead of rejecting it. */
type Wanted = { readonly options: Common; readonly mayUpgrade: boolean }

/** Opens the application in this process. Returns null if another process takes the lock first. */
export function openHere(database: string, wanted: Wanted): Transport | null {
  const isNew = isMissing(database)
  const db = openStore(database)
  let release: (() => void) | null = null
  try {
    refuseNewerFile(db)
    release = tryLock(database)
    if (release) return openApplication(db, release, { ...wanted, isNew })
  } catch (error) {
    db.close()
    release?.()
    throw error
  }
  db.close()
  return null
}

/** `close` of the result closes the database and releases the lock. */
function openApplication(db: Db, release: () => void, wanted: Wanted & { readonly isNew: boolean }): Transport {
  const deps = systemDeps(db)
  if (wanted.mayUpgrade) migrate(db, deps.now())
  else requireCurrent(db)
  if (wanted.isNew) printError(`created a new database at ${resolve(db.file)}`)
  let failure: unknown = null
  const server = contextOf(notifierOf(deps, wanted.options), (error) => {
    failure = error
  })
  // A command makes one request at a time, so slow queries do not need a worker thread.
  const app = createApp(deps, readHere(db), server, 'program')
  return {
    isServer: false,
    send: async (method, path, headers, body) => {
      failure = null
      const { status, body: stream } = await app.request(`${ORIGIN}${path}`, { method, headers, body })
      return { status, body: stream ?? nothing() }
    },
    failure: () => failure,
    close: async () => {
      await deps.engine.close()
      db.close()
      release()
    },
  }
}

/** @throws CommandError if the file's schema version is older than the program's */
function requireCurrent(db: Db): void {
  if (migrationStates(db).every(({ appliedAt }) => appliedAt !== null)) return
  throw new CommandError(
    `${db.file} has an older schema version: upgrade it with "incmon migrate", which makes a copy first`,
  )
}

/** Sends only test messages. All other messages stay in the outbox until a server is started. */
function notifierOf(deps: Deps, options: Common): ServerContext['notifier'] {
  const config = requireConfig(options)
  const sending = { transports: () => transportsOf(config), publicUrl: () => config['public-url'] }
  return { test: (channel) => sendTest(deps, sending, channel), sending: () => 0, ...helpersOf(sending) }
}

/** Returns the application's context. A command has no log, so `failed` prints errors instead. */
function contextOf(notifier: ServerContext['notifier'], failed: (error: unknown) => void): ServerContext {
  return {
    log: createLog('fatal', () => {}),
    metrics: createMetrics(programVersion()),
    refusals: { add: ({ error }) => failed(error), tell: () => {} },
    wrongTokens: { add: () => 0, senders: () => ({ newest: [], more: 0 }), done: () => {} },
    pendingBodies: limitPendingBodies(),
    damage: { note: () => {} },
    notifier,
    web: createWeb({ ...NO_PAGES, version: programVersion(), notices: createNotices('command', elapsed) }),
    elapsed,
    pause,
    newRequestId: numberRequests('command'),
    isTrusted: () => false,
    isStopping: () => false,
    held: () => null,
    listening: () => null,
    clusters: () => [],
    workloadNow: () => null,
    checks: () => [],
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}
