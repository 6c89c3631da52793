/** incmon licenses: what others made of this program, each part with its licence and the text that goes with it. */
import { type License, listLicenses } from '../../assets.ts'
import { suggestion } from '../../domain/suggestion.ts'
import { CommandError } from '../failure.ts'
import { print } from '../output.ts'

/** @param part the name of one, or undefined for all */
export function printLicenses(part: string | undefined, options: { readonly json?: boolean }): void {
  const all = listLicenses()
  const chosen = part === undefined ? all : [named(all, part)]
  print(options.json ? JSON.stringify(chosen, null, 2) : chosen.map(shown).join('\n\n\n'))
}

function named(all: readonly License[], part: string): License {
  const found = all.find(({ name }) => name.toLowerCase() === part.toLowerCase())
  if (found) return found
  const names = all.map(({ name }) => name)
  throw new CommandError(`${part} is no part of incmon; ${suggestion(part, names)}`)
}

function shown({ name, version, license, text }: License): string {
  const title = `${name} ${version}, ${license}`
  return `${title}\n${'='.repeat(title.length)}\n\n${text}`
}
