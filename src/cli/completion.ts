/**
 * incmon completion: prints a shell's completion script. The script calls the same command with the words typed so far,
 * which then prints what can follow.
 */
import { Argument, type Command, type Option } from 'commander'
import { addCommand } from './plain-command.ts'

/** What the program prints instead of words if a file name can follow. */
const FILES = ':files'

/** Each script passes the words up to the cursor and removes from the result what its shell does not show. */
const SCRIPTS = {
  bash: `# bash completion of incmon: source <(incmon completion bash)
_incmon() {
  local IFS=$'\\n' current=\${COMP_WORDS[COMP_CWORD]} found
  found=$("$1" completion bash -- "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  if [[ $found == ${FILES} ]]; then
    compopt -o filenames 2>/dev/null
    found=$(compgen -f -- "\${current#=}")
  fi
  COMPREPLY=($found)
}
complete -F _incmon incmon
`,
  zsh: `#compdef incmon
# zsh completion of incmon: source <(incmon completion zsh), after compinit
_incmon() {
  local -a found
  found=("\${(@f)$("$words[1]" completion zsh -- "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ $found == ${FILES} ]]; then
    compset -P '--*='
    _files
  elif [[ -n $found ]]; then
    _describe incmon found
  fi
}
if [[ $funcstack[1] == _incmon ]]; then _incmon "$@"; else compdef _incmon incmon; fi
`,
  fish: `# fish completion of incmon: incmon completion fish | source
function __incmon_words
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l found ($words[1] completion fish -- $words "$current" 2>/dev/null)
  if test "$found" = ${FILES}
    __fish_complete_path (string replace -r '^--[^=]*=' '' -- "$current")
  else
    printf '%s\\n' $found
  end
end
complete -c incmon -e
complete -c incmon -f -a '(__incmon_words)'
`,
} as const
type Shell = keyof typeof SCRIPTS
const SHELLS = Object.keys(SCRIPTS) as Shell[]

/** What can follow: words with their descriptions, or file names. */
type Candidates = readonly { readonly word: string; readonly doc: string }[] | typeof FILES

export function addCompletion(program: Command): void {
  const doc = 'print a shell completion script; load it with source <(incmon completion bash)'
  addCommand(program, 'completion', doc)
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    // The script passes the words typed so far.
    .allowExcessArguments()
    .action((shell: Shell, _: unknown, { args: [, ...words] }: Command) => {
      process.stdout.write(words.length === 0 ? SCRIPTS[shell] : shown(shell, completed(program, words)))
    })
}

function shown(shell: Shell, found: Candidates): string {
  if (found === FILES) return `${FILES}\n`
  const line = {
    // Readline replaces only what follows the = of --flag=value.
    bash: (word: string) => word.replace(/^--.*=/, ''),
    zsh: (word: string, doc: string) => [word, doc].map((one) => one.replaceAll(':', '\\:')).join(':'),
    fish: (word: string, doc: string) => `${word}\t${doc}`,
  }[shell]
  return found.map(({ word, doc }) => `${line(word, doc)}\n`).join('')
}

/** Returns what the last word can become. The first word is the program. Readline passes `--flag=value` as three words. */
export function completed(program: Command, typed: readonly string[]): Candidates {
  const words = typed
    .join('\0')
    .replace(/\0=\0?/g, '=')
    .split('\0')
  const current = words.at(-1) ?? ''
  const beginning = (all: Candidates) => (all === FILES ? all : all.filter(({ word }) => word.startsWith(current)))
  const { command, operands, asked } = placeAfter(program, words.slice(1, -1))
  if (asked) return beginning(valuesOf(asked))
  const options = optionsOf(command)
  const [flag = '', value] = current.split('=')
  const option = options.find(({ long }) => long === flag)
  if (option && value !== undefined) return beginning(valuesOf(option, `${flag}=`))
  const found = current.startsWith('-') ? [] : beginning(operandsOf(command, operands))
  if (found === FILES || found.length > 0) return found
  return beginning(options.map(({ long, flags, description }) => ({ word: long ?? flags, doc: description })))
}

/** Returns the command that the words select, its number of operands, and the option that waits for its value. */
function placeAfter(program: Command, words: readonly string[]) {
  let [command, operands, asked] = [program, 0, undefined as Option | undefined]
  for (const word of words) {
    const child = operands === 0 ? command.commands.find((one) => one.name() === word) : undefined
    if (asked) asked = undefined
    else if (word.startsWith('-')) asked = optionsOf(command).find(({ long, required }) => required && long === word)
    else if (child) command = child
    else operands += 1
  }
  return { command, operands, asked }
}

/** Returns the options of a command and of those above it. */
function optionsOf(command: Command): Option[] {
  const above = command.parent ? optionsOf(command.parent).filter(({ long }) => long !== '--help') : []
  return [...command.createHelp().visibleOptions(command), ...above]
}

function operandsOf(command: Command, index: number): Candidates {
  const argument = command.registeredArguments[index]
  if (argument || index > 0) return argument ? valuesOf(argument) : []
  return command.commands.map((child) => ({ word: child.name(), doc: child.description() }))
}

/** Files complete the values of options and arguments that are named file or dir. */
function valuesOf(of: Option | Argument, prefix = ''): Candidates {
  if (/\b(file|dir)\b/.test('flags' in of ? of.flags : of.name())) return FILES
  return (of.argChoices ?? []).map((word) => ({ word: prefix + word, doc: '' }))
}
