/** Records the demo's history and the example data: `npm run record` writes the files in `recordings/`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { RECORDED_NOW } from '../../src/domain/example/recorded.ts'
import { exampleOf, storyOf } from './shop.ts'

/** The files by name, as text: one delivery or one act of a person per line, in chronological order. */
export const RECORDINGS = { demo: demo(), example: linesOf(exampleOf(RECORDED_NOW)) } as const

function demo(): string {
  const { requests, acts } = storyOf(RECORDED_NOW)
  return linesOf([...requests, ...acts].sort((a, b) => a.at - b.at))
}

function linesOf(happenings: readonly { readonly at: number }[]): string {
  return happenings.map((one) => `${JSON.stringify({ ...one, at: one.at - RECORDED_NOW })}\n`).join('')
}

if (import.meta.main) {
  mkdirSync('recordings', { recursive: true })
  for (const [name, text] of Object.entries(RECORDINGS))
    writeFileSync(`recordings/${name}.jsonl.gz`, gzipSync(text, { level: 9 }))
}
