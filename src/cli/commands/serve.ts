/** incmon serve: starts the server and prints the first lines of output. */
import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { inspect } from 'node:util'
import type { Deps } from '../../actions/deps.ts'
import { createOrganization } from '../../actions/organizations.ts'
import { checkStore } from '../../actions/readiness.ts'
import { programVersion } from '../../assets.ts'
import { type Config, programName } from '../../config.ts'
import { systemClock, systemDeps } from '../../deps.ts'
import { unclearOrganization } from '../../domain/organization.ts'
import { serve } from '../../serve.ts'
import { listening, tryPort } from '../../server/connection/port.ts'
import { refuseLongPath } from '../../server/connection/socket.ts'
import { readTls, type Tls } from '../../server/connection/tls.ts'
import { createProcessLog, type Log } from '../../server/log.ts'
import type { Running } from '../../server/running.ts'
import { endBySignal, inform, reloadBySignal } from '../../server/signals.ts'
import { firstLines } from '../../server/welcome.ts'
import { recordStop } from '../../store/incident/stops.ts'
import { listOrganizations, type OrganizationRecord } from '../../store/organizations.ts'
import { errorCode, remedyOf } from '../../store/sqlite/fault.ts'
import { refuseVanished } from '../../store/sqlite/file.ts'
import { keepLock, lastUsedAt } from '../../store/sqlite/lock.ts'
import { LOG_LOST } from '../../store/sqlite/log-file.ts'
import { openStore } from '../../store/sqlite/open.ts'
import { migrate, refuseNewerFile } from '../../store/sqlite/schema/migrate.ts'
import { isServed } from '../../store/sqlite/served.ts'
import { requireConfig } from '../database.ts'
import { CommandError } from '../failure.ts'
import { type Common, print } from '../output.ts'
import { reachableUrl } from '../server-address.ts'
import { reportMigration } from './migrate.ts'

/**
 * The timeout is short, because the engine retries if the database is locked. A long wait inside SQLite would block all
 * other requests.
 */
const BUSY_TIMEOUT_MS = 50

/** Resolves when the server is listening. A signal ends the process. */
export async function runServe(options: Common): Promise<void> {
  const settings = requireConfig(options)
  const { tls, warning } = requireTls(settings)
  const log = createProcessLog(settings['log-level'])
  if (existsSync(dirname(settings.database))) refuseLongPath(settings.database)
  refuseVanished(settings.database)
  // Checks the port before creating or upgrading the database. A server that uses the same file is reported first.
  if (!isServed(settings.database)) await listening(settings, () => tryPort(settings))
  const db = openStore(settings.database)
  let release = () => {}
  let running: Running | null = null
  try {
    refuseNewerFile(db)
    const deps = systemDeps(db)
    const usedAt = lastUsedAt(db.file)
    release = keepLock(db.file, deps.now, (error) => {
      throw error
    })
    const migrated = bringUp(deps)
    refuseUnwritable(deps)
    // A killed server may have committed without a sync, and a repeat of what it committed is answered without a commit.
    await db.sync()
    const stopped = recordStop(db, usedAt, deps.now())
    running = await listening(settings, () => serve({ deps, settings, tls, log, stopped }))
    reportCrashes(log)
    endBySignal({ running, db, release, log })
    const usersFaultOf = (config: Config) => usersFault(deps, config)
    reloadBySignal(running, { flags: options, started: settings, log, now: deps.now, usersFaultOf })
    printFirstLines(deps, running.url, settings)
    if (migrated.applied.length > 0) inform(log, { database: db.file, ...migrated }, 'migrated')
    inform(log, { version: programVersion(), url: running.url, database: db.file }, 'started')
    if (warning) log.warn({ warning }, 'check the certificate')
    // Who cannot sign in is no reason to page nobody.
    const unclear = usersFault(deps, settings)
    if (unclear !== null) log.warn({ warning: unclear }, 'users whom the proxy names cannot sign in')
    // The server keeps running if its terminal is closed.
    process.stdout.removeAllListeners('error').on('error', () => {})
    db.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
  } catch (error) {
    // Closes the server first. Otherwise, the server would still respond after the database is closed.
    await running?.close()
    db.close()
    release()
    throw error
  }
}

/** Ends the process; see `reportCrashes`. */
/** Refuses to start if the database is read-only. Otherwise, senders would get 503 responses until somebody notices. */
function refuseUnwritable(deps: Deps): void {
  const fault = checkStore(deps).find(({ detail }) => detail !== null)
  if (fault) throw new CommandError(`${deps.db.file}: ${fault.detail}`)
}

/** Returns why the users that a proxy names have no organization, or null. */
function usersFault({ db }: Deps, settings: Config): string | null {
  const [setting, all] = ['user-organization', listOrganizations(db)] as const
  return settings['user-header'] === ''
    ? null
    : (unclearOrganization(all, settings[setting], setting)?.join('; ') ?? null)
}

function requireTls(settings: Config): { readonly tls: Tls | null; readonly warning: string | null } {
  const read = readTls({ cert: settings['tls-cert'], key: settings['tls-key'] }, systemClock())
  if ('fault' in read) throw new CommandError(read.fault)
  return read
}

function bringUp(deps: Deps): ReturnType<typeof migrate> {
  const { file } = deps.db
  const migrated = migrate(deps.db, deps.now())
  if (migrated.copy !== null) reportMigration(file, migrated)
  createFirstOrganization(deps)
  return migrated
}

const FIRST_ORGANIZATION = { name: 'default', plan: 'Pro' } as const

/** Creates an organization named `default` if there is no organization yet. Returns null if an organization exists. */
function createFirstOrganization(deps: Deps): OrganizationRecord | null {
  return deps.db.transaction(() =>
    listOrganizations(deps.db).length === 0 ? createOrganization(deps, FIRST_ORGANIZATION) : null,
  )
}

/** Prints at most five lines, so that newcomers read them. */
function printFirstLines(deps: Deps, url: string, settings: Config): void {
  const toTerminal = process.stdout.isTTY
  print(`incmon listens on ${url}`)
  if (toTerminal) print(`All data is in ${resolve(deps.db.file)}. Press Ctrl-C to stop.`)
  const publicUrl = settings['public-url'].replace(/\/+$/, '') || reachableUrl(url)
  const seen = { url: reachableUrl(url), publicUrl, toTerminal, program: programName() }
  for (const line of firstLines(deps, seen)) print(line)
}

/**
 * After an uncaught error, the state of the process is unknown. Logs the reason and what to do, and exits so that a
 * supervisor can restart the server.
 */
function reportCrashes(log: Log): void {
  const crash = (message: string) => (cause: unknown) => {
    const remedy = errorCode(cause) === LOG_LOST ? (cause as Error).message : (remedyOf(errorCode(cause)) ?? message)
    log.fatal({ cause: cause instanceof Error ? inspect(cause) : String(cause) }, remedy)
    process.stderr.write('', () => process.exit(1))
  }
  process.on('uncaughtException', crash('uncaught exception'))
  process.on('unhandledRejection', crash('unhandled rejection'))
}
