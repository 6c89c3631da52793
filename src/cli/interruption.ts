/** Handles Ctrl-C and SIGTERM for commands that write files, so that they clean up before they stop. */
import { CommandError } from './failure.ts'

/**
 * Runs work that stops when the signal is aborted.
 * @throws CommandError if it was stopped
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const stop = () => controller.abort(new CommandError('stopped: nothing was changed'))
  // A terminal and npm both forward the same Ctrl-C, so both signals are handled.
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
