/** Payloads of events. */
import { hash } from 'node:crypto'

/** Returns 48 bits of the SHA-256 of a payload, to compare payloads. */
export function payloadHash(body: string): number {
  return Number.parseInt(hash('sha256', body, 'hex').slice(0, 12), 16)
}
