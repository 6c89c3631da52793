/** Reads values of unknown types. */

type Fields = Readonly<Record<string, unknown>>

export function recordOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

export function recordsOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(recordOf) : []
}

/** Returns a text that is not empty, or null. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}
