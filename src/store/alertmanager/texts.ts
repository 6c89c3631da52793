/**
 * Texts as UTF-8, outside the heap. The garbage collector would copy the strings of ten thousand alerts several times
 * before a list of them is complete.
 */

export type Texts = ReturnType<typeof createTexts>

/** The most bytes that a character of a JavaScript string takes in UTF-8. */
const MOST_BYTES = 3
/** The allocator reuses blocks of this size. The system must provide larger ones anew, page by page. */
const BLOCK = 64 * 1024

export function createTexts() {
  const blocks: Buffer[] = []
  /** The block, the start and the end of each text. */
  const places: number[] = []
  let block = Buffer.alloc(0)
  let free = 0
  const size = (text: number) => (places[text + 2] ?? 0) - (places[text + 1] ?? 0)
  return {
    /** Returns the bytes that a text takes. */
    size,
    add: (text: string) => {
      const most = text.length * MOST_BYTES
      if (free + most > block.length) {
        block = Buffer.allocUnsafeSlow(Math.max(BLOCK, most))
        blocks.push(block)
        free = 0
      }
      const start = free
      free += block.write(text, start)
      return places.push(blocks.length - 1, start, free) - 3
    },
    /** Joins texts, which are given by their numbers or as they are. Then the texts are gone, and their memory is free. */
    joined: (parts: readonly (number | string)[]): Uint8Array<ArrayBuffer> => {
      const sizeOf = (part: number | string) => (typeof part === 'number' ? size(part) : Buffer.byteLength(part))
      const bytes = Buffer.allocUnsafeSlow(parts.reduce<number>((sum, part) => sum + sizeOf(part), 0))
      let at = 0
      for (const part of parts) {
        if (typeof part === 'string') at += bytes.write(part, at)
        else at += blocks[places[part] ?? 0]?.copy(bytes, at, places[part + 1], places[part + 2]) ?? 0
      }
      for (const { buffer } of blocks) (buffer as ArrayBuffer).transfer(0)
      return bytes
    },
  }
}
