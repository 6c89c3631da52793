/** Reads the input of commands: files, standard input, durations in options, and JSON. */

import { createReadStream } from 'node:fs'
import { DAY } from '../domain/units.ts'
import { errorCode } from '../store/sqlite/fault.ts'
import { CommandError, UsageError } from './failure.ts'

/** The maximum input size. The input is kept in memory. */
const MAX_BYTES = 1_073_741_824
/** Programs on Windows write it at the start of a text in UTF-8. */
const BYTE_ORDER_MARK = Buffer.from('\u{feff}')

/**
 * Reads a file, or standard input for `-`. Devices such as /dev/zero never end, so the function stops reading binary
 * data at the first zero byte, and text after one GiB. A byte order mark is left out.
 * @param wanted describes the expected content, for the error message
 */
export async function readInput(file: string, wanted: string): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      if (chunk.includes(0))
        throw new CommandError(`${file} is not a text file: choose a file ${wanted}, or - for standard input`)
      chunks.push(chunk)
      length += chunk.length
      if (length > MAX_BYTES)
        throw new CommandError(`${file} is larger than ${MAX_BYTES} bytes: split it, for example with "split -C 500M"`)
    }
    const bytes = Buffer.concat(chunks)
    return bytes.indexOf(BYTE_ORDER_MARK) === 0 ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes
  } catch (error) {
    if (error instanceof CommandError) throw error
    const code = errorCode(error)
    const fault = code === 'ENOENT' ? `${file} does not exist` : `${file} cannot be read (${code})`
    throw new CommandError(`${fault}: choose a file ${wanted}, or - for standard input`)
  }
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: DAY, w: 7 * DAY, y: 365 * DAY }
const MAX_DURATION = 100 * 365 * DAY

/** Returns a parser that converts a duration such as `90d` to milliseconds. @throws UsageError */
export function parseDuration(option: string): (text: string) => number {
  return (text) => {
    const [, count, unit = ''] = /^(\d{1,8})([mhdwy])$/.exec(text.trim()) ?? []
    const duration = Number(count) * (UNITS[unit] ?? 0)
    if (duration > 0 && duration <= MAX_DURATION) return duration
    throw new UsageError(
      `${option}: ${text} is not a duration from 1m to 100y: use a duration such as 30m, 12h, 90d, 26w or 1y`,
    )
  }
}

/** Parses a JSON object. Returns null for anything else. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
