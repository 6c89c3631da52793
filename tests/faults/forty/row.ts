/** One row of the forty proofs. */

/** Tests of a file, or those whose name the pattern matches. */
export type Proof = { readonly file: string; readonly name?: RegExp }

export type Row = {
  readonly number: number
  readonly title: string
  readonly limit: string
  readonly proofs: readonly Proof[]
  /** The mutant in `mutants/`, or the test, with which the proof was seen to fail. */
  readonly control: string
}

/** Returns a row. */
export function row(number: number, title: string, limit: string, proofs: readonly Proof[], control: string): Row {
  return { number, title, limit, proofs, control }
}
