/** incmon serve: one server on one file, from the first line it prints to the last request it answers. */
import { inspect } from 'node:util'
import { programName } from '../config.ts'
import { systemDeps } from '../deps.ts'
import { type Running, serve } from '../serve.ts'
import { holdLock } from '../store/lock.ts'
import { migrate, refuseNewerFile } from '../store/migrate.ts'
import { type Db, errorCode, openStore } from '../store/open.ts'
import { type Common, makeFirstOrganization, reportMigration, requireConfig } from './database.ts'
import { CommandError } from './failure.ts'
import { print } from './output.ts'
import { firstWords } from './welcome.ts'

/** The write path tries a held store again by itself; waiting inside SQLite would stop every other request. */
const BUSY_WHILE_SERVING = 50
/** A terminal and npm each pass the same Ctrl-C on: signals this close together are one. In milliseconds. */
const ONE_SIGNAL = 500

/** Resolves once it listens; the process ends by a signal. */
export async function runServe(options: Common): Promise<void> {
  const { host, port, database } = requireConfig(options)
  const db = openStore(database)
  let release = () => {}
  let running: Running | null = null
  try {
    refuseNewerFile(db)
    release = holdLock(db.file)
    const deps = systemDeps(db)
    reportMigration(db.file, migrate(db, deps.now()))
    const first = makeFirstOrganization(deps)
    if (first) print(`made the organization ${first.name} on plan ${first.plan} in ${db.file}`)
    running = await listen(deps, host, port)
    reportCrashes()
    endBySignal(running, db, release)
    print(`incmon listens on ${running.url}`)
    for (const line of firstWords(deps, { url: running.url, toTerminal: process.stdout.isTTY, program: programName() }))
      print(line)
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

async function listen(deps: Parameters<typeof serve>[0]['deps'], host: string, port: number): Promise<Running> {
  try {
    return await serve({ deps, host, port })
  } catch (error) {
    const remedy = remedyFor(errorCode(error), host, port)
    throw remedy ? new CommandError(remedy) : error
  }
}

function remedyFor(code: string, host: string, port: number): string | null {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is taken: stop what listens there, or choose another --port (0 takes any free one)`
    case 'EACCES':
      return `no right to listen on port ${port}: choose a --port of 1024 or above, or grant CAP_NET_BIND_SERVICE`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return `${host} is no address of this machine (${code}): choose a --host such as 127.0.0.1, or 0.0.0.0 for all`
    default:
      return null
  }
}

/** A fault that nobody caught leaves an unknown state: say why in one line of JSON, and let the supervisor restart. */
function reportCrashes(): void {
  const crash = (message: string) => (cause: unknown) => {
    const text = cause instanceof Error ? inspect(cause) : String(cause)
    process.stderr.write(`${JSON.stringify({ level: 'fatal', message, cause: text })}\n`, () => process.exit(1))
  }
  process.on('uncaughtException', crash('uncaught exception'))
  process.on('unhandledRejection', crash('unhandled rejection'))
}

function endBySignal(running: Running, db: Db, release: () => void): void {
  let since: number | null = null
  const end = async () => {
    const now = performance.now()
    if (since !== null && now - since < ONE_SIGNAL) return
    if (since !== null) process.exit(1)
    since = now
    await running.close()
    db.close()
    release()
    process.exit(0)
  }
  process.on('SIGINT', end)
  process.on('SIGTERM', end)
}
