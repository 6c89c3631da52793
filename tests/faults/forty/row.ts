/** One row of the forty proofs. */

/** Tests of a file, or those whose name the pattern matches. */
export type Proof = { readonly file: string; readonly name?: RegExp }

export type Row = {
  readonly number: number
  readonly title: string
  readonly limit: string
  readonly proofs: readonly Proof[]
  /** The mutant in `mutants/`, or the test, with which the proof was seen to fail; null where there is none yet. */
  readonly control: string | null
}

/** Returns a row. `control`: null if the proof was not seen to fail. */
export function row(
  number: number,
  title: string,
  limit: string,
  proofs: readonly Proof[],
  control: string | null,
): Row {
  return { number, title, limit, proofs, control }
}
