/** The commands of channels: their arguments and options. */
import { type Command, Option } from 'commander'
import { CHANNEL_KINDS } from '../domain/notification/format.ts'
import { parseMinutes, parseRule, RULE_HELP } from './channel-rules.ts'
import {
  addOrgChannel,
  changeOrgChannel,
  listOrgChannels,
  removeOrgChannel,
  testOrgChannel,
} from './commands/channel.ts'
import { orgOption } from './record-commands.ts'

export function addChannel(channel: Command): void {
  const add = channel
    .command('add')
    .description('add a channel; a running server uses it at once')
    .argument('<name>', 'its name')
    .addOption(orgOption())
    .addOption(new Option('--kind <kind>', 'the kind of the receiver').choices(CHANNEL_KINDS).makeOptionMandatory())
  addSettings(add).action((name, _, command: Command) => addOrgChannel(name, command.optsWithGlobals()))
  const set = channel
    .command('set')
    .description('change a channel; all other settings stay unchanged')
    .argument('<name>', 'its name or id')
    .addOption(orgOption())
    .option('--name <name>', 'another name')
    .option('--enable', 'send messages again, pending ones at once')
    .option('--disable', 'send nothing')
  addSettings(set).action((name, _, command: Command) => changeOrgChannel(name, command.optsWithGlobals()))
  channel
    .command('list')
    .description('list the channels of an organization; their secrets are not shown')
    .addOption(orgOption())
    .action((_, command: Command) => listOrgChannels(command.optsWithGlobals()))
  channel
    .command('test')
    .description('send a test message and print the answer; exit code 1 if it was not delivered')
    .argument('<name>', 'its name or id')
    .addOption(orgOption())
    .action((name, _, command: Command) => testOrgChannel(name, command.optsWithGlobals()))
  channel
    .command('remove')
    .description('delete a channel with its deliveries')
    .argument('<name>', 'its name or id')
    .addOption(orgOption())
    .action((name, _, command: Command) => removeOrgChannel(name, command.optsWithGlobals()))
}

function addSettings(command: Command): Command {
  return command
    .option('--url <url>', 'the address of the receiver, - to read it from standard input')
    .option('--to <addresses>', 'for mail: the addresses, separated by commas')
    .option('--rule <rule>', RULE_HELP, parseRule)
    .option('--time-zone <zone>', 'the time zone of the times in messages')
    .option(
      '--remind-after <minutes>',
      'the first reminder of an unacknowledged incident; off: none',
      parseMinutes('--remind-after'),
    )
    .option(
      '--remind-every <minutes>',
      'the pause between further reminders; off: none',
      parseMinutes('--remind-every'),
    )
    .option(
      '--escalate-after <minutes>',
      'send only incidents that are unacknowledged for this long',
      parseMinutes('--escalate-after'),
    )
}
