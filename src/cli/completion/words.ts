/** The commands, options and words from which the completion scripts are generated. */

/**
 * The value that a user can type: one of `choices`, a file, or free text if `choices` is empty and `isFile` is false.
 */
export type Value = { readonly choices: readonly string[]; readonly isFile: boolean }

/** An option. `flag` includes the dashes. `takes` describes the option's value; null if the option takes no value. */
export type FlagNode = { readonly flag: string; readonly doc: string; readonly takes: Value | null }

/** A command. `path` is '' for the program itself. For a subcommand, `path` is for example 'token create'. */
export type CommandNode = {
  readonly path: string
  readonly commands: readonly { readonly name: string; readonly doc: string }[]
  readonly flags: readonly FlagNode[]
  readonly operands: readonly Value[]
}

/**
 * Returns the text in single quotes. bash, zsh and fish read the result in the same way if the text contains no quotes
 * or backslashes.
 */
export function quoted(text: string): string {
  return `'${text.replaceAll('\\', '').replaceAll("'", '’')}'`
}

/** Returns the path of every command, such as `token` and `token create`. */
export function pathsOf(nodes: readonly CommandNode[]): string[] {
  return nodes.map(({ path }) => path).filter((path) => path !== '')
}

/** Returns every option that takes a value, prefixed with its command, such as `token create --org`. */
export function valueOptionsOf(nodes: readonly CommandNode[]): (FlagNode & { readonly at: string })[] {
  return nodes.flatMap(({ path, flags }) =>
    flags.filter(({ takes }) => takes !== null).map((flag) => ({ ...flag, at: `${path} ${flag.flag}`.trim() })),
  )
}
