/** What every part of a bench is given: the bundled programs, a directory of its own, and somebody to tell. */
import type { Bundled } from './bundle.ts'
import type { Options } from './options.ts'

export type Bench = Options &
  Bundled & {
    /** Gone after the bench. */
    readonly directory: string
    /** Shows what is going on. */
    readonly tell: (line: string) => void
  }
