/** The commands of an operator: health, configuration, shell completion and import. */
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
      'check file, disk, clock, senders, tokens, port and certificate, and say what to do; changes nothing; exit code 1 on failure',
    )
    .option('--full', 'also check every index of the database, which takes longer')
  addKeys(doctor).action((_, command: Command) => runDoctor(command.optsWithGlobals(), now()))
  program
    .command('health')
    .description('ask the running server whether it is ready; exit code 1 if it is not')
    .option('--url <url>', 'the address of the server (default: INCMON_URL, else the server that runs on the database)')
    .addOption(
      new Option('--wait [seconds]', 'ask again until it is ready, at most for this time')
        .preset('30')
        .argParser(parseWait),
    )
    .action((_, command: Command) => askHealth(command.optsWithGlobals(), now()))
  program
    .command('check-config')
    .description('print the errors of the configuration, or where each value comes from')
    .action((_, command: Command) => checkConfig(command.optsWithGlobals(), now()))
  program
    .command('config')
    .description('print the effective configuration as a file')
    .option('--explain', 'explain each setting, where its value comes from, and what is allowed')
    .action((_, command: Command) => showConfig(command.optsWithGlobals()))
  program
    .command('completion')
    .description('print the completion script of a shell; use it as source <(incmon completion bash)')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .action((shell) => printCompletion(shell, program))
  program
    .command('import')
    .description('import events of another system, each with its own time; safe to repeat')
    .argument(
      '<file>',
      'a file with one { "source", "receivedAt", "payload" } in each line, or the alerts that amtool lists, - for standard input',
    )
    .option('--org <name>', 'the organization (default: the only one)')
    .option('--cluster <name>', 'the cluster of the events')
    .option('--suppressed', 'include the alerts that Alertmanager silences or inhibits')
    .action((file, _, command: Command) => importFile(file, command.optsWithGlobals(), now()))
}
