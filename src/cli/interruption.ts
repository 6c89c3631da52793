/** Ctrl-C and SIGTERM for commands that write files: they stop where they can still clean up. */
import { CommandError } from './failure.ts'

/**
 * Runs work that stops when the signal is aborted.
 * @throws CommandError where it was stopped
 */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const stop = () => controller.abort(new CommandError('stopped: nothing was changed'))
  // Kept until the end: a terminal and npm each pass the same Ctrl-C on.
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
