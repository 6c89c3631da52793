/** Writes the completion script for zsh. The script can be sourced after compinit or stored as _incmon in the fpath. */
import { type CommandNode, pathsOf, quoted, type Value, valueOptionsOf } from './words.ts'

export function zshScript(program: string, nodes: readonly CommandNode[]): string {
  const takers = valueOptionsOf(nodes)
  return `#compdef ${program}
# zsh completion of ${program}: source <(${program} completion zsh), after compinit
_${program}() {
  local path_='' operands=0 i word
  local -a offered
  for ((i = 2; i < CURRENT; i++)); do
    word=$words[i]
    case "\${path_:+$path_ }$word" in
      (${takers.map(({ at }) => quoted(at)).join('|')}) ((i++)) ;;
      (${pathsOf(nodes).map(quoted).join('|')}) path_="\${path_:+$path_ }$word" ;;
      (*' -'*|-*) ;;
      (*) ((operands++)) ;;
    esac
  done
  local previous=$words[CURRENT-1]
  if [[ $PREFIX == --*=* ]]; then
    previous=\${PREFIX%%=*}
    compset -P '*='
  fi
  case "\${path_:+$path_ }$previous" in
${takers.map(({ at, takes }) => `    (${quoted(at)}) ${completed(takes)}; return ;;`).join('\n')}
  esac
  if [[ $PREFIX != -* ]]; then
    case "$path_ $operands" in
${nodes.flatMap((node) => node.operands.map((value, index) => `      (${quoted(`${node.path} ${index}`)}) ${completed(value)}; return ;;`)).join('\n')}
${nodes
  .filter(({ commands }) => commands.length > 0)
  .map(
    ({ path, commands }) =>
      `      (${quoted(`${path} 0`)}) offered=(${commands.map(({ name, doc }) => described(name, doc)).join(' ')}); _describe command offered; return ;;`,
  )
  .join('\n')}
    esac
  fi
  case "$path_" in
${nodes.map(({ path, flags }) => `    (${quoted(path)}) offered=(${flags.map(({ flag, doc }) => described(flag, doc)).join(' ')}) ;;`).join('\n')}
  esac
  _describe option offered
}

if [[ $funcstack[1] == _${program} ]]; then
  _${program} "$@"
else
  compdef _${program} ${program}
fi
`
}

function completed(value: Value | null): string {
  if (value?.isFile) return '_files'
  const choices = value?.choices ?? []
  return choices.length > 0 ? `compadd -- ${choices.map(quoted).join(' ')}` : '_message value'
}

function described(word: string, doc: string): string {
  return quoted(`${word.replaceAll(':', ' ')}:${doc.replaceAll(':', ' –')}`)
}
