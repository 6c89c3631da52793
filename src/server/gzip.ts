/** Compresses texts for responses. */
import { constants, crc32, deflateRawSync, gzipSync } from 'node:zlib'

/** The compression level. Compressing a 60 kB page takes less than a millisecond. */
const LEVEL = 4

export function gzip(content: string | Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(gzipSync(content, { level: LEVEL }))
}

/** Compresses a text whose beginning is sent at once and whose rest follows later. */
export function gzipInTwo(start: string, rest: Promise<string>): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: async (controller) => {
      controller.enqueue(gzipSync(start, { level: LEVEL, finishFlush: constants.Z_SYNC_FLUSH }))
      // The stream might be canceled in the meantime, because the client is gone.
      const bytes = Buffer.from(await rest)
      controller.enqueue(Buffer.concat([deflateRawSync(bytes, { level: LEVEL }), trailerOf(Buffer.from(start), bytes)]))
      controller.close()
    },
  })
}

/** Returns the end of a gzip file: the checksum and the size of the text (RFC 1952, section 2.3.1). */
function trailerOf(start: Buffer, rest: Buffer): Buffer {
  const trailer = Buffer.alloc(8)
  trailer.writeUInt32LE(crc32(rest, crc32(start)), 0)
  trailer.writeUInt32LE((start.length + rest.length) % 2 ** 32, 4)
  return trailer
}
