/** What completion scripts are made from, and what all of them ask of it; one file for each shell writes its own. */

/** What can be typed at a place: words of a fixed list, a file, or something that nobody can guess. */
export type Value = { readonly choices: readonly string[]; readonly isFile: boolean }

/** `flag` with its dashes; `takes`: whether a value follows as a word of its own. */
export type FlagNode = {
  readonly flag: string
  readonly doc: string
  readonly takes: Value | null
}

/** A command under its path: '' for the program itself, 'token create' below it. */
export type CommandNode = {
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly doc: string }[]
  readonly flags: readonly FlagNode[]
  readonly operands: readonly Value[]
}

/** In single quotes, which bash, zsh and fish read alike as long as no quote and no backslash stands in them. */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`
}

/** Every path that leads from one command to the next: `token`, `token create`. */
export function pathsOf(nodes: readonly CommandNode[]): string[] {
  return nodes.map(({ path }) => path).filter((path) => path !== '')
}

/** Every flag that takes a word, with the path of its command: `token create --org`. */
export function takersOf(nodes: readonly CommandNode[]): (FlagNode & { readonly at: string })[] {
  return nodes.flatMap(({ path, flags }) =>
    flags.filter(({ takes }) => takes !== null).map((flag) => ({ ...flag, at: `${path} ${flag.flag}`.trim() })),
  )
}
