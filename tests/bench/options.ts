/** The options of the benchmark, which every part receives. */
import { parseArgs } from 'node:util'
import type { Bundled } from './bundle.ts'

export const PARTS = [
  'ingest',
  'growing',
  'storm',
  'life',
  'active',
  'fsync',
  'start',
  'reads',
  'pages',
  'streams',
  'notify',
  'alertmanager',
  'watch',
  'walks',
] as const
export type PartName = (typeof PARTS)[number]

export type Options = {
  /** The duration of each load. */
  readonly seconds: number
  readonly rounds: number
  readonly connections: number
  /** The number of active alerts in the `active` part. */
  readonly active: number
  /** The number of alerts in the history for the `reads` part. 0 skips the part. */
  readonly rows: number
  readonly only: readonly PartName[] | null
  /** Whether to keep the seeded history for the next run. */
  readonly keep: boolean
}

export type Bench = Options &
  Bundled & {
    /** The path of the executable. */
    readonly program: string
    /** Deleted after the benchmark. */
    readonly directory: string
    /** Shows progress. */
    readonly tell: (line: string) => void
  }

export const USAGE = `npm run bench -- [--quick] [--seconds 5] [--rounds 3] [--connections 64] [--active 100000] [--rows 1000000]
                 [--only ${PARTS.join(',')}] [--keep]

--quick takes one round of one second and 10,000 active alerts. --only takes one part or several, separated by commas.
The parts reads and pages need --rows.`

/** @throws TypeError if an option or part is unknown, or a number is invalid */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: text,
      rounds: text,
      connections: text,
      active: text,
      rows: text,
      only: text,
      keep: flag,
      quick: flag,
    },
  })
  const isQuick = values.quick ?? false
  return {
    seconds: wholeNumber('seconds', values.seconds ?? (isQuick ? '1' : '5'), 1),
    rounds: wholeNumber('rounds', values.rounds ?? (isQuick ? '1' : '3'), 1),
    connections: wholeNumber('connections', values.connections ?? '64', 1),
    active: wholeNumber('active', values.active ?? (isQuick ? '10000' : '100000'), 1_000),
    rows: wholeNumber('rows', values.rows ?? '0', 0),
    only: values.only === undefined ? null : values.only.split(',').map(part),
    keep: values.keep ?? false,
  }
}

function part(text: string): PartName {
  const found = PARTS.find((name) => name === text)
  if (found) return found
  throw new TypeError(`--only: "${text}" is not a part. The parts are ${PARTS.join(', ')}.`)
}

function wholeNumber(name: string, text: string, least: number): number {
  if (/^\d{1,8}$/.test(text) && Number(text) >= least) return Number(text)
  throw new TypeError(`--${name}: "${text}" is not a whole number of at least ${least}.`)
}
