/** Public names in the file: 16 bytes there, the usual 36 characters everywhere else. */

const LENGTH = 36
const DASH = 0x2d
const DASHES = [8, 13, 18, 23]
/** The value of a digit by its code; -1 of what is none. */
const DIGITS = Int8Array.from({ length: 0x80 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

/**
 * The 16 bytes of a UUID; null where the text is none, so that a malformed name is simply not found. Every new alert takes
 * two: digit by digit they are made in a quarter of the time of a pattern and Node's own hex.
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

/** From its 32 digits. */
export function uuidFromHex(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The 16 bytes of a UUID that we made ourselves. */
export function uuidBytes(uuid: string): Buffer {
  const bytes = uuidToBytes(uuid)
  if (!bytes) throw new TypeError(`not a UUID: ${uuid}`)
  return bytes
}
