/** The command line: every command, argument and option, and their help; the work is in `commands/`. */
import { Argument, Command, Option } from 'commander'
import { programVersion } from '../assets.ts'
import { KEYS } from '../config.ts'
import { SOURCES } from '../domain/event/event.ts'
import { PLANS } from '../domain/organization.ts'
import { forTerminal } from '../domain/terminal.ts'
import { SCOPES } from '../domain/token.ts'
import { addChannel } from './channel-commands.ts'
import { printLicenses, printVersion } from './commands/about.ts'
import { runBackup } from './commands/backup.ts'
import { explainFile } from './commands/explain.ts'
import { runMigrate } from './commands/migrate.ts'
import { createOrg, listOrgs, setPlan } from './commands/org.ts'
import { pruneOrgs } from './commands/prune.ts'
import { parseSpeed, replayFile } from './commands/replay.ts'
import { runRestore } from './commands/restore.ts'
import { sendTest } from './commands/send-test.ts'
import { printSetupLink } from './commands/setup-link.ts'
import { createOrgToken, listOrgTokens, parseDuration, parseScopes, revokeOrgToken } from './commands/token.ts'
import { addKeys } from './keys.ts'
import { addOperator } from './operator.ts'
import { addRecords, orgOption } from './record-commands.ts'

/** @param now the clock, in milliseconds UTC */
export function createProgram(now: () => number): Command {
  const program = new Command('incmon')
    .description('Incident monitoring: Kubernetes events, Alertmanager, Grafana and GitLab CI in one history.')
    .version(programVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show what a command takes')
    .option('--database <file>', `${KEYS.database.doc} (default: ${KEYS.database.fallback})`)
    .option('--config <file>', 'a TOML file with the configuration (default: incmon.toml, where it exists)')
    .option('--json', 'print JSON for a program')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: (text, write) => write(`incmon: ${forTerminal(inOneLine(text))}\n`) })
    .exitOverride()
  addServer(program, now)
  addBackup(program)
  addOrg(program.command('org').description('organizations'))
  addToken(program.command('token').description('tokens: who may call'), now)
  addRecords(program, now)
  addChannel(program.command('channel').description('channels: where messages about incidents are sent'))
  addTrials(program, now)
  addOperator(program, now)
  program
    .command('version')
    .description('print the versions of the program, of Node, of SQLite and of the data model, and the commit')
    .action((_, command: Command) => printVersion(command.optsWithGlobals()))
  program
    .command('licenses')
    .description('print what others made of this program, with the licence of each part and its text')
    .argument('[part]', 'of this part alone, such as hono')
    .action((part, _, command: Command) => printLicenses(part, command.optsWithGlobals()))
  return program
}

/** Commander's `error: …` with its suggestion, in one line. */
function inOneLine(text: string): string {
  return text
    .trim()
    .replace(/^error: /, '')
    .replace(/\s*\n\s*/g, ' ')
}

function addServer(program: Command, now: () => number): void {
  const serve = program.command('serve').description('receive webhooks and answer the API until stopped')
  addKeys(serve).action(async (_, command: Command) => {
    // The server is the larger part of the program: without it every other command starts sooner.
    const { runServe } = await import('./commands/serve.ts')
    await runServe(command.optsWithGlobals())
  })
  addKeys(
    program.command('demo').description('try incmon: a server with a week of a made-up shop, gone after Ctrl-C'),
    ['host', 'port'],
  )
    .option('--seed <number>', 'another number makes another week', '1')
    .action(async (_, command: Command) => {
      const { runDemo } = await import('./demo/demo.ts')
      await runDemo(command.optsWithGlobals())
    })
  program
    .command('setup-link')
    .description('print a link that signs one person in as administrator; it works once, within 30 minutes')
    .addOption(orgOption())
    .option('--url <url>', 'where browsers reach the server (default: INCMON_URL, else the configured host and port)')
    .action((_, command: Command) => printSetupLink(command.optsWithGlobals()))
  program
    .command('migrate')
    .description('bring the database to the data model of this version; an older file is copied first')
    .option('--status', 'show every migration and when it was applied')
    .option('--dry-run', 'show what would be applied, and change nothing')
    .action((_, command: Command) => runMigrate(command.optsWithGlobals(), now()))
  program
    .command('prune')
    .description('delete what is older than the limits of its organization and cited by nothing; a server may run')
    .option('--org <name>', 'only of this organization (default: of all)')
    .option('--dry-run', 'show what would go, and delete nothing')
    .option('--yes', 'delete even where it is more than half of the events or alerts')
    .action((_, command: Command) => pruneOrgs(command.optsWithGlobals()))
}

