/** Writes the completion script for bash 3.2 and later. The script does not require the bash-completion package. */
import { type CommandNode, pathsOf, quoted, type Value, valueOptionsOf } from './words.ts'

export function bashScript(program: string, nodes: readonly CommandNode[]): string {
  const takers = valueOptionsOf(nodes)
  return `# bash completion of ${program}: source <(${program} completion bash)
_${program}() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD - 1]} path='' operands=0 i word
  # Readline breaks --flag=value into three words.
  if [[ $current == = ]]; then
    current=''
  elif [[ $previous == = ]]; then
    previous=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    case "\${path:+$path }$word" in
${alternatives(takers.map(({ at }) => at))})
        [[ \${COMP_WORDS[i + 1]} == = ]] && ((i++))
        ((i++))
        ;;
${alternatives(pathsOf(nodes))}) path=\${path:+$path }$word ;;
      *' -'* | -*) ;;
      *) ((operands++)) ;;
    esac
  done
  local IFS=$'\\n' words='' flags='' files=''
  case "\${path:+$path }$previous" in
${takers.map(({ at, takes }) => `    ${quoted(at)}) ${offered(takes)}; ${'_'}${program}_reply "$words" "$files"; return ;;`).join('\n')}
  esac
  case "$path $operands" in
${nodes.flatMap((node) => node.operands.map((value, index) => `    ${quoted(`${node.path} ${index}`)}) ${offered(value)} ;;`)).join('\n')}
${nodes
  .filter(({ commands }) => commands.length > 0)
  .map(
    ({ path, commands }) =>
      `    ${quoted(`${path} 0`)}) ${offered({ choices: commands.map(({ name }) => name), isFile: false })} ;;`,
  )
  .join('\n')}
  esac
  case "$path" in
${nodes.map(({ path, flags }) => `    ${quoted(path)}) flags=${lines(flags.map(({ flag }) => flag))} ;;`).join('\n')}
  esac
  if [[ $current == -* || -z $words$files ]]; then
    words=$flags files=''
  fi
  _${program}_reply "$words" "$files"
}

_${program}_reply() {
  COMPREPLY=($(compgen -W "$1" -- "$current"))
  if [[ -n $2 ]]; then
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}

complete -F _${program} ${program}
`
}

/** Returns the pattern of a case, one word per line. */
function alternatives(words: readonly string[]): string {
  return words.map((word) => `      ${quoted(word)}`).join(' | \\\n')
}

function offered(value: Value | null): string {
  return value?.isFile ? 'files=1' : `words=${lines(value?.choices ?? [])}`
}

/** Returns one word per line, because words can contain spaces. */
function lines(words: readonly string[]): string {
  return `$'${words.join('\\n')}'`
}
