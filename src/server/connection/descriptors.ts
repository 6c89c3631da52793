/** File descriptors: every connection needs one, and the system limits their number per process. */
import { readFileSync } from 'node:fs'

/** Reserved for the database, its threads, the log and outgoing requests. */
const RESERVED = 64

/** Returns the system's limit of open files for this process (`ulimit -n`); null if it is unknown. */
export function descriptorLimit(): number | null {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    return soft === undefined ? null : Number(soft)
  } catch {
    return null
  }
}

/** Returns how many connections fit into a limit of descriptors, at most `wanted`. */
export function fittingConnections(wanted: number, limit: number | null): number {
  if (limit === null) return wanted
  return Math.min(wanted, Math.max(limit - RESERVED, Math.floor(limit / 4), 1))
}
