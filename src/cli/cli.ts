/** The command line: every command, argument and option with its help. The work is in `commands/`. */
import { Argument, type Command, Option } from 'commander'
import { programVersion } from '../assets.ts'
import { KEYS } from '../config.ts'
import { PLANS } from '../domain/organization.ts'
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
import { PlainCommand } from './plain-command.ts'
import { addRecords, orgOption } from './record-commands.ts'
import { parseSource, SOURCE_NAMES } from './source-names.ts'

/** @param now the clock, in milliseconds UTC */
export function createProgram(now: () => number): Command {
  const program: Command = new PlainCommand('incmon')
    .description('Incident monitoring: Kubernetes events, Alertmanager, Grafana and GitLab CI in one history.')
    .version(programVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show the help of a command')
    .option('--database <file>', `${KEYS.database.doc} (default: ${KEYS.database.fallback})`)
    .option('--config <file>', 'a TOML file with the configuration (default: incmon.toml, if it exists)')
    .option('--json', 'print JSON for programs')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride()
  addServer(program, now)
  addBackup(program)
  addOrg(program.command('org').description('organizations'))
  addToken(program.command('token').description('tokens: the secrets of senders and of people who use the API'), now)
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
    .description('print the licences of the included software')
    .argument('[part]', 'only this part, such as hono')
    .action((part, _, command: Command) => printLicenses(part, command.optsWithGlobals()))
  return program
}

function addServer(program: Command, now: () => number): void {
  const serve = program.command('serve').description('receive webhooks and answer the API until stopped')
  addKeys(serve).action(async (_, command: Command) => {
    // The server is the larger part of the program. Every other command starts faster without it.
    const { runServe } = await import('./commands/serve.ts')
    await runServe(command.optsWithGlobals())
  })
  addKeys(
    program.command('demo').description('try incmon: start a server with a week of example data; Ctrl-C deletes it'),
    ['host', 'port'],
  )
    .option('--seed <number>', 'each number gives another week of example data', '1')
    .action(async (_, command: Command) => {
      const { runDemo } = await import('./demo/demo.ts')
      await runDemo(command.optsWithGlobals())
    })
  program
    .command('setup-link')
    .description('print a link that signs one person in as administrator; it works once, within 30 minutes')
    .addOption(orgOption())
    .option(
      '--url <url>',
      'where browsers reach the server (default: INCMON_URL, else public-url, else where the server listens)',
    )
    .action((_, command: Command) => printSetupLink(command.optsWithGlobals()))
  program
    .command('migrate')
    .description('update the database to the data model of this version; an older file is copied first')
    .option('--status', 'show every migration and when it was applied')
    .option('--dry-run', 'show what would be applied, and change nothing')
    .action((_, command: Command) => runMigrate(command.optsWithGlobals(), now()))
  program
    .command('prune')
    .description('delete expired records now; the server may run')
    .option('--org <name>', 'only this organization (default: all)')
    .option('--dry-run', 'show what would be deleted, and delete nothing')
    .option('--yes', 'confirm a deletion of more than half of the events or alerts')
    .action((_, command: Command) => pruneOrgs(command.optsWithGlobals()))
}

function addBackup(program: Command): void {
  program
    .command('backup')
    .description('copy the database into one checked file; the server may run')
    .argument('<file>', 'the file to write, - for standard output')
    .option('--force', 'replace an existing file')
    .option('--temporary <dir>', 'the directory for the temporary copy of - (default: next to the database)')
    .action((file, _, command: Command) => runBackup(file, command.optsWithGlobals()))
  program
    .command('restore')
    .description('replace the database with a backup; stop the server first')
    .argument('<file>', 'a file that "incmon backup" wrote, - for standard input')
    .option('--force', 'replace an existing database; it is kept as <database>.before-restore')
    .action((file, _, command: Command) => runRestore(file, command.optsWithGlobals()))
}

function addOrg(org: Command): void {
  org
    .command('create')
    .description('create an organization')
    .argument('<name>', 'its name')
    .addOption(new Option('--plan <plan>', 'its plan').choices(PLANS).default('Free'))
    .action((name, _, command: Command) => createOrg(name, command.optsWithGlobals()))
  org
    .command('list')
    .description('list the organizations')
    .action((_, command: Command) => listOrgs(command.optsWithGlobals()))
  org
    .command('set-plan')
    .description('change the plan of an organization')
    .argument('<name>', 'its name')
    .addArgument(new Argument('<plan>', 'the plan').choices(PLANS))
    .action((name, plan, _, command: Command) => setPlan(name, plan, command.optsWithGlobals()))
}

function addToken(token: Command, now: () => number): void {
  token
    .command('create')
    .description('create a token and print it once')
    .addOption(orgOption())
    .option('--name <name>', 'the name of the token, which timelines show as the actor (default: its scopes)')
    .option('--scopes <list>', `the scopes of the token: some of ${SCOPES.join(',')}`, parseScopes, ['ingest'])
    .option('--cluster <name>', 'the cluster of everything that the token sends')
    .option(
      '--expires <duration>',
      'how long the token is valid, such as 12h or 90d (default: until revoked)',
      parseDuration,
    )
    .action((_, command: Command) => createOrgToken(command.optsWithGlobals(), now()))
  token
    .command('list')
    .description('list the tokens of an organization, including revoked tokens')
    .addOption(orgOption())
    .action((_, command: Command) => listOrgTokens(command.optsWithGlobals(), now()))
  token
    .command('revoke')
    .description('revoke a token at once')
    .argument('<id>', 'its id, or at least its first 8 characters')
    .action((id, _, command: Command) => revokeOrgToken(id, command.optsWithGlobals()))
}

function addTrials(program: Command, now: () => number): void {
  program
    .command('send-test')
    .description('send a test payload to a running server, as a real sender does')
    .addArgument(new Argument('<sender>', 'the sender').choices(SOURCE_NAMES).argParser(parseSource))
    .option('--url <url>', 'the address of the server (default: INCMON_URL, else the server that runs on the database)')
    .option('--token <token>', 'a token with the scope ingest (default: INCMON_TOKEN)')
    .action((source, _, command: Command) => sendTest(source, command.optsWithGlobals(), now()))
  program
    .command('replay')
    .description('send recorded requests to a running server, one at a time in order of time')
    .argument('<file>', 'a file with one { "t", "endpoint", "headers", "body" } in each line, - for standard input')
    .option('--url <url>', 'the address of the server (default: INCMON_URL, else the server that runs on the database)')
    .option('--token <token>', 'replaces {{token}} in the headers (default: INCMON_TOKEN)')
    .addOption(new Option('--shift <to>', 'move all times so that the last request happens then').choices(['now']))
    .option('--speed <times>', '60 is sixty times as fast as recorded, 0 as fast as possible', parseSpeed, 0)
    .action((file, _, command: Command) => replayFile(file, command.optsWithGlobals(), now))
  program
    .command('explain')
    .description('show what a payload would do and the rule of each decision; nothing is stored')
    .argument('<file>', 'a file with the payload, - for standard input')
    .addOption(
      new Option('--source <sender>', 'the sender (default: recognized from the payload)')
        .choices(SOURCE_NAMES)
        .argParser(parseSource),
    )
    .addOption(orgOption())
    .option('--cluster <name>', 'the cluster of the token that would send it')
    .action((file, _, command: Command) => explainFile(file, command.optsWithGlobals()))
}
