/** Public names in the file: 16 bytes there, the usual 36 characters everywhere else. */

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The 16 bytes of a UUID; null where the text is none, so that a malformed name is simply not found. */
export function uuidToBytes(text: string): Buffer | null {
  return UUID.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : null
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
