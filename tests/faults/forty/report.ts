/** The results of the proofs: which tests passed and what they measured. */
import { relative } from 'node:path'
import type { TestEvent } from 'node:test/reporters'
import type { Proof, Row } from './row.ts'

export type Outcome = { readonly file: string; readonly name: string; readonly state: 'passed' | 'failed' | 'skipped' }
export type Said = {
  readonly outcomes: Outcome[]
  readonly figures: Map<number, string[]>
  readonly unjudged: Map<number, string>
}

/** The maximum length of a failed test's message, in characters. */
const MAX_REASON = 2_000

/** Writes one line per test and figure. `REPORTER` is its path; `readReport` reads its output. */
export default async function* tell(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type === 'test:pass' || type === 'test:fail') {
      const { name, file = '', skip, details } = data
      const state = type === 'test:fail' ? 'failed' : skip === undefined || skip === false ? 'passed' : 'skipped'
      const error = 'error' in details ? details.error : undefined
      const why = error && String(error.cause ?? error.message).slice(0, MAX_REASON)
      yield `${JSON.stringify({ file: relative('.', file), name, state, why })}\n`
    } else if (type === 'test:diagnostic') yield `${JSON.stringify({ said: data.message })}\n`
  }
}

export const REPORTER = import.meta.filename

export function readReport(text: string): Said {
  const said: Said = { outcomes: [], figures: new Map(), unjudged: new Map() }
  for (const line of text.split('\n').filter((one) => one.startsWith('{'))) {
    const entry = JSON.parse(line) as Partial<Outcome> & { said?: string }
    if (entry.state) said.outcomes.push(entry as Outcome)
    const [, kind, number, words = ''] = /^(figure|unjudged) (\d+): (.*)$/.exec(entry.said ?? '') ?? []
    if (kind === 'figure') said.figures.set(Number(number), [...(said.figures.get(Number(number)) ?? []), words])
    if (kind === 'unjudged') said.unjudged.set(Number(number), words)
  }
  return said
}

/**
 * Returns the result of a row. It is met if each of its proofs has a test that passed and none failed. A time limit is not
 * judged on a busy machine or in CI.
 */
export function resultOf(row: Row, { outcomes, unjudged }: Said): 'met' | 'FAILED' | 'no test ran' | 'time not judged' {
  const found = row.proofs.map((proof) => outcomes.filter((outcome) => isOf(outcome, proof)))
  if (found.flat().some(({ state }) => state === 'failed')) return 'FAILED'
  if (found.some((of) => !of.some(({ state }) => state === 'passed'))) return 'no test ran'
  return unjudged.has(row.number) ? 'time not judged' : 'met'
}

/** Returns the number of the row's tests that passed. */
export function passedOf({ proofs }: Row, { outcomes }: Said): number {
  return outcomes.filter((one) => one.state === 'passed' && proofs.some((proof) => isOf(one, proof))).length
}

function isOf(outcome: Outcome, { file, name }: Proof): boolean {
  return outcome.file === file && (name === undefined || name.test(outcome.name))
}
