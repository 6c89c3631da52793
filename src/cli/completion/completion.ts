/** incmon completion: prints a shell's completion script, generated from the program's commands. */
import { Argument, type Command, type Option } from 'commander'
import { addCommand } from '../plain-command.ts'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import type { CommandNode, FlagNode, Value } from './words.ts'
import { zshScript } from './zsh.ts'

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript } as const
type Shell = keyof typeof SCRIPTS
const SHELLS = Object.keys(SCRIPTS) as Shell[]

export function addCompletion(program: Command): void {
  const doc = 'print a shell completion script; load it with source <(incmon completion bash)'
  addCommand(program, 'completion', doc)
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    // The script contains all words, so the shell can complete them without starting the program.
    .action((shell: Shell) => {
      process.stdout.write(SCRIPTS[shell](program.name(), nodesOf(program, '', [])))
    })
}

/** Returns a command and its subcommands. The subcommands inherit the command's options. */
function nodesOf(command: Command, path: string, inherited: readonly FlagNode[]): CommandNode[] {
  const help = command.createHelp()
  const children = help.visibleCommands(command).filter((child) => child.name() !== 'help')
  const flags = [...help.visibleOptions(command).map(flagOf), ...inherited.filter(({ flag }) => flag !== '--help')]
  const commands = children.map((child) => ({ name: child.name(), doc: child.description() }))
  const node = { path, commands, flags, operands: command.registeredArguments.map(wordOf) }
  return [node, ...children.flatMap((child) => nodesOf(child, `${path} ${child.name()}`.trim(), flags))]
}

/** An option with an optional value is treated as a flag without a value. */
function flagOf(option: Option): FlagNode {
  return { flag: option.long ?? option.flags, doc: option.description, takes: option.required ? wordOf(option) : null }
}

/** The shell completes arguments named file or dir with file names. */
function wordOf(of: Option | Argument): Value {
  const name = 'flags' in of ? of.flags : of.name()
  return { choices: of.argChoices ?? [], isFile: /\b(file|dir)\b/.test(name) }
}
