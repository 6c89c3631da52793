/** Writes the completion script for fish 3.0 and later. */
import { type CommandNode, pathsOf, quoted, type Value, valueOptionsOf } from './words.ts'

export function fishScript(program: string, nodes: readonly CommandNode[]): string {
  const at = `__${program}_at`
  return `# fish completion of ${program}: ${program} completion fish | source
function __${program}_place
    set -l path ''
    set -l operands 0
    set -l skips 0
    for word in (commandline -opc)[2..-1]
        if test $skips = 1
            set skips 0
            continue
        end
        switch (string trim -- "$path $word")
            case ${valueOptionsOf(nodes)
              .map((taker) => quoted(taker.at))
              .join(' ')}
                set skips 1
            case ${pathsOf(nodes).map(quoted).join(' ')}
                set path (string trim -- "$path $word")
            case '* -*' '-*'
            case '*'
                set operands (math $operands + 1)
        end
    end
    echo $path
    echo $operands
end

function ${at}
    set -l place (__${program}_place)
    test "$place[1]" = "$argv[1]"; and begin
        test -z "$argv[2]"; or test "$place[2]" = "$argv[2]"
    end
end

complete -c ${program} -e
complete -c ${program} -f
${nodes.flatMap((node) => linesOf(node).map((line) => `complete -c ${program} ${line}`)).join('\n')}
`

  function linesOf({ path, commands, flags, operands }: CommandNode): string[] {
    const here = (index = '') => `-n "${at} ${quoted(path)} ${index}"`
    return [
      ...commands.map(({ name, doc }) => `${here('0')} -a ${quoted(name)} -d ${quoted(doc)}`),
      ...operands.map((value, index) => `${here(String(index))} ${wanted(value)}`),
      ...flags.map(
        ({ flag, doc, takes }) =>
          `${here()} -l ${flag.replace(/^--/, '')} ${takes ? `-r ${wanted(takes)}` : ''} -d ${quoted(doc)}`,
      ),
    ]
  }
}

function wanted({ choices, isFile }: Value): string {
  if (isFile) return '-F'
  return choices.length > 0 ? `-f -a ${quoted(choices.join(' '))}` : '-f'
}
