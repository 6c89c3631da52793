/** The bodies of events as received. */
import { hash } from 'node:crypto'

/** What tells bodies apart, 48 bits of their SHA-256. */
export function payloadHash(body: string): number {
  return Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16)
}
