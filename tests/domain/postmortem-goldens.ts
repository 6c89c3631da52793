/** Golden scenarios for postmortems: facts, edits and the expected output. `UPDATE_GOLDEN=1` rewrites the output. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { PostmortemFacts } from '../../src/domain/incident/facts.ts'
import type { Postmortem } from '../../src/domain/postmortem/document.ts'
import { type Edits, merge } from '../../src/domain/postmortem/edits.ts'
import { markdown } from '../../src/domain/postmortem/markdown.ts'
import { generate } from '../../src/domain/postmortem/postmortem.ts'

const FOLDER = new URL('./postmortems/', import.meta.url)

export type Golden = { readonly name: string; readonly facts: PostmortemFacts; readonly edits: Edits }

export const GOLDENS: readonly Golden[] = readdirSync(FOLDER)
  .filter((file) => /^[a-z-]+\.json$/.test(file) && file !== 'biome.json')
  .sort()
  .map((file) => {
    const name = file.replace('.json', '')
    const edits = new URL(`${name}.edits.json`, FOLDER)
    return { name, facts: read(`${name}.json`), edits: existsSync(edits) ? read(`${name}.edits.json`) : {} }
  })

/** Returns the facts of the scenario with this name. */
export function factsOf(name: string): PostmortemFacts {
  const golden = GOLDENS.find((one) => one.name === name)
  assert.ok(golden, `no scenario ${name}`)
  return golden.facts
}

export function documentOf({ facts, edits }: Golden): Postmortem {
  return merge(generate(facts), edits)
}

export function markdownOf(golden: Golden): string {
  return markdown(documentOf(golden))
}

/** Compares with the golden file or, with `UPDATE_GOLDEN=1`, rewrites it. */
export function assertGolden(file: string, actual: string): void {
  const url = new URL(file, FOLDER)
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(url, actual)
  assert.equal(actual, readFileSync(url, 'utf8'))
}

function read<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8'))
}
