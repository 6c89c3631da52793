/** What a command is given to read: a file, or what is piped into it. */
import { readFileSync } from 'node:fs'
import { buffer } from 'node:stream/consumers'
import { errorCode } from '../store/sqlite/fault.ts'
import { CommandError } from './failure.ts'

/**
 * The bytes of a file, or of standard input for `-`; that as a stream, since a pipe may have nothing to read yet.
 * @param wanted what the file should hold, for the remedy
 */
export async function readInput(file: string, wanted: string): Promise<Uint8Array> {
  try {
    return file === '-' ? await buffer(process.stdin) : readFileSync(file)
  } catch (error) {
    throw new CommandError(`${file} cannot be read (${errorCode(error)}): name a file ${wanted}, or -`)
  }
}
