/** incmon serve: one server on one file, from the first line it prints to the last request it answers. */
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { inspect } from 'node:util'
import { programVersion } from '../../assets.ts'
import { type Config, programName } from '../../config.ts'
import { systemClock, systemDeps } from '../../deps.ts'
import type { Deps } from '../../operations/deps.ts'
import { checkStore } from '../../operations/readiness.ts'
import { type Running, serve } from '../../serve.ts'
import { listening, tryPort } from '../../server/connection/port.ts'
import { refuseLongPath } from '../../server/connection/socket.ts'
import { readTls, type Tls } from '../../server/connection/tls.ts'
import { createProcessLog, type Log } from '../../server/log.ts'
import { reloadBySignal } from '../../server/reload.ts'
import { endBySignal, inform } from '../../server/stop.ts'
import { firstWords } from '../../server/welcome.ts'
import { errorCode, remedyOf } from '../../store/sqlite/fault.ts'
import { isServed } from '../../store/sqlite/inspect.ts'
import { holdLock } from '../../store/sqlite/lock.ts'
import { LOG_LOST } from '../../store/sqlite/log-file.ts'
import { migrate, refuseNewerFile } from '../../store/sqlite/migrate.ts'
import { openStore } from '../../store/sqlite/open.ts'
import { type Common, makeFirstOrganization, makeShrinkable, reportMigration, requireConfig } from '../database.ts'
import { CommandError } from '../failure.ts'
import { print } from '../output.ts'

/** The write path tries a held store again by itself; waiting inside SQLite would stop every other request. */
const BUSY_WHILE_SERVING = 50

/** Resolves once it listens; the process ends by a signal. */
export async function runServe(options: Common): Promise<void> {
  const settings = requireConfig(options)
  const { tls, warning } = requireTls(settings)
  const log = createProcessLog(settings['log-level'])
  if (existsSync(dirname(settings.database))) refuseLongPath(settings.database)
  // Before anything is made or brought up to date. Who holds the file is named first: it has the port as well, as a rule.
  if (!isServed(settings.database)) await listening(settings, () => tryPort(settings))
  const db = openStore(settings.database)
  let release = () => {}
  let running: Running | null = null
  try {
    refuseNewerFile(db)
    release = holdLock(db.file)
    const deps = systemDeps(db)
    const migrated = bringUp(deps)
    refuseUnwritable(deps)
    const { host, port } = settings
    running = await listening(settings, () => serve({ deps, host, port, settings, tls, log }))
    reportCrashes(log)
    endBySignal({ running, db, release, log })
    reloadBySignal(running, { flags: options, started: settings, log, now: deps.now })
    print(`incmon listens on ${running.url}`)
    for (const line of firstWords(deps, { url: running.url, toTerminal: process.stdout.isTTY, program: programName() }))
      print(line)
    if (migrated.applied.length > 0) inform(log, { database: db.file, ...migrated }, 'migrated')
    inform(log, { version: programVersion(), url: running.url, database: db.file }, 'started')
    if (warning) log.warn({ warning }, 'look after the certificate')
    // From here on nobody has to read what is printed: a server does not end because its terminal did.
    process.stdout.removeAllListeners('error').on('error', () => {})
    db.pragma(`busy_timeout = ${BUSY_WHILE_SERVING}`)
  } catch (error) {
    // Without this a server that could not finish its first words would go on answering over a closed store.
    await running?.close()
    db.close()
    release()
    throw error
  }
}

/** A server that cannot store anything would answer every sender 503, for as long as nobody looks. */
function refuseUnwritable(deps: Deps): void {
  const fault = checkStore(deps).find(({ detail }) => detail !== null)
  if (fault) throw new CommandError(`${deps.db.file}: ${fault.detail}`)
}

function requireTls(settings: Config): { readonly tls: Tls | null; readonly warning: string | null } {
  const read = readTls({ cert: settings['tls-cert'], key: settings['tls-key'] }, systemClock())
  if ('fault' in read) throw new CommandError(read.fault)
  return read
}

function bringUp(deps: Deps): ReturnType<typeof migrate> {
  const { file } = deps.db
  const migrated = migrate(deps.db, deps.now())
  reportMigration(file, migrated)
  if (migrated.copy !== null) makeShrinkable(deps.db)
  const first = makeFirstOrganization(deps)
  if (first) print(`made the organization ${first.name} on plan ${first.plan} in ${file}`)
  return migrated
}

/** A fault that nobody caught leaves an unknown state: say why and what to do in one line, and let the supervisor restart. */
function reportCrashes(log: Log): void {
  const crash = (message: string) => (cause: unknown) => {
    const told = errorCode(cause) === LOG_LOST ? (cause as Error).message : (remedyOf(errorCode(cause)) ?? message)
    log.fatal({ cause: cause instanceof Error ? inspect(cause) : String(cause) }, told)
    process.stderr.write('', () => process.exit(1))
  }
  process.on('uncaughtException', crash('uncaught exception'))
  process.on('unhandledRejection', crash('unhandled rejection'))
}