function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the database as it is now into one checked file, while a server runs or not')
    .argument('<file>', 'the file to write, - for standard output')
    .option('--force', 'replace the file where it exists')
    .option('--temporary <dir>', 'where the copy for - stands until it is sent (default: beside the database)')
    .action((file, _, command: Command) => runBackup(file, command.optsWithGlobals()))
  program
    .command('restore')
    .description('put a backup in the place of the database; no server may run on it')
    .argument('<file>', 'what "incmon backup" wrote, - for standard input')
    .option('--force', 'replace the database where it exists; it is kept as <database>.before-restore')
    .action((file, _, command: Command) => runRestore(file, command.optsWithGlobals()))
}

function addOrg(org: Command): void {
  org
    .command('create')
    .description('make an organization')
    .argument('<name>', 'its name')
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLANS).default('Free'))
    .action((name, _, command: Command) => createOrg(name, command.optsWithGlobals()))
  org
    .command('list')
    .description('list the organizations')
    .action((_, command: Command) => listOrgs(command.optsWithGlobals()))
  org
    .command('set-plan')
    .description('put an organization on another plan')
    .argument('<name>', 'its name')
    .addArgument(new Argument('<plan>', 'the plan').choices(PLANS))
    .action((name, plan, _, command: Command) => setPlan(name, plan, command.optsWithGlobals()))
}

function addToken(token: Command, now: () => number): void {
  token
    .command('create')
    .description('make a token and print it, this once')
    .addOption(orgOption())
    .option('--name <name>', 'what it is called, the actor in timelines (default: after its scopes)')
    .option('--scopes <list>', `what it may do, out of ${SCOPES.join(',')}`, parseScopes, ['ingest'])
    .option('--cluster <name>', 'what it ingests belongs to this cluster')
    .option('--expires <duration>', 'how long it counts, such as 12h or 90d (default: until revoked)', parseDuration)
    .action((_, command: Command) => createOrgToken(command.optsWithGlobals(), now()))
  token
    .command('list')
    .description('list the tokens of an organization, the revoked among them')
    .addOption(orgOption())
    .action((_, command: Command) => listOrgTokens(command.optsWithGlobals(), now()))
  token
    .command('revoke')
    .description('end a token at once')
    .argument('<id>', 'its id, as "token list" shows it')
    .action((id, _, command: Command) => revokeOrgToken(id, command.optsWithGlobals()))
}

function addTrials(program: Command, now: () => number): void {
  program
    .command('send-test')
    .description('send a test payload to a running server, as a real sender would')
    .addArgument(new Argument('<source>', 'whose payload').choices(SOURCES))
    .option('--url <url>', 'where the server listens (default: INCMON_URL, else the configured host and port)')
    .option('--token <token>', 'a token with the scope ingest (default: INCMON_TOKEN)')
    .action((source, _, command: Command) => sendTest(source, command.optsWithGlobals(), now()))
  program
    .command('replay')
    .description('send recorded requests to a running server, in order of time and one at a time')
    .argument('<file>', 'one { "t", "endpoint", "headers", "body" } a line, - for standard input')
    .option('--url <url>', 'where the server listens (default: INCMON_URL, else the configured host and port)')
    .option('--token <token>', 'stands for {{token}} in the headers (default: INCMON_TOKEN)')
    .addOption(new Option('--shift <to>', 'move all times so that the last request falls on it').choices(['now']))
    .option('--speed <times>', '60 is sixty times real time, 0 as fast as possible', parseSpeed, 0)
    .action((file, _, command: Command) => replayFile(file, command.optsWithGlobals(), now))
  program
    .command('explain')
    .description('show what a payload would do, and the rule of each decision; nothing is stored')
    .argument('<file>', 'a file that holds the payload, - for standard input')
    .addOption(new Option('--source <source>', 'whose payload it is').choices(SOURCES).makeOptionMandatory())
    .addOption(orgOption())
    .option('--cluster <name>', 'the cluster of the token that would send it')
    .action((file, _, command: Command) => explainFile(file, command.optsWithGlobals()))
}
