/** Writes numbers as hex digits without intermediate strings. */

const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0))

/** Writes the last `count` hex digits of a 32-bit number into the bytes before `end`. */
export function writeHex(text: Uint8Array, end: number, count: number, value: number): void {
  let rest = value
  for (let at = end - 1; at >= end - count; at -= 1) {
    text[at] = DIGITS[rest & 0xf] ?? 0
    rest >>>= 4
  }
}
