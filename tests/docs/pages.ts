/** Reads the documentation: pages, links and commands. */
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Command } from 'commander'
import { createProgram } from '../../src/cli/cli.ts'
import { systemClock } from '../../src/deps.ts'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A page with its path relative to the project's root, for example `docs/api.md`. */
export type Page = { readonly path: string; readonly text: string }

/** All pages of the documentation, the README first. */
export const PAGES: readonly Page[] = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'src/domain/README.md',
  'tests/faults/README.md',
]
  .concat(globSync('docs/**/*.md', { cwd: ROOT }).sort())
  .map((path) => ({ path, text: readFileSync(ROOT + path, 'utf8') }))

/** Returns the page at a path. Throws if it does not exist. */
export function pageAt(path: string): Page {
  const page = PAGES.find((one) => one.path === path)
  if (!page) throw new Error(`there is no page ${path}`)
  return page
}

/** Returns the shell blocks of a page in order, without the indentation of list items. */
export function shellBlocks(page: Page): string[] {
  return codeBlocks(page, 'sh')
}

/** Returns the code blocks in a language, in order, without the indentation of list items. */
export function codeBlocks({ text }: Page, language: string): string[] {
  const pattern = new RegExp(`^( *)\`\`\`${language}\\n([\\s\\S]*?)^\\1\`\`\`$`, 'gm')
  return [...text.matchAll(pattern)].map(([, indent = '', block = '']) =>
    block
      .split('\n')
      .map((line) => line.slice(indent.length))
      .join('\n'),
  )
}

/** Returns the text without code blocks, for checks of prose and links. */
export function withoutBlocks({ text }: Page): string {
  return text.replace(/^( *)```[\s\S]*?^\1```$/gm, '')
}

/** Every command without subcommands, by its full name, for example `token create`. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(leaves(await createProgram(systemClock), []))

function leaves(command: Command, names: readonly string[]): [string, Command][] {
  const children = command.commands.filter((one) => one.name() !== 'help')
  if (children.length === 0) return [[names.join(' '), command]]
  return children.flatMap((child) => leaves(child, [...names, child.name()]))
}
