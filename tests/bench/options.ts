/** What a bench is asked to measure. */
import { parseArgs } from 'node:util'

export const PARTS = ['ingest', 'fsync', 'start', 'reads', 'memory', 'prune'] as const
export type PartName = (typeof PARTS)[number]

export type Options = {
  /** Of each load. */
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  /** Alerts in the history that is read, and alerts that are sent before memory is looked at; 0 spares both. */
  readonly rows: number
  readonly only: PartName | null
  readonly output: string | null
  /** Whether the seeded history stays for the next run. */
  readonly keep: boolean
}

export const USAGE = `npm run bench -- [--seconds 5] [--rounds 3] [--connections 64] [--rows 1000000]
                 [--only ${PARTS.join('|')}] [--output FILE.md] [--keep]`

/** @throws TypeError for what is no option */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: text,
      rounds: text,
      connections: text,
      rows: text,
      only: text,
      output: text,
      keep: { type: 'boolean' },
    },
  })
  const only = PARTS.find((part) => part === values.only) ?? null
  if (values.only !== undefined && only === null) throw new TypeError(`--only: known are ${PARTS.join(', ')}`)
  return {
    seconds: wholeNumber('seconds', values.seconds ?? '5', 1),
    rounds: wholeNumber('rounds', values.rounds ?? '3', 1),
    connections: wholeNumber('connections', values.connections ?? '64', 1),
    rows: wholeNumber('rows', values.rows ?? '0', 0),
    only,
    output: values.output ?? null,
    keep: values.keep ?? false,
  }
}

function wholeNumber(name: string, text: string, least: number): number {
  if (/^\d{1,8}$/.test(text) && Number(text) >= least) return Number(text)
  throw new TypeError(`--${name}: ${text} is no whole number of at least ${least}`)
}
