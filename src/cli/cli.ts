/**
 * Defines the command line, with the commands in the order shown by the help. See `commands/` for the implementations.
 */
import type { Command } from 'commander'
import { programVersion } from '../assets.ts'
import { KEYS } from '../settings.ts'
import { addAbout } from './commands/about.ts'
import { addAlert } from './commands/alert.ts'
import { addBackup } from './commands/backup.ts'
import { addChannel } from './commands/channel.ts'
import { addConfig } from './commands/config.ts'
import { addDoctor } from './commands/doctor.ts'
import { addExplain } from './commands/explain.ts'
import { addHealth } from './commands/health.ts'
import { addImport } from './commands/import.ts'
import { addIncident } from './commands/incident/incident.ts'
import { addKubernetes } from './commands/kubernetes.ts'
import { addMigrate } from './commands/migrate.ts'
import { addOrg } from './commands/org.ts'
import { addPrune } from './commands/prune.ts'
import { addRestore } from './commands/restore.ts'
import { addSend } from './commands/send.ts'
import { addService } from './commands/service.ts'
import { addSilence } from './commands/silence.ts'
import { addSetupLink, addToken } from './commands/token.ts'
import { addCompletion } from './completion.ts'
import { spellCommands } from './database.ts'
import { explainFailure } from './failure.ts'
import { printError } from './output.ts'
import { addCommand, addKeys, PlainCommand } from './plain-command.ts'

/** Runs a command. Prints why it failed, and returns the exit code. */
export async function runProgram(args: readonly string[], now: () => number): Promise<number> {
  const program = createProgram(now)
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    const { lines, exitCode } = explainFailure(error)
    for (const line of lines) printError(`incmon: ${spellCommands(line, program.opts())}`)
    return exitCode
  }
}

/** @param now returns the current Unix time in milliseconds */
export function createProgram(now: () => number): Command {
  const program: Command = new PlainCommand('incmon')
    .description('Incident monitoring: Kubernetes events, Alertmanager, Grafana and GitLab CI in one history.')
    .version(programVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .option('--database <file>', `${KEYS.database.doc} (default: ${KEYS.database.fallback})`)
    .option('--config <file>', 'the TOML configuration file (default: incmon.toml, if it exists)')
    .option('--json', 'print JSON')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  addServer(program)
  for (const add of COMMANDS) add(program, now)
  return program
}

const COMMANDS = [
  ...[addSetupLink, addMigrate, addPrune, addBackup, addRestore, addOrg, addToken],
  ...[addService, addAlert, addIncident, addSilence, addChannel, addSend, addExplain, addImport, addKubernetes],
  ...[addDoctor, addHealth, addConfig, addCompletion, addAbout],
]

/**
 * Adds the commands that need the server. Loads the server only when such a command runs, so that other commands start
 * faster.
 */
function addServer(program: Command): void {
  addKeys(
    addCommand(program, 'serve', 'run the server, which receives webhooks and serves the API and the web pages'),
  ).action(async (options) => {
    const { runServe } = await import('./commands/serve.ts')
    await runServe(options)
  })
  const demo = addCommand(
    program,
    'demo',
    'start a demo server with 90 days of example data; Ctrl-C stops it and deletes the data',
  )
  addKeys(demo, ['host', 'port']).action(async (options) => {
    const { runDemo } = await import('./demo/demo.ts')
    await runDemo(options)
  })
}
