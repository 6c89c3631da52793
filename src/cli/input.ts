/** What a command is given to read: a file, or what is piped into it. */
import { createReadStream } from 'node:fs'
import { errorCode } from '../store/sqlite/fault.ts'
import { CommandError } from './failure.ts'

/** The whole input is held in memory, in bytes. */
const MOST = 1_073_741_824

/**
 * Reads a file, or standard input for `-`, to its end. A device such as /dev/zero has none: what is no text is refused
 * at its first byte, and text at one GiB.
 * @param wanted what the file should hold, for the remedy
 * @param most the most bytes, for a test
 */
export async function readInput(file: string, wanted: string, most = MOST): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      if (chunk.includes(0)) throw new CommandError(`${file} holds no text: name a file ${wanted}, or -`)
      chunks.push(chunk)
      length += chunk.length
      if (length > most) throw new CommandError(`${file} is over ${most} bytes: split it, such as with "split -C 500M"`)
    }
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof CommandError) throw error
    throw new CommandError(`${file} cannot be read (${errorCode(error)}): name a file ${wanted}, or -`)
  }
}
