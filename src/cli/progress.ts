/** Support for long-running commands: a progress line on terminals, and a clean exit after Ctrl-C or SIGTERM. */

import { CommandError } from './failure.ts'
import { drawLine } from './output.ts'

const INTERVAL_MS = 100
const BAR_WIDTH = 30

/** A line on the terminal. Disposing of it clears the line. */
export type ProgressLine = Disposable & {
  /** Shows one of many steps. To save time, most calls do not draw anything. */
  readonly show: (text: () => string) => void
  /** Shows a long step that does not report progress. */
  readonly announce: (text: string) => void
}

/** Returns a progress line on stderr, so that the result on stdout can be piped. Does nothing without a terminal. */
export function progressLine(): ProgressLine {
  if (!process.stderr.isTTY) return { show: () => {}, announce: () => {}, [Symbol.dispose]: () => {} }
  let shownAt = Number.NEGATIVE_INFINITY
  const announce = (text: string) => {
    shownAt = performance.now()
    drawLine(text)
  }
  return {
    show: (text) => {
      if (performance.now() - shownAt >= INTERVAL_MS) announce(text())
    },
    announce,
    [Symbol.dispose]: () => drawLine(''),
  }
}

/** Passes bytes through, and shows how many bytes have passed. */
export function counted(what: string, total: number | null, line: ProgressLine) {
  return async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let done = 0
    for await (const chunk of chunks) {
      done += chunk.length
      line.show(() => bytesBar(what, done, total))
      yield chunk
    }
  }
}

/** Returns `copying [######------]  50 %  430 of 860 MB`, or only the megabytes if the total is unknown. */
export function bytesBar(what: string, done: number, total: number | null): string {
  if (total === null) return `${what} ${megabytes(done)} MB`
  return `${what} ${bar(done, total)}  ${megabytes(done)} of ${megabytes(total)} MB`
}

function bar(done: number, of: number): string {
  const share = of === 0 ? 1 : Math.min(1, done / of)
  const filled = Math.floor(share * BAR_WIDTH)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH - filled)}] ${Math.floor(share * 100)} %`
}

type Progress = Disposable & {
  /** @param more text to add at the end of the line */
  readonly show: (done: number, of: number, more: string) => void
}

/** Starts a progress bar. `what` is the plural of the noun that is counted. */
export function startProgress(what: string): Progress {
  const line = progressLine()
  const show: Progress['show'] = (done, of, more) =>
    line.show(() => `${bar(done, of)} ${done} of ${of} ${what}, ${more}`)
  return { ...line, show }
}

/** Shows text on the terminal until the returned function is called. */
export function showWaiting(what: string): () => void {
  const line = progressLine()
  line.announce(`${what} …`)
  return line[Symbol.dispose]
}

/** Formats bytes in units of 1,000,000 with one decimal. */
export function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1)
}

/** Runs work that Ctrl-C or SIGTERM can interrupt. @throws CommandError if the work was interrupted */
export async function interruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const stop = () => controller.abort(new CommandError('stopped: nothing was changed'))
  // The terminal and npm both send a signal for the same Ctrl-C, so both signals are handled.
  process.on('SIGINT', stop).on('SIGTERM', stop)
  try {
    return await work(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
  }
}
