/** Reads the recordings that the program contains: deliveries with times relative to the moment of replay. */

import { SECOND } from '../units.ts'
import { moveTimes } from './moved-times.ts'

/** The time that stands for "now" in the recorded payloads. */
export const RECORDED_NOW = Date.UTC(2026, 0, 1)

/**
 * Returns the lines of a recording, shifted to `now`, a Unix time in milliseconds. Each line has `at`, the milliseconds
 * since "now", which becomes a Unix time.
 */
export function readRecorded<Line extends { readonly at: number }>(text: string, now: number): Line[] {
  const base = Math.floor(now / SECOND) * SECOND
  const lines = String(moveTimes(text, base - RECORDED_NOW)).split('\n')
  return lines.filter((line) => line !== '').map((line) => withTime(JSON.parse(line) as Line, base))
}

function withTime<Line extends { readonly at: number }>(line: Line, base: number): Line {
  return { ...line, at: base + line.at }
}
