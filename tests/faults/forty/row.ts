/** A row in the table of proofs. */

/** A test file, or those of its tests whose names match the pattern. */
export type Proof = { readonly file: string; readonly name?: RegExp }

export type Row = {
  readonly number: number
  readonly title: string
  readonly limit: string
  readonly proofs: readonly Proof[]
  /** The mutant in `mutants/`, or the test, that made the proof fail. */
  readonly control: string
}

export function row(number: number, title: string, limit: string, proofs: readonly Proof[], control: string): Row {
  return { number, title, limit, proofs, control }
}
