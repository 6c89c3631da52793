/** Converts UUIDs: 16 bytes in the database, 36 characters everywhere else. */
import { type Expression, type RawBuilder, sql } from 'kysely'

const LENGTH = 36
const DASH = 0x2d
const DASHES = [8, 13, 18, 23]
/** Maps the character code of a hexadecimal digit to its value, and any other code to -1. */
const DIGITS = Int8Array.from({ length: 0x80 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

/**
 * Returns the 16 bytes of a UUID, or null if the string is not a UUID. Each new alert takes two conversions, and this
 * loop is four times as fast as a regular expression followed by Node's hex decoder.
 */
export function uuidToBytes(text: string): Buffer | null {
  if (text.length !== LENGTH) return null
  const bytes = Buffer.allocUnsafe(16)
  for (let from = 0, to = 0; from < LENGTH; from += 2, to += 1) {
    if (DASHES.includes(from)) {
      if (text.charCodeAt(from) !== DASH) return null
      from += 1
    }
    const byte = (digitAt(text, from) << 4) | digitAt(text, from + 1)
    if (byte < 0) return null
    bytes[to] = byte
  }
  return bytes
}

function digitAt(text: string, index: number): number {
  return DIGITS[text.charCodeAt(index)] ?? -1
}

export function uuidFromBytes(bytes: Buffer): string {
  return uuidFromHex(bytes.toString('hex'))
}

/**
 * Selects a UUID as text. For rows that stay in memory, this takes half the time and a fifth of the memory of
 * `uuidFromBytes`, because V8 stores concatenated strings in pieces.
 */
export function uuidAsText(bytes: Expression<Buffer | null>): RawBuilder<string> {
  const digits = (from: number, count: number) => sql`substr(hex(${bytes}), ${sql.lit(from)}, ${sql.lit(count)})`
  const parts = [digits(1, 8), digits(9, 4), digits(13, 4), digits(17, 4), digits(21, 12)]
  return sql<string>`lower(${sql.join(parts, sql` || '-' || `)})`
}

/** Formats 32 hexadecimal digits as a UUID. */
export function uuidFromHex(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

const NONE = Buffer.alloc(0)

/** Returns the 16 bytes of a UUID of a request. Returns bytes that no row has if the string is not a UUID. */
export function uuidOrNone(text: string): Buffer {
  return uuidToBytes(text) ?? NONE
}

/** Returns the 16 bytes of a UUID. Throws if the string is not a UUID. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = uuidToBytes(uuid)
  if (!bytes) throw new TypeError(`not a UUID: ${uuid}`)
  return bytes
}
