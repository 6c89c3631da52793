/**
 * Defines the command line, with the commands in the order shown by the help. See `commands/` for the implementations.
 */
import type { Command } from 'commander'
import { programVersion } from '../assets.ts'
import { KEYS } from '../settings.ts'
import { addCompletion } from './completion.ts'
import { explainFailure } from './failure.ts'
import { printError, spellCommands } from './output.ts'
import { addCommand, addKeys, PlainCommand } from './plain-command.ts'

/** The program's options that have a value. */
const VALUED = ['--database', '--config']

/** Runs a command. Prints why it failed, and returns the exit code. */
export async function runProgram(args: readonly string[]): Promise<number> {
  const program = await createProgram(Date.now, args)
  try {
    await program.parseAsync(args, { from: 'user' })
    return 0
  } catch (error) {
    const { lines, exitCode } = explainFailure(error)
    for (const line of lines) printError(`incmon: ${spellCommands(line, program.opts())}`)
    return exitCode
  }
}

/**
 * @param now returns the current Unix time in milliseconds
 * @param args what the user typed; if it names a command, only that command is loaded
 */
export async function createProgram(now: () => number, args: readonly string[] = []): Promise<Command> {
  const program: Command = new PlainCommand('incmon')
    .description('Incident monitoring: Kubernetes events, Alertmanager, Grafana and GitLab CI in one history.')
    .version(programVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help for a command')
    .option('--database <file>', `${KEYS.database.doc} (default: ${KEYS.database.fallback})`)
    .option('--config <file>', 'the TOML configuration file (default: incmon.toml, if it exists)')
    .option('--json', 'print JSON')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  for (const load of commandsFor(args)) (await load())(program, now)
  return program
}

type Add = (program: Command, now: () => number) => void

/** Loads the commands, by their names. The server is loaded only when it runs. */
const COMMANDS: Readonly<Record<string, () => Add | Promise<Add>>> = {
  serve: () => addServe,
  demo: () => addDemo,
  'setup-link': async () => (await import('./commands/token.ts')).addSetupLink,
  migrate: async () => (await import('./commands/migrate.ts')).addMigrate,
  prune: async () => (await import('./commands/prune.ts')).addPrune,
  backup: async () => (await import('./commands/backup.ts')).addBackup,
  restore: async () => (await import('./commands/restore.ts')).addRestore,
  org: async () => (await import('./commands/org.ts')).addOrg,
  token: async () => (await import('./commands/token.ts')).addToken,
  service: async () => (await import('./commands/service.ts')).addService,
  alert: async () => (await import('./commands/alert.ts')).addAlert,
  incident: async () => (await import('./commands/incident/incident.ts')).addIncident,
  silence: async () => (await import('./commands/silence.ts')).addSilence,
  channel: async () => (await import('./commands/channel.ts')).addChannel,
  'send-test replay': async () => (await import('./commands/send.ts')).addSend,
  explain: async () => (await import('./commands/explain.ts')).addExplain,
  import: async () => (await import('./commands/import.ts')).addImport,
  kubernetes: async () => (await import('./commands/kubernetes.ts')).addKubernetes,
  doctor: async () => (await import('./commands/doctor.ts')).addDoctor,
  health: async () => (await import('./commands/health.ts')).addHealth,
  'check-config config': async () => (await import('./commands/config.ts')).addConfig,
  completion: () => addCompletion,
  'version licenses': async () => (await import('./commands/about.ts')).addAbout,
}

/** Returns the command that is typed first, or all commands, from which the help and the completion choose. */
function commandsFor(args: readonly string[]) {
  const first = args.find((word, index) => !word.startsWith('-') && !VALUED.includes(args[index - 1] ?? ''))
  const named = Object.entries(COMMANDS).filter(
    ([names]) => names.split(' ').includes(first ?? '') && first !== 'completion',
  )
  return (named.length > 0 ? named : Object.entries(COMMANDS)).map(([, load]) => load)
}

function addServe(program: Command): void {
  addKeys(
    addCommand(program, 'serve', 'run the server, which receives webhooks and serves the API and the web pages'),
  ).action(async (options) => {
    const { runServe } = await import('./commands/serve.ts')
    await runServe(options)
  })
}

function addDemo(program: Command): void {
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
