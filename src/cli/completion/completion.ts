/** incmon completion: the script with which a shell completes this program, made from the program itself. */
import type { Argument, Command, Option } from 'commander'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import type { CommandNode, FlagNode, Value } from './words.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
type Shell = keyof typeof SCRIPTS
export const SHELLS = Object.keys(SCRIPTS) as Shell[]

/** The script asks nobody, so that completing costs no start of the program. */
export function printCompletion(shell: Shell, program: Command): void {
  process.stdout.write(SCRIPTS[shell](program.name(), nodesOf(program, '', [])))
}

/** The command and all below it; options of a command count for those below it too. */
function nodesOf(command: Command, path: string, inherited: readonly FlagNode[]): CommandNode[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  const flags = [...help.visibleOptions(command).map(flagOf), ...inherited.filter(({ flag }) => flag !== '--help')]
  const commands = children.map((child) => ({ name: child.name(), doc: child.description() }))
  const node = { path, commands, flags, operands: command.registeredArguments.map(wordOf) }
  return [node, ...children.flatMap((child) => nodesOf(child, `${path} ${child.name()}`.trim(), flags))]
}

/** An optional value is no word of its own for sure, so that none is waited for. */
function flagOf(option: Option): FlagNode {
  return { flag: option.long ?? option.flags, doc: option.description, takes: option.required ? wordOf(option) : null }
}

/** What is called a file or a directory is completed as one. */
function wordOf(of: Option | Argument): Value {
  const name = 'flags' in of ? of.flags : of.name()
  return { choices: of.argChoices ?? [], isFile: /\b(file|dir)\b/.test(name) }
}
