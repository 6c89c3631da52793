/** The commands of whoever keeps incmon running: its health, its configuration, its shell, what it takes over. */
import { Argument, type Command, Option } from 'commander'
import { checkConfig, showConfig } from './commands/config.ts'
import { runDoctor } from './commands/doctor.ts'
import { askHealth, parseWait } from './commands/health.ts'
import { importFile } from './commands/import.ts'
import { printCompletion, SHELLS } from './completion/completion.ts'
import { addKeys } from './keys.ts'

/** @param now the clock, in milliseconds UTC */
export function addOperator(program: Command, now: () => number): void {
  const doctor = program
    .command('doctor')
    .description(
      'look at file, disk, clock, senders, tokens, port and certificate, change nothing, and say what to do; exit code 1 on failure',
    )
    .option('--full', 'check every index of the database too, which takes longer')
  addKeys(doctor).action((_, command: Command) => runDoctor(command.optsWithGlobals(), now()))
  program
    .command('health')
    .description('ask the running server whether it is ready; exit code 1 where it is not')
    .option('--url <url>', 'where the server listens (default: INCMON_URL, else the configured host and port)')
    .addOption(
      new Option('--wait [seconds]', 'ask again until it is ready, for so long at most')
        .preset('30')
        .argParser(parseWait),
    )
    .action((_, command: Command) => askHealth(command.optsWithGlobals(), now()))
  program
    .command('check-config')
    .description('say what is wrong with the configuration, one line each, or where each value comes from')
    .action((_, command: Command) => checkConfig(command.optsWithGlobals(), now()))
  program
    .command('config')
    .description('print the effective configuration as a file')
    .option('--explain', 'what each key is, where its value comes from, and what is allowed')
    .action((_, command: Command) => showConfig(command.optsWithGlobals()))
  program
    .command('completion')
    .description('print the script with which a shell completes this program, such as source <(incmon completion bash)')
    .addArgument(new Argument('<shell>', 'for which shell').choices(SHELLS))
    .action((shell) => printCompletion(shell, program))
  program
    .command('import')
    .description('take over events of elsewhere, each as if received here at its time; safe to repeat')
    .argument(
      '<file>',
      'one { "source", "receivedAt", "payload" } a line, or the alerts that amtool lists, - for standard input',
    )
    .option('--org <name>', 'the organization (default: the only one)')
    .option('--cluster <name>', 'the cluster that they belong to')
    .option('--suppressed', 'take along the alerts that Alertmanager silences or inhibits, and sends to nobody')
    .action((file, _, command: Command) => importFile(file, command.optsWithGlobals(), now()))
}
